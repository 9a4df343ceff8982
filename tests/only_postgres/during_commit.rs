//! The session is ended while the server works on our COMMIT, which takes long because of a deferred trigger.

use std::time::Duration;

use inbox_sqlx::{Error, Outcome};
use tokio::time::{Instant, sleep};

use crate::contract::{
    bench::{Bench, Kept},
    delivery::spawn_credit,
};

const SLOW_COMMIT: &str = "\
create function slow() returns trigger language plpgsql as 'begin perform pg_sleep(10); return null; end'; \
create constraint trigger slow after insert on ledger deferrable initially deferred \
for each row execute function slow()";

#[tokio::test]
async fn terminated_during_commit_is_unknown_and_keeps_nothing() {
    interrupted_by("pg_terminate_backend").await;
}

#[tokio::test]
async fn cancelled_during_commit_is_unknown_and_keeps_nothing() {
    interrupted_by("pg_cancel_backend").await;
}

async fn interrupted_by(function: &str) {
    let bench = Bench::new().await;
    bench.observe(SLOW_COMMIT).await;
    let delivery = spawn_credit(&bench.inbox, "m1");

    let interrupt = format!(
        "select {function}(pid) from pg_stat_activity \
         where usename = current_database() and query like '%commit%' and wait_event = 'PgSleep'"
    );
    let deadline = Instant::now() + Duration::from_secs(5);
    while bench.observe(&interrupt).await == 0 {
        assert!(Instant::now() < deadline, "no slow COMMIT was seen");
        sleep(Duration::from_millis(10)).await;
    }

    let error = delivery.await.unwrap().unwrap_err();
    assert!(matches!(error.inbox(), Error::Unknown { .. }), "{error:?}");
    bench.expect("m1", Kept::Nothing).await;

    bench.observe("drop trigger slow on ledger").await;
    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
}

/// A deferred constraint that fails at COMMIT is no mystery: nothing was kept, and the caller gets the reason.
#[tokio::test]
async fn a_serialization_of_the_deferred_trigger_is_the_database_s_own_error() {
    let bench = Bench::new().await;
    let raising = SLOW_COMMIT.replace("perform pg_sleep(10)", "raise sqlstate ''40001''");
    bench.observe(&raising).await;
    let error = bench.credit("m1").await.unwrap_err();
    assert!(matches!(error.inbox(), Error::Database(_)), "{error:?}");
    assert!(error.inbox().is_transient());
    bench.expect("m1", Kept::Nothing).await;

    bench.observe("drop trigger slow on ledger").await;
    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
}
