//! The sweeper: what becomes of claims whose workers are gone, and of stored messages no broker delivers again.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use inbox_sqlx::{Backoff, MessageState, OnUnknown, Page, Policy, Sweep, Sweeper, Terms, TwoPhase};

use super::{
    bench::{Bench, CONSUMER, HandlerError},
    operator::{claim, fail},
};
use crate::dialect;

fn terms(on_unknown: OnUnknown, max_attempts: u32) -> Terms {
    let policy = Policy::new(on_unknown, max_attempts).unwrap();
    let backoff = Backoff::new(Duration::ZERO, Duration::ZERO);
    Terms::new(Duration::from_mins(1), policy, backoff).unwrap()
}

fn retry(max_attempts: u32) -> Terms {
    let horizon = Duration::from_hours(1);
    terms(OnUnknown::Retry { horizon }, max_attempts)
}

/// A claim whose worker is gone for that many seconds.
async fn abandon(bench: &Bench, key: &str, terms: Terms, seconds: i64) {
    drop(claim(&bench.inbox, key, terms).await);
    bench
        .observe(&format!(
            "update inbox set lease_until = {} where message_id = '{key}'",
            dialect::in_seconds(-seconds)
        ))
        .await;
}

async fn state(bench: &Bench, key: &str) -> MessageState {
    bench
        .inbox
        .status(CONSUMER, key)
        .await
        .unwrap()
        .unwrap()
        .state
}

fn swept(released: u64, parked: u64) -> (u64, u64) {
    (released, parked)
}

#[tokio::test]
async fn abandoned_claims_are_released_or_parked_by_their_own_policy() {
    let bench = Bench::new().await;
    abandon(&bench, "park", terms(OnUnknown::Park, 5), 60).await;
    abandon(&bench, "retry", retry(5), 60).await;
    abandon(&bench, "last attempt", retry(1), 60).await;
    abandon(&bench, "in grace", retry(5), 1).await;
    let running = claim(&bench.inbox, "running", retry(5)).await;
    bench.credit("processed").await.unwrap();

    let sweep = Sweeper::new(&bench.inbox).sweep_once().await.unwrap();
    assert_eq!((sweep.released, sweep.parked), swept(1, 2));
    for (key, wanted) in [
        ("park", MessageState::Parked),
        ("retry", MessageState::Released),
        ("last attempt", MessageState::Parked),
        ("in grace", MessageState::Claimed),
        ("running", MessageState::Claimed),
        ("processed", MessageState::Processed),
    ] {
        assert_eq!(state(&bench, key).await, wanted, "{key}");
    }
    assert!(running.is_held());
    // What was released runs again, what was parked does not.
    assert_eq!(claim(&bench.inbox, "retry", retry(5)).await.attempt(), 2);
    bench
        .inbox
        .claim(CONSUMER, "park", retry(5))
        .await
        .unwrap_err();
    bench.expect_sane_pool().await;
}

/// What an earlier attempt said is not what is known of the one that was interrupted.
#[tokio::test]
async fn a_stale_claim_does_not_show_what_an_earlier_attempt_said() {
    let bench = Bench::new().await;
    let first = claim(&bench.inbox, "m1", retry(5)).await;
    fail(first, inbox_sqlx::Effect::NotHappened).await;
    abandon(&bench, "m1", retry(5), 60).await;
    let stale = bench.inbox.stale(Page::first(1)).await.unwrap();
    assert_eq!((stale[0].attempts, &stale[0].last_error), (2, &None));
}

/// More than a batch, by two sweepers at the same instant.
#[tokio::test(flavor = "multi_thread")]
async fn two_sweepers_sweep_each_row_once() {
    const ROWS: u64 = 250;
    let bench = Bench::new().await;
    let then = dialect::in_seconds(-60);
    bench
        .observe(&format!(
            "insert into inbox (message_id, consumer, state, processed_at, lease_until, first_call_at, on_unknown, \
             max_attempts) \
             with recursive n (i) as (select 1 union all select i + 1 from n where i < {ROWS}) \
             select concat('m', i), '{CONSUMER}', 0, null, {then}, {then}, 0, 5 from n"
        ))
        .await;
    let (one, other) = (Sweeper::new(&bench.inbox), Sweeper::new(&bench.inbox));
    let (one, other) = tokio::join!(one.sweep_once(), other.sweep_once());
    assert_eq!(one.unwrap().parked + other.unwrap().parked, ROWS);
    let lost = "select count(*) from inbox where lost_leases = 1 and state = 3";
    assert_eq!(bench.number(lost, &[]).await, i64::try_from(ROWS).unwrap());
}

