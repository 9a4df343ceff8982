//! Run 4: a retry needs a transaction of its own.

#[cfg(any(feature = "postgres", feature = "mysql"))]
use std::time::Duration;

use inbox_sqlx::{Error, Outcome, idempotent};
use sqlx::error::DatabaseError;

use super::{BALANCE, CREDIT, MARKERS, Run, SEEN};
#[cfg(any(feature = "postgres", feature = "mysql"))]
use crate::lab::AfterDeadlock;
use crate::{
    bench::{self, Bench},
    lab::{Lab, Mishap, OnError},
    page,
};

pub(crate) const RUN: Run = Run {
    number: 4,
    title: "trying again in the transaction that failed",
    about: "A writes its marker, a statement fails, and A goes on as if nothing had happened.",
};

const MARK: &str = "insert into experiments_seen (message_id) values ('m-4')";
const LEDGER: &str = "insert into experiments_ledger values ('m-4', 2, 10)";

/// A body that passes no error on. The library must not take its `Ok` for success.
#[idempotent(consumer = "stubborn", key = message_id)]
async fn stubborn<DB: Lab>(tx: &mut DB::Connection, message_id: &str) -> sqlx::Result<()> {
    drop(bench::run::<DB>("A", tx, LEDGER).await);
    drop(bench::run::<DB>("A", tx, CREDIT).await);
    Ok(())
}

pub(crate) async fn run<DB: Lab>(bench: &mut Bench<DB>) -> anyhow::Result<()> {
    after_an_error(bench).await?;
    under_the_attribute(bench).await?;
    match DB::MISHAP {
        Mishap::StaleSnapshot => after_a_stale_snapshot(bench).await,
        #[cfg(any(feature = "postgres", feature = "mysql"))]
        Mishap::Deadlock(after) => after_a_deadlock(bench, after).await,
    }
}

async fn after_an_error<DB: Lab>(bench: &mut Bench<DB>) -> anyhow::Result<()> {
    let mut a = bench.consumer("A").await?;
    a.run(DB::BEGIN).await?;
    a.run(MARK).await?;
    let failed = a.run(LEDGER).await.is_err();
    let retried = a.run(CREDIT).await;
    a.run("commit").await?;
    let (balance, seen) = (bench.look(BALANCE).await?, bench.look(SEEN).await?);
    bench.claim(
        failed,
        "account 2 does not exist, so the second statement failed",
    );
    match DB::ERROR {
        #[cfg(feature = "postgres")]
        OnError::AbortsTransaction => {
            let aborted = retried.is_err_and(|error| has_code(&error, "25P02"));
            bench.claim(
                aborted,
                "after an error, this transaction accepts nothing more",
            );
            bench.claim(
                balance == 0 && seen == 0,
                "COMMIT said ok and rolled back: whoever believes it acknowledges a lost message",
            );
            for sql in [DB::BEGIN, MARK, CREDIT, "commit"] {
                a.run(sql).await?;
            }
            let kept = bench.look(BALANCE).await? == 10 && bench.look(SEEN).await? == 1;
            bench.claim(kept, "in a fresh transaction, the same statements work");
        }
        OnError::UndoesStatement => {
            bench.claim(
                retried.is_ok(),
                "here an error undoes its own statement only; the transaction goes on",
            );
            bench.claim(balance == 10 && seen == 1, "and COMMIT keeps the rest");
        }
    }
    Ok(())
}

async fn under_the_attribute<DB: Lab>(bench: &mut Bench<DB>) -> anyhow::Result<()> {
    page::part("The same under #[idempotent], in a body that ignores both errors and returns Ok:");
    let before = bench.look(BALANCE).await?;
    let result = stubborn::<DB>(&bench.inbox(), "m-4").await;
    match &result {
        Ok(outcome) => page::step("A", "stubborn(&inbox, \"m-4\")", &format!("{outcome:?}")),
        Err(error) => {
            let error = Error::find(error).map_or_else(|| error.to_string(), Error::to_string);
            page::step("A", "stubborn(&inbox, \"m-4\")", &format!("Err({error})"));
        }
    }
    let (balance, markers) = (bench.look(BALANCE).await?, bench.look(MARKERS).await?);
    match DB::ERROR {
        #[cfg(feature = "postgres")]
        OnError::AbortsTransaction => {
            let noticed = result.is_err_and(|error| {
                matches!(Error::find(&error), Some(Error::TransactionAborted { .. }))
            });
            bench.claim(
                noticed,
                "the inbox notices before it commits: do not acknowledge",
            );
            bench.claim(
                balance == before && markers == 0,
                "nothing was kept, nothing is lost",
            );
        }
        OnError::UndoesStatement => {
            bench.claim(
                matches!(result, Ok(Outcome::Processed(()))),
                "the transaction is whole, so the inbox commits it",
            );
            bench.claim(
                balance == before + 10 && markers == 1,
                "work and marker are kept together",
            );
        }
    }
    Ok(())
}

