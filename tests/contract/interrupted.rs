//! Bodies that are cut short: by a time-out, by a panic, in a long query, in a nested transaction.

use std::{panic::resume_unwind, time::Duration};

use inbox_sqlx::{Begin, Error, Inbox, Outcome};
use sqlx::Connection as _;
use tokio::time::{sleep, timeout};

use super::{
    bench::{Bench, CONSUMER, HandlerError, Kept, apply, run},
    delivery::{End, Holder, after_polls, slow_bench},
};
use crate::{Conn, dialect};

/// A pool of one shows a connection that does not come back at once.
async fn bench_with_one_connection() -> Bench {
    let database = dialect::fresh_database().await;
    let pool = dialect::pool(database.url(), 1).await;
    Bench::around(Inbox::new(pool), database).await
}

#[tokio::test]
async fn a_body_that_takes_too_long_is_rolled_back() {
    let bench = bench_with_one_connection().await;
    let slow = bench.deliver("m1", async |_| {
        sleep(Duration::from_secs(1)).await;
        Ok(())
    });
    assert!(timeout(Duration::from_millis(50), slow).await.is_err());
    bench.expect("m1", Kept::Nothing).await;

    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
}

/// The server notices only when its statement ends; until then the redelivery waits for the claim.
#[tokio::test]
async fn a_body_dropped_in_a_long_query_is_rolled_back() {
    let bench = bench_with_one_connection().await;
    let slow = bench.deliver("m1", async |connection| {
        Ok(run(connection, dialect::faults::LONG_QUERY).await?)
    });
    assert!(timeout(Duration::from_millis(200), slow).await.is_err());

    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_reaches_the_caller_and_leaves_nothing_twenty_times() {
    let bench = bench_with_one_connection().await;
    for _ in 0..20 {
        let panicked = Holder::claim(&bench.inbox, "m1")
            .await
            .end(End::Panic)
            .await;
        let panic = panicked.unwrap_err().into_panic();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"the body panics"));
    }
    bench.expect("m1", Kept::Nothing).await;

    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
}

/// Between the statements of a nested transaction, and with its savepoint open.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_in_a_nested_transaction_leaves_nothing() {
    let bench = bench_with_one_connection().await;
    let inbox = bench.inbox.clone();
    let panicked = tokio::spawn(async move {
        let Begin::Fresh(mut claimed) = inbox.begin(CONSUMER, "m1").await.unwrap() else {
            panic!("the message is fresh");
        };
        apply(claimed.connection(), "m1").await.unwrap();
        let mut nested = claimed.connection().begin().await.unwrap();
        run(&mut nested, "insert into plain (note) values ('nested')")
            .await
            .unwrap();
        resume_unwind(Box::new("the body panics"));
    })
    .await;
    assert!(panicked.is_err_and(|error| error.is_panic()));
    bench.expect("m1", Kept::Nothing).await;

    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
}

/// sqlx 0.9 rolls the *outer* transaction back when a nested `begin` is dropped in flight, and what follows
/// commits statement by statement: the body, which goes on, must not be told that all went well.
#[tokio::test]
async fn a_body_that_goes_on_after_a_nested_begin_was_dropped_is_not_processed() {
    let (bench, _slow) = slow_bench(1).await;
    let answer = bench
        .deliver("m1", async |connection| {
            drop_nested_begin(connection).await;
            run(
                connection,
                "update accounts set balance = balance where id = 2",
            )
            .await?;
            Ok(())
        })
        .await;
    let error = answer.unwrap_err();
    assert!(
        matches!(error.inbox(), Error::TransactionEnded { .. }),
        "{error:?}"
    );
    bench.expect("m1", Kept::Nothing).await;

    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
}

/// The same body, which returns an error of its own: that one stays what it is.
#[tokio::test]
async fn a_body_that_fails_after_a_nested_begin_was_dropped_leaves_nothing() {
    let (bench, _slow) = slow_bench(1).await;
    let answer = bench
        .deliver("m1", async |connection| {
            drop_nested_begin(connection).await;
            Err(HandlerError::Business)
        })
        .await;
    assert!(matches!(answer, Err(HandlerError::Business)), "{answer:?}");
    bench.expect("m1", Kept::Nothing).await;

    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
}

/// Begins a nested transaction and drops it on its way.
async fn drop_nested_begin(connection: &mut Conn) {
    for _ in 0..1_000 {
        match after_polls(0, connection.begin()).await {
            None => return,
            // The answer was there before anybody waited for it.
            Some(nested) => nested.unwrap().rollback().await.unwrap(),
        }
    }
    panic!("every nested begin was answered at once");
}
