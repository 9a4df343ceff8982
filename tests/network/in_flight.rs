//! A `begin` is dropped while it is on its way: ours, and one of the application on the pool it shares with us.

use std::time::Duration;

use inbox_sqlx::Outcome;
use tokio::time::timeout;

use super::proxied;
use crate::{
    contract::{
        bench::{Bench, CONSUMER, HandlerError, Kept},
        delivery::kept,
    },
    dialect::faults,
    support::proxy::Proxy,
};

/// What a question and its answer take.
const FLIGHT: Duration = Duration::from_millis(60);

/// sqlx 0.9 would hand the connection to the next user inside a transaction that nobody knows, and whose writes
/// nobody commits.
#[tokio::test]
async fn a_begin_of_ours_dropped_in_flight_is_not_reused() {
    let (bench, proxy) = proxied().await;
    // The pool's ping, begin, claim; dropped in the middle of each.
    for flight in 0..4 {
        let key = format!("m{flight}");
        bench.credit("warm").await.unwrap();
        proxy.set_delay(FLIGHT);
        let begin = bench.inbox.begin(CONSUMER, &key);
        let dropped = timeout(FLIGHT * flight + FLIGHT / 2, begin).await;
        proxy.set_delay(Duration::ZERO);
        // A claim that was got is dropped here, too.
        drop(dropped);

        bench.expect(&key, Kept::Nothing).await;
        let again = bench.credit(&key).await.unwrap();
        assert_eq!(again, Outcome::Processed(()));
        bench.expect(&key, Kept::Once).await;
    }
}

#[tokio::test]
async fn a_begin_of_the_application_dropped_in_flight_does_not_lose_our_work() {
    let (bench, proxy) = proxied().await;
    for again in [Outcome::Processed(()), Outcome::Duplicate] {
        poison(&bench, &proxy).await;
        assert_eq!(bench.credit("m1").await.unwrap(), again);
        bench.expect("m1", Kept::Once).await;
    }
}

#[tokio::test]
async fn a_begin_of_the_application_dropped_in_flight_does_not_keep_failed_work() {
    let (bench, proxy) = proxied().await;
    poison(&bench, &proxy).await;
    let failed = bench
        .deliver("m1", async |_| Err(HandlerError::Business))
        .await;
    assert!(matches!(failed, Err(HandlerError::Business)), "{failed:?}");
    bench.expect("m1", Kept::Nothing).await;
}

/// Our call is dropped half-way on such a connection.
#[tokio::test]
async fn a_poisoned_connection_is_not_passed_on_by_a_dropped_call() {
    let (bench, proxy) = proxied().await;
    for flight in 1..6 {
        let key = format!("m{flight}");
        poison(&bench, &proxy).await;
        proxy.set_delay(FLIGHT);
        let dropped = timeout(FLIGHT * flight + FLIGHT / 2, bench.credit(&key)).await;
        proxy.set_delay(Duration::ZERO);
        drop(dropped);
        bench.expect_sane_pool().await;
        let before = kept(&bench, &key).await;
        let again = bench.credit(&key).await.unwrap();
        assert_eq!(again.is_duplicate(), before == Kept::Once);
        bench.expect(&key, Kept::Once).await;
    }
}

/// Leaves the pool's only connection inside a transaction that its driver does not know.
async fn poison(bench: &Bench, proxy: &Proxy) {
    let pool = bench.inbox.pool();
    drop(pool.acquire().await.unwrap());
    proxy.quiet_flights().await;
    proxy.set_delay(FLIGHT);
    // The ping has its answer by then, and BEGIN is on its way.
    let begin = timeout(FLIGHT + FLIGHT / 2, pool.begin()).await;
    assert!(begin.is_err(), "it was not dropped in flight");
    proxy.set_delay(Duration::ZERO);
    let inside: i64 = sqlx::query_scalar(faults::IN_TRANSACTION)
        .fetch_one(pool)
        .await
        .unwrap();
    assert_eq!(inside, 1, "the connection is not poisoned");
}
