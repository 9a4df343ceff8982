//! Run 3: marker and work are kept together, or not at all.

use inbox_sqlx::{Outcome, idempotent};
use sqlx::error::DatabaseError;

use super::{BALANCE, CREDIT, MARKERS, Run};
use crate::{
    bench::{self, Bench},
    lab::{Lab, describe},
    page,
};

pub(crate) const RUN: Run = Run {
    number: 3,
    title: "the work fails after the marker was written",
    about: "The handler pays 10 into account 1, which works, and writes to the ledger of\n\
            account 2, which does not exist. The marker was written before both, in the\n\
            same transaction.",
};

const LEDGER: &str = "insert into experiments_ledger values ('m-3', 2, 10)";
const OPEN_ACCOUNT: &str = "insert into experiments_accounts (id) values (2)";

#[idempotent(consumer = "transfer", key = message_id)]
async fn transfer<DB: Lab>(tx: &mut DB::Connection, message_id: &str) -> sqlx::Result<()> {
    bench::run::<DB>("A", tx, CREDIT).await?;
    bench::run::<DB>("A", tx, LEDGER).await?;
    Ok(())
}

pub(crate) async fn run<DB: Lab>(bench: &mut Bench<DB>) -> anyhow::Result<()> {
    let inbox = bench.inbox();
    let failed = transfer::<DB>(&inbox, "m-3").await;
    match &failed {
        Ok(outcome) => page::step("A", "transfer(&inbox, \"m-3\")", &format!("{outcome:?}")),
        Err(error) => page::step(
            "A",
            "transfer(&inbox, \"m-3\")",
            &format!("Err({})", describe::<DB>(error)),
        ),
    }
    let (balance, markers) = (bench.look(BALANCE).await?, bench.look(MARKERS).await?);
    let own_error = failed.is_err_and(|error| {
        error
            .as_database_error()
            .is_some_and(DatabaseError::is_foreign_key_violation)
    });
    bench.claim(
        own_error,
        "the handler's error comes back as it was: do not acknowledge",
    );
    bench.claim(
        balance == 0 && markers == 0,
        "nothing was kept: neither the first credit nor the marker",
    );

    page::part("Account 2 is opened, and the broker delivers the message again, twice:");
    bench.onlooker().run(OPEN_ACCOUNT).await?;
    let again = transfer::<DB>(&inbox, "m-3").await?;
    page::step("A", "transfer(&inbox, \"m-3\")", &format!("{again:?}"));
    let once_more = transfer::<DB>(&inbox, "m-3").await?;
    page::step("A", "transfer(&inbox, \"m-3\")", &format!("{once_more:?}"));
    let (balance, markers) = (bench.look(BALANCE).await?, bench.look(MARKERS).await?);
    bench.claim(
        again == Outcome::Processed(()) && once_more == Outcome::Duplicate,
        "because the marker was not kept, the message was not lost",
    );
    bench.claim(balance == 10 && markers == 1, "one credit, one marker");
    Ok(())
}