/// SQLite: what has read an old state of the file may not write a new one.
async fn after_a_stale_snapshot<DB: Lab>(bench: &mut Bench<DB>) -> anyhow::Result<()> {
    page::part("A failure that is nobody's fault: A reads, B writes, and then A wants to write.");
    let mut a = bench.consumer("A").await?;
    let mut b = bench.consumer("B").await?;
    let before = bench.look(BALANCE).await?;
    a.run("begin").await?;
    a.count(SEEN).await?;
    b.run(CREDIT).await?;
    let first = a.run(CREDIT).await;
    let second = a.run(CREDIT).await;
    a.run("rollback").await?;
    for sql in [DB::BEGIN, CREDIT, "commit"] {
        a.run(sql).await?;
    }
    let balance = bench.look(BALANCE).await?;
    let busy_snapshot =
        |answer: sqlx::Result<u64>| answer.is_err_and(|error| has_code(&error, "517"));
    bench.claim(
        busy_snapshot(first) && busy_snapshot(second),
        "trying again in the same transaction fails again, for ever (SQLITE_BUSY_SNAPSHOT)",
    );
    bench.claim(
        balance == before + 20,
        "a fresh one works; the inbox begins with `begin immediate`, which avoids all this",
    );
    Ok(())
}

/// PostgreSQL, MySQL, MariaDB: two transactions wait for each other, and one of them is ended.
#[cfg(any(feature = "postgres", feature = "mysql"))]
async fn after_a_deadlock<DB: Lab>(
    bench: &mut Bench<DB>,
    after: AfterDeadlock,
) -> anyhow::Result<()> {
    const MARK: &str = "insert into experiments_seen (message_id) values ('m-5')";
    const CREDIT_2: &str = "update experiments_accounts set balance = balance + 10 where id = 2";
    const BALANCE_2: &str = "select balance from experiments_accounts where id = 2";
    const SEEN: &str = "select count(*) from experiments_seen where message_id = 'm-5'";

    page::part("A failure that is nobody's fault: A and B update two accounts in opposite order.");
    let mut a = bench.consumer("A").await?;
    let mut b = bench.consumer("B").await?;
    bench
        .onlooker()
        .run("insert into experiments_accounts (id) values (2)")
        .await?;
    for sql in [DB::BEGIN, MARK, CREDIT] {
        a.run(sql).await?;
    }
    // InnoDB ends the transaction that has changed less: B changes more.
    for sql in [
        DB::BEGIN,
        "insert into experiments_seen (message_id) values ('x'), ('x'), ('x'), ('x')",
        CREDIT_2,
    ] {
        b.run(sql).await?;
    }
    page::say("Now A wants account 2, and B wants account 1:");
    // PostgreSQL ends the transaction that has waited for a second first: A waits longer.
    let (lost, won) = tokio::join!(a.run(CREDIT_2), async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        b.run(CREDIT).await
    });
    won?;
    b.run("commit").await?;
    let between = bench.look(BALANCE_2).await?;
    let retried = a.run(CREDIT_2).await;
    a.run("commit").await?;
    let (balance, seen) = (bench.look(BALANCE_2).await?, bench.look(SEEN).await?);

    match after {
        #[cfg(feature = "postgres")]
        AfterDeadlock::Aborted => {
            bench.claim(
                lost.is_err_and(|error| has_code(&error, "40P01")),
                "A lost a deadlock",
            );
            bench.claim(
                retried.is_err_and(|error| has_code(&error, "25P02")),
                "trying again in the same transaction fails again",
            );
            bench.claim(
                balance == between && seen == 0,
                "COMMIT said ok, and nothing was kept",
            );
        }
        #[cfg(feature = "mysql")]
        AfterDeadlock::Gone => {
            bench.claim(
                lost.is_err_and(|error| has_code(&error, "40001")),
                "A lost a deadlock",
            );
            bench.claim(
                retried.is_ok() && balance == between + 10 && seen == 0,
                "the transaction was gone with its marker, so the second try stood alone and was\n     \
                 kept at once: a credit without a marker, which the redelivery repeats",
            );
        }
    }
    for sql in [DB::BEGIN, MARK, CREDIT, CREDIT_2, "commit"] {
        a.run(sql).await?;
    }
    let kept = bench.look(BALANCE_2).await? == balance + 10 && bench.look(SEEN).await? == 1;
    bench.claim(
        kept,
        "in a fresh transaction, marker included, everything works",
    );
    Ok(())
}

fn has_code(error: &sqlx::Error, code: &str) -> bool {
    let error = error.as_database_error();
    error
        .and_then(DatabaseError::code)
        .is_some_and(|found| found == code)
}
