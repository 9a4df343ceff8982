//! Run 2: a unique index decides who was first.

use inbox_sqlx::{Outcome, idempotent, is_violation_of};

use super::{BALANCE, CREDIT, MARK, Run, SEEN, UNIQUE, begin_after_looking, look_together};
use crate::{
    bench::{self, Bench},
    lab::Lab,
    page,
};

pub(crate) const RUN: Run = Run {
    number: 2,
    title: "the same, with a unique index",
    about: "Both look and see nothing, as in run 1. But now the second marker is refused,\n\
            and with it the credit.",
};

/// The same with an inbox, which brings its own index.
#[idempotent(consumer = "credit", key = message_id)]
async fn credit<DB: Lab>(
    tx: &mut DB::Connection,
    who: &str,
    message_id: &str,
) -> sqlx::Result<u64> {
    bench::run::<DB>(who, tx, CREDIT).await
}

pub(crate) async fn run<DB: Lab>(bench: &mut Bench<DB>) -> anyhow::Result<()> {
    let mut a = bench.consumer("A").await?;
    let mut b = bench.consumer("B").await?;

    bench.onlooker().run(UNIQUE).await?;
    let both_saw_nothing = look_together(&mut a, &mut b).await?;
    begin_after_looking(&mut a).await?;
    for sql in [MARK, CREDIT, "commit"] {
        a.run(sql).await?;
    }
    begin_after_looking(&mut b).await?;
    let refused = b.run(MARK).await.err();
    b.run("rollback").await?;
    let (balance, seen) = (bench.look(BALANCE).await?, bench.look(SEEN).await?);

    let duplicate =
        refused.is_some_and(|error| is_violation_of(&error, "experiments_seen_message_id_key"));
    bench.claim(both_saw_nothing, "both looked before either had written");
    bench.claim(
        duplicate,
        "B's error names the index: that is what makes it a duplicate",
    );
    bench.claim(balance == 10 && seen == 1, "one credit, one duplicate");

    page::part("The same two consumers under #[idempotent], really at the same moment:");
    let (first, second) = (bench.inbox(), bench.second_inbox().await?);
    let (a, b) = tokio::join!(
        credit::<DB>(&first, "A", "m-2"),
        credit::<DB>(&second, "B", "m-2")
    );
    let (a, b) = (a?, b?);
    page::step("A", "credit(&inbox, ..)", &format!("{a:?}"));
    page::step("B", "credit(&inbox, ..)", &format!("{b:?}"));
    let balance = bench.look(BALANCE).await?;
    bench.claim(
        matches!(
            (a, b),
            (Outcome::Processed(1), Outcome::Duplicate)
                | (Outcome::Duplicate, Outcome::Processed(1))
        ),
        "one of them processed it, the other learned that it is a duplicate",
    );
    bench.claim(balance == 20, "one more credit, not two");
    Ok(())
}
