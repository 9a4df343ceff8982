//! Markers that a claim finds and did not write: only a processed one is ever a duplicate.

use std::time::Duration;

use inbox_sqlx::{Disposition, Error, MessageState, Outcome};

use super::bench::{Bench, CONSUMER};
use crate::dialect;

#[tokio::test]
async fn a_claim_whose_lease_runs_is_in_progress_until_it_ends() {
    let bench = Bench::new().await;
    put(&bench, "0, null", "lease_until", 60).await;
    expect_in_progress(&bench, 55..=60).await;
}

/// Transactional handlers take nothing over: whoever claimed it in two phases decides.
#[tokio::test]
async fn a_claim_whose_lease_is_over_is_still_in_progress() {
    let bench = Bench::new().await;
    put(&bench, "0, null", "lease_until", -60).await;
    expect_in_progress(&bench, 1..=1).await;
}

#[tokio::test]
async fn a_released_message_that_is_not_due_is_in_progress_until_then() {
    let bench = Bench::new().await;
    put(&bench, "1, null", "next_at", 30).await;
    expect_in_progress(&bench, 25..=30).await;
}

#[tokio::test]
async fn a_released_message_that_is_due_is_in_progress() {
    let bench = Bench::new().await;
    put(&bench, "1, null", "next_at", -30).await;
    expect_in_progress(&bench, 1..=1).await;
}

/// A newer version of the library may know more states. None of them is a reason to acknowledge.
#[tokio::test]
async fn a_state_nobody_knows_is_in_progress() {
    let bench = Bench::new().await;
    for statement in dialect::ALLOW_ANY_STATE {
        bench.observe(statement).await;
    }
    put(&bench, "7, null", "next_at", 30).await;
    expect_in_progress(&bench, 1..=1).await;
    let status = bench.inbox.status(CONSUMER, "m1").await.unwrap().unwrap();
    assert_eq!(status.state, MessageState::Newer);
}

#[tokio::test]
async fn a_parked_message_is_dead_lettered() {
    let bench = Bench::new().await;
    put(&bench, "3, null", "parked_at", -60).await;

    let error = bench.credit("m1").await.unwrap_err();
    let Error::Parked { message, .. } = error.inbox() else {
        panic!("{error:?}");
    };
    assert_eq!(message.key().as_str(), "m1");
    assert!(message.row().is_some());
    assert!(!error.inbox().is_transient());
    assert_eq!(Disposition::of(&error), Disposition::DeadLetter);
    expect_untouched(&bench).await;

    let status = bench.inbox.status(CONSUMER, "m1").await.unwrap().unwrap();
    assert_eq!(status.state, MessageState::Parked);
    assert_eq!(status.processed_ago, None);
}

#[tokio::test]
async fn a_processed_message_is_a_duplicate_however_old_it_is() {
    let bench = Bench::new().await;
    put(&bench, "2, '2001-01-01'", "first_call_at", -60).await;
    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Duplicate);
    assert_eq!(bench.effects("m1").await, 0);
    bench.expect_sane_pool().await;
}

/// In whatever state it is.
#[tokio::test]
async fn the_marker_of_another_consumer_does_not_matter() {
    let bench = Bench::new().await;
    put(&bench, "0, null", "lease_until", 60).await;
    bench.observe("update inbox set consumer = 'email'").await;
    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
    assert_eq!(bench.effects("m1").await, 1);
}

/// Puts a marker for m1, its time `seconds` from now by the database's clock.
async fn put(bench: &Bench, state: &str, time: &str, seconds: i64) {
    let time_value = dialect::in_seconds(seconds);
    let state = state.replace("'2001-01-01'", &dialect::in_seconds(-800_000_000));
    bench
        .observe(&format!(
            "insert into inbox (message_id, consumer, state, processed_at, {time}) \
             values ('m1', '{CONSUMER}', {state}, {time_value})"
        ))
        .await;
}

async fn expect_in_progress(bench: &Bench, seconds: std::ops::RangeInclusive<u64>) {
    let before = bench
        .number("select state + fence * 10 from inbox", &[])
        .await;
    let error = bench.credit("m1").await.unwrap_err();
    let Error::InProgress {
        message,
        retry_after,
        ..
    } = error.inbox()
    else {
        panic!("{error:?}");
    };
    assert_eq!(message.consumer().as_str(), CONSUMER);
    let shortest = Duration::from_secs(*seconds.start());
    let longest = Duration::from_secs(*seconds.end());
    assert!(
        (shortest..=longest).contains(retry_after),
        "{retry_after:?}"
    );
    assert!(error.inbox().is_transient());
    assert_eq!(
        Disposition::of(&error),
        Disposition::Retry {
            after: Some(*retry_after)
        }
    );
    expect_untouched(bench).await;
    let after = bench
        .number("select state + fence * 10 from inbox", &[])
        .await;
    assert_eq!(after, before, "the claim changed nothing");
}

async fn expect_untouched(bench: &Bench) {
    assert_eq!(bench.number("select count(*) from inbox", &[]).await, 1);
    assert_eq!(bench.effects("m1").await, 0, "the body did not run");
    bench.expect_sane_pool().await;
}
