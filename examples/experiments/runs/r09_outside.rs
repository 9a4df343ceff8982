//! Run 9: what is written outside the transaction is not taken back.

use inbox_sqlx::{idempotent, is_violation_of};

use super::{BALANCE, CREDIT, MARKERS, Run, SEEN, UNIQUE};
use crate::{
    bench::{Bench, Consumer},
    lab::{Lab, Writers},
    page,
};

pub(crate) const RUN: Run = Run {
    number: 9,
    title: "a write outside the transaction",
    about: "The handler opens a transaction for its marker, but makes its payment through\n\
            the pool, P: on another connection, which commits on its own. There is a unique\n\
            index, and the message comes twice.",
};

const MARK: &str = "insert into experiments_seen (message_id) values ('m-9')";

/// The attribute refuses a pool as a parameter at compile time, but cannot see every way around it.
#[idempotent(consumer = "outside", key = message_id)]
async fn careless<DB: Lab>(
    _tx: &mut DB::Connection,
    pool: &mut Consumer<DB>,
    message_id: &str,
) -> anyhow::Result<()> {
    pool.run(CREDIT).await?;
    anyhow::bail!("something fails after the payment")
}

pub(crate) async fn run<DB: Lab>(bench: &mut Bench<DB>) -> anyhow::Result<()> {
    bench.onlooker().run(UNIQUE).await?;
    let mut refused = None;
    let mut pool = bench.consumer("P").await?;
    for name in ["A", "B"] {
        let mut consumer = bench.consumer(name).await?;
        pool.run(CREDIT).await?;
        consumer.run(DB::BEGIN).await?;
        match consumer.run(MARK).await {
            Ok(_) => consumer.run("commit").await?,
            Err(error) => {
                refused = Some(error);
                consumer.run("rollback").await?
            }
        };
    }
    let (balance, seen) = (bench.look(BALANCE).await?, bench.look(SEEN).await?);
    let refused =
        refused.is_some_and(|error| is_violation_of(&error, "experiments_seen_message_id_key"));
    bench.claim(
        refused && seen == 1,
        "the index did its work: B's marker was refused",
    );
    bench.claim(
        balance == 20,
        "B's payment sticks all the same: 10 were owed, 20 are there",
    );

    page::part("Under #[idempotent] a duplicate does not run the body. But if the body fails:");
    if DB::WRITERS == Writers::One {
        pool.run("pragma busy_timeout = 200").await?;
    }
    let result = careless(&bench.inbox(), &mut pool, "m-10").await;
    let answer = result.map_or_else(
        |error| format!("Err({error})"),
        |outcome| format!("{outcome:?}"),
    );
    page::step("A", "careless(&inbox, &pool, \"m-10\")", &answer);
    let (balance, markers) = (bench.look(BALANCE).await?, bench.look(MARKERS).await?);
    bench.claim(
        markers == 0,
        "the marker was rolled back, so that the message comes again",
    );
    match DB::WRITERS {
        Writers::One => bench.claim(
            balance == 20,
            "here the mistake shows itself: there is one writer, and the open transaction is it",
        ),
        #[cfg(any(feature = "postgres", feature = "mysql"))]
        Writers::Many => bench.claim(
            balance == 30,
            "the payment was not, and will be made again: work goes on the connection you are given",
        ),
    }
    Ok(())
}
