//! Bodies that write beside their transaction, and retries around and inside of a handler.

use std::time::Duration;

use inbox_sqlx::Outcome;
use sqlx::Connection as _;
use tokio::time::Instant;

use super::bench::{Bench, HandlerError, Kept, run};
use crate::{
    Conn,
    dialect::writes::{SECOND_TRY, THROUGH_THE_POOL},
};

const WRITE: &str = "insert into plain (note) values ('beside')";
const WRITTEN: &str = "select count(*) from plain where note = 'beside'";

/// The commonest way to lose atomicity. It cannot be prevented, only be made harder to write.
#[tokio::test]
async fn a_row_written_through_the_pool_is_not_part_of_the_message() {
    let bench = Bench::impatient(2).await;
    let error = bench
        .deliver("m1", async |_| {
            let mut beside = bench.inbox.pool().acquire().await?;
            let written = run(&mut beside, WRITE).await;
            let written = written.map_err(|error| code_of(&error));
            assert_eq!(written, THROUGH_THE_POOL.map_err(str::to_owned));
            Err(HandlerError::Business)
        })
        .await
        .unwrap_err();
    assert!(matches!(error, HandlerError::Business));
    bench.expect("m1", Kept::Nothing).await;
    let sticks = i64::from(THROUGH_THE_POOL.is_ok());
    assert_eq!(bench.number(WRITTEN, &[]).await, sticks);

    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
}

/// It waits for itself, and must not do so for ever.
#[tokio::test]
async fn a_body_that_wants_the_only_connection_fails_in_time_and_leaves_nothing() {
    let bench = Bench::impatient(1).await;
    let start = Instant::now();
    let error = bench
        .deliver("m1", async |_| {
            let mut beside = bench.inbox.pool().acquire().await?;
            run(&mut beside, WRITE).await?;
            Ok(())
        })
        .await
        .unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(5));
    assert!(
        matches!(error, HandlerError::Database(sqlx::Error::PoolTimedOut)),
        "{error:?}"
    );
    bench.expect("m1", Kept::Nothing).await;

    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
    assert_eq!(bench.number(WRITTEN, &[]).await, 0);
}

/// The same when the claim itself gets no connection: nothing has begun.
#[tokio::test]
async fn a_claim_without_a_connection_fails_in_time_and_is_transient() {
    let bench = Bench::impatient(1).await;
    let held = bench.inbox.pool().acquire().await.unwrap();
    let start = Instant::now();
    let error = bench.credit("m1").await.unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(5));
    assert!(error.inbox().is_transient(), "{error:?}");
    drop(held);
    bench.expect("m1", Kept::Nothing).await;
    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
}

/// Each try is a transaction of its own, so that failed ones leave nothing.
#[tokio::test]
async fn a_retry_around_the_handler_leaves_nothing_of_failed_tries() {
    let bench = Bench::new().await;
    let mut tries = 0;
    let outcome = loop {
        tries += 1;
        let result = bench
            .deliver("m1", async |connection| {
                run(connection, WRITE).await?;
                if tries < 3 {
                    run(connection, "insert into orders values (2, 'A-1', null)").await?;
                }
                Ok(())
            })
            .await;
        match result {
            Ok(outcome) => break outcome,
            Err(HandlerError::Database(_)) => bench.expect("m1", Kept::Nothing).await,
            Err(other) => panic!("{other:?}"),
        }
    };
    assert_eq!((tries, outcome), (3, Outcome::Processed(())));
    bench.expect("m1", Kept::Once).await;
    assert_eq!(bench.number(WRITTEN, &[]).await, 1);
    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Duplicate);
}

/// On PostgreSQL the transaction is aborted by then, and every further try fails for that alone.
#[tokio::test]
async fn a_retry_on_the_same_transaction_fails_and_leaves_nothing() {
    let bench = Bench::new().await;
    let error = bench
        .deliver("m1", async |connection| {
            let order = "insert into orders values (2, 'A-1', null)";
            run(connection, order).await.unwrap_err();
            // What the statement was about has been mended meanwhile; here it would work in a fresh transaction.
            let second = run(connection, "insert into orders values (2, 'A-2', null)").await;
            let second = second.map_err(|error| code_of(&error));
            assert_eq!(second, SECOND_TRY.map_err(str::to_owned));
            run(connection, order).await?;
            Ok(())
        })
        .await
        .unwrap_err();
    assert!(matches!(error, HandlerError::Database(_)), "{error:?}");
    bench.expect("m1", Kept::Nothing).await;
    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
}

/// The right way to retry inside: a nested transaction per try.
#[tokio::test]
async fn a_retry_in_nested_transactions_works_everywhere() {
    let bench = Bench::new().await;
    let outcome = bench
        .deliver("m1", async |connection: &mut Conn| {
            for order in [
                "insert into orders values (2, 'A-1', null)",
                "insert into orders values (2, 'A-2', null)",
            ] {
                let mut nested = connection.begin().await?;
                run(&mut nested, WRITE).await?;
                if run(&mut nested, order).await.is_ok() {
                    nested.commit().await?;
                } else {
                    nested.rollback().await?;
                }
            }
            Ok(())
        })
        .await
        .unwrap();
    assert_eq!(outcome, Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
    assert_eq!(bench.number(WRITTEN, &[]).await, 1);
    assert_eq!(bench.number("select count(*) from orders", &[]).await, 2);
}

fn code_of(error: &sqlx::Error) -> String {
    let database = error.as_database_error().unwrap();
    database.code().unwrap().into_owned()
}