/// The broker has forgotten the message; the row has not.
#[tokio::test]
async fn stored_messages_are_delivered_again_to_their_handler() {
    let bench = Bench::new().await;
    for (key, payload) in [("good", "{\"to\":\"a\"}"), ("unreadable", "{\"to\":5}")] {
        abandon(&bench, key, retry(5), 60).await;
        bench
            .observe(&format!(
                "update inbox set payload = '{payload}' where message_id = '{key}'"
            ))
            .await;
    }
    abandon(&bench, "nothing stored", retry(5), 60).await;

    let calls = Arc::new(AtomicU32::new(0));
    let (inbox, counted) = (bench.inbox.clone(), Arc::clone(&calls));
    let sweeper = Sweeper::new(&bench.inbox).on(CONSUMER, move |mail: Mail| {
        let (inbox, counted) = (inbox.clone(), Arc::clone(&counted));
        async move {
            assert_eq!(mail.to, "a");
            match inbox.claim(CONSUMER, "good", retry(5)).await? {
                TwoPhase::Duplicate => panic!("it was not processed"),
                TwoPhase::Fresh(claim) => {
                    counted.fetch_add(1, Ordering::SeqCst);
                    let sent = Ok::<_, HandlerError>(());
                    claim.settle(sent, |_| inbox_sqlx::Effect::Unknown).await
                }
            }
        }
    });
    let sweep = sweeper.sweep_once().await.unwrap();
    assert_eq!((sweep.released, sweep.parked), swept(3, 1));
    assert_eq!((sweep.redelivered, sweep.failed), (1, 0));
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    assert_eq!(state(&bench, "good").await, MessageState::Processed);
    assert_eq!(
        state(&bench, "nothing stored").await,
        MessageState::Released
    );

    let parked = bench.inbox.parked(Page::first(10)).await.unwrap();
    assert_eq!(parked.len(), 1);
    assert_eq!(parked[0].key, "unreadable");
    let error = parked[0].last_error.as_deref().unwrap();
    assert!(error.starts_with("the payload cannot be read: "), "{error}");

    assert_eq!(sweeper.sweep_once().await.unwrap(), Sweep::default());
    bench.expect_sane_pool().await;
}

#[derive(Debug, serde::Deserialize)]
struct Mail {
    to: String,
}

#[tokio::test]
async fn the_sweeper_sweeps_at_once_and_ends_when_told() {
    let bench = Bench::new().await;
    abandon(&bench, "m1", terms(OnUnknown::Park, 5), 60).await;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let job = tokio::spawn(Sweeper::new(&bench.inbox).run(async { drop(stopped.await) }));
    while state(&bench, "m1").await != MessageState::Parked {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    drop(stop);
    tokio::time::timeout(Duration::from_secs(5), job)
        .await
        .unwrap()
        .unwrap();
    bench.expect_sane_pool().await;
}

/// The first attempt failed, and nothing was sent, said the row. The second one was killed, and the row still said so:
/// whoever believed it and released the message had a second mail sent.
#[tokio::test]
async fn what_is_said_of_an_interrupted_attempt_is_not_what_the_one_before_said() {
    let bench = Bench::new().await;
    let terms = terms(OnUnknown::Park, 5);
    for key in ["swept", "delivered again"] {
        fail(
            claim(&bench.inbox, key, terms).await,
            inbox_sqlx::Effect::NotHappened,
        )
        .await;
        abandon(&bench, key, terms, 60).await;
        match key {
            "swept" => {
                let sweep = Sweeper::new(&bench.inbox).sweep_once().await.unwrap();
                assert_eq!(sweep.parked, 1);
            }
            _ => drop(bench.inbox.claim(CONSUMER, key, terms).await.unwrap_err()),
        }
    }
    for message in bench.inbox.parked(Page::first(10)).await.unwrap() {
        assert_eq!(message.attempts, 2);
        assert_eq!(
            message.last_error.as_deref(),
            Some("the lease ran out, the outcome is unknown"),
            "{}",
            message.key
        );
    }
    bench.expect_sane_pool().await;
}

/// Nobody was interrupted: what is known of the last attempt stays.
#[tokio::test]
async fn a_message_without_an_attempt_left_keeps_what_its_last_one_said() {
    let bench = Bench::new().await;
    fail(
        claim(&bench.inbox, "m1", terms(OnUnknown::Park, 5)).await,
        inbox_sqlx::Effect::NotHappened,
    )
    .await;
    // As if the limit had been lower all the time.
    bench.observe("update inbox set max_attempts = 1").await;
    let last = bench
        .inbox
        .claim(CONSUMER, "m1", terms(OnUnknown::Park, 1))
        .await;
    drop(last.unwrap_err());
    let parked = bench.inbox.parked(Page::first(10)).await.unwrap();
    assert_eq!(parked.len(), 1);
    assert_eq!(
        parked[0].last_error.as_deref(),
        Some("the business said no")
    );
}
