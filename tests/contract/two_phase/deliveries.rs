//! What a delivery finds, and what becomes of how its body ends: row by row of the protocol.

use std::collections::BTreeSet;

use inbox_core::two_phase::State;
use inbox_sqlx::{Outcome, Terms, TwoPhase};

use super::{
    post::{End, LEASE, MailError, Post, park, retry},
    stored::CONSUMER,
};

const POLICIES: [fn(u32) -> Terms; 2] = [park, retry];

#[tokio::test]
async fn the_first_delivery_runs_the_body_and_every_later_one_is_a_duplicate() {
    let mut post = Post::new().await;
    for terms in POLICIES {
        let answer = post.deliver("m1", terms(5), End::Sent).await;
        assert_eq!(answer.unwrap(), Outcome::Processed(()));
        post.expect("m1", State::Processed, 1).await;
        for terms in POLICIES {
            post.expect_duplicate("m1", terms(5)).await;
        }
        assert_eq!(post.service.calls().len(), 1);
        post = post.cleared().await;
    }
}

/// The loser must not acknowledge, must not run, and must not touch what the winner holds.
#[tokio::test]
async fn a_delivery_while_another_one_works_is_in_progress_until_the_lease_ends() {
    let mut post = Post::new().await;
    for terms in POLICIES {
        let winner = post.worker("m1", terms(5)).await;
        let lease = LEASE.as_secs();
        for _ in 0..3 {
            // A tenth more and a tenth of a second, so that those who wait do not come back all at once.
            post.expect_in_progress("m1", terms(5), lease - 10..=lease + 7)
                .await;
        }
        assert_eq!(winner.end(End::Sent).await.unwrap(), Outcome::Processed(()));
        post.expect("m1", State::Processed, 1).await;
        post.expect_duplicate("m1", terms(5)).await;
        assert_eq!(post.service.calls().len(), 1);
        post = post.cleared().await;
    }
}

#[tokio::test]
async fn what_has_not_happened_waits_and_then_runs_again_with_the_same_key() {
    let mut post = Post::new().await;
    for terms in POLICIES {
        let error = post.deliver("m1", terms(5), End::Busy).await.unwrap_err();
        assert!(matches!(error, MailError::Busy), "{error:?}");
        post.expect("m1", State::Released, 1).await;
        let row = post.row("m1").await;
        assert_eq!(row.last_error.as_deref(), Some("the line is busy"));
        assert_eq!((row.lost_leases, row.lease_until), (0, None));

        post.set("m1", "next_at", 30).await;
        post.expect_in_progress("m1", terms(5), 25..=34).await;
        post.set("m1", "next_at", -1).await;
        let answer = post.deliver("m1", terms(5), End::Sent).await;
        assert_eq!(answer.unwrap(), Outcome::Processed(()));
        post.expect("m1", State::Processed, 2).await;
        assert_eq!(post.row("m1").await.last_error, None);
        assert_eq!(post.service.calls_with_one_key(), 2);
        post = post.cleared().await;
    }
}

/// The back-off is the database's, measured from the failure, and no longer than the terms say.
#[tokio::test]
async fn a_back_off_ends_within_what_the_terms_say() {
    use inbox_sqlx::Backoff;
    use std::time::Duration;

    let post = Post::new().await;
    let policy = park(5).policy();
    let backoff = Backoff::new(Duration::from_secs(10), Duration::from_secs(10));
    let terms = Terms::new(LEASE, policy, backoff).unwrap();
    for number in 0..10 {
        let key = format!("m{number}");
        let before = post.clock().await;
        post.deliver(&key, terms, End::Busy).await.unwrap_err();
        let after = post.clock().await;
        let next_at = post.row(&key).await.next_at.unwrap();
        assert!(
            (before..=after + 10_000).contains(&next_at),
            "{before} {next_at} {after}"
        );
    }
    post.close().await;
}

/// An effect that fails at every try ends with a person, never as a duplicate and never in progress for ever.
#[tokio::test]
async fn attempts_that_fail_are_used_up_and_the_message_is_parked() {
    let mut post = Post::new().await;
    for terms in POLICIES {
        for attempt in 1..=3 {
            post.expect_attempt(attempt, terms(3), End::Busy).await;
        }
        post.expect("m1", State::Parked, 3).await;
        post.expect_parked("m1", terms(3)).await;
        assert_eq!(post.service.calls_with_one_key(), 3);
        // Another version of the handler would allow more: it is parked all the same.
        post.expect_parked("m1", terms(9)).await;
        post = post.cleared().await;
    }
}

impl Post {
    async fn expect_attempt(&self, attempt: u32, terms: Terms, end: End) {
        self.deliver("m1", terms, end).await.unwrap_err();
        assert_eq!(self.service.calls().last().unwrap().attempt, attempt);
    }
}

#[tokio::test]
async fn what_is_rejected_is_parked_with_its_text() {
    let mut post = Post::new().await;
    for terms in POLICIES {
        let error = post.deliver("m1", terms(5), End::NoSuchAddress).await;
        let error = error.unwrap_err();
        assert!(matches!(error, MailError::NoSuchAddress), "{error:?}");
        post.expect("m1", State::Parked, 1).await;
        let text = post.row("m1").await.last_error;
        assert_eq!(text.as_deref(), Some("there is no such address"));
        post.expect_parked("m1", terms(5)).await;
        assert_eq!(post.service.calls().len(), 1);
        post = post.cleared().await;
    }
}

#[tokio::test]
async fn an_unknown_outcome_is_parked_under_park() {
    let mut post = Post::new().await;
    for end in [End::Timeout, End::Panic] {
        post.expect_unknown(park(5), end).await;
        post.expect("m1", State::Parked, 1).await;
        post.expect_parked("m1", park(5)).await;
        // Not even by a handler that retries: the call was made under `park`.
        post.expect_parked("m1", retry(5)).await;
        assert_eq!(post.service.calls().len(), 1, "at most once");
        post = post.cleared().await;
    }
}

#[tokio::test]
async fn an_unknown_outcome_runs_again_under_retry_until_the_attempts_are_used_up() {
    let mut post = Post::new().await;
    for end in [End::Timeout, End::Panic] {
        post.expect_unknown(retry(3), end).await;
        post.expect("m1", State::Released, 1).await;
        post.expect_unknown(retry(3), end).await;
        post.expect("m1", State::Released, 2).await;
        let answer = post.deliver("m1", retry(3), End::Sent).await;
        assert_eq!(answer.unwrap(), Outcome::Processed(()));
        post.expect("m1", State::Processed, 3).await;
        assert_eq!(post.service.calls_with_one_key(), 3);
        post = post.cleared().await;

        for _ in 0..2 {
            post.expect_unknown(retry(2), end).await;
        }
        post.expect("m1", State::Parked, 2).await;
        post.expect_parked("m1", retry(2)).await;
        post = post.cleared().await;
    }
}

impl Post {
    /// The caller gets the body's own error, or its panic.
    async fn expect_unknown(&self, terms: Terms, end: End) {
        let worker = self.worker("m1", terms).await;
        match (end, worker.try_end(end).await) {
            (End::Panic, Err(panicked)) => {
                let panic = panicked.into_panic();
                assert_eq!(panic.downcast_ref::<&str>(), Some(&"the body panics"));
            }
            (_, Ok(Err(MailError::Timeout))) => {}
            (_, other) => panic!("{other:?}"),
        }
    }
}

/// A worker that died leaves its claim; nobody can tell whether it made the call.
#[tokio::test]
async fn an_abandoned_claim_is_taken_over_under_retry() {
    let post = Post::new().await;
    post.worker("m1", retry(5)).await.die().await;
    post.expect_in_progress("m1", retry(5), 50..=67).await;
    post.expire("m1").await;

    let answer = post.deliver("m1", retry(5), End::Sent).await;
    assert_eq!(answer.unwrap(), Outcome::Processed(()));
    post.expect("m1", State::Processed, 2).await;
    let row = post.row("m1").await;
    assert_eq!((row.fence, row.lost_leases), (2, 1));
    assert_eq!(post.service.calls_with_one_key(), 2);
    post.close().await;
}

#[tokio::test]
async fn an_abandoned_claim_is_parked_under_park() {
    // Of two policies that differ, after a deployment, the careful one counts.
    let mut post = Post::new().await;
    for (first, second) in [(park(5), park(5)), (park(5), retry(5)), (retry(5), park(5))] {
        post.worker("m1", first).await.die().await;
        post.expect_in_progress("m1", second, 50..=67).await;
        post.expire("m1").await;

        post.expect_parked("m1", second).await;
        post.expect("m1", State::Parked, 1).await;
        assert_eq!(post.row("m1").await.lost_leases, 1);
        assert_eq!(post.service.calls().len(), 1, "at most once");
        post = post.cleared().await;
    }
}

/// A message that takes its worker down at every attempt does not go on doing so.
#[tokio::test]
async fn abandoned_claims_use_attempts_up() {
    let post = Post::new().await;
    for attempt in 1..=3 {
        post.worker("m1", retry(3)).await.die().await;
        post.expect("m1", State::Claimed, attempt).await;
        post.expire("m1").await;
    }
    post.expect_parked("m1", retry(3)).await;
    post.expect("m1", State::Parked, 3).await;
    assert_eq!(post.row("m1").await.lost_leases, 3);
    assert_eq!(post.service.calls_with_one_key(), 3);
    post.close().await;
}

/// The other side may have forgotten the key by now, so a repetition could be a second effect.
#[tokio::test]
async fn past_the_horizon_nothing_is_repeated() {
    let mut post = Post::new().await;
    for abandoned in [false, true] {
        if abandoned {
            post.worker("m1", retry(5)).await.die().await;
            post.expire("m1").await;
        } else {
            post.deliver("m1", retry(5), End::Timeout)
                .await
                .unwrap_err();
        }
        post.set("m1", "first_call_at", -2 * 60 * 60).await;
        post.expect_parked("m1", retry(5)).await;
        assert_eq!(post.service.calls().len(), 1);

        // A person who has asked the other side lets it run again, and the horizon starts anew.
        let id = post.id("m1").await;
        let decided = post.bench.inbox.release(id).await.unwrap();
        assert_eq!(decided, inbox_sqlx::Decided::Done);
        let answer = post.deliver("m1", retry(5), End::Sent).await;
        assert_eq!(answer.unwrap(), Outcome::Processed(()));
        post.expect("m1", State::Processed, 2).await;
        post = post.cleared().await;
    }
}

/// Their plain concatenations are equal.
#[tokio::test]
async fn the_idempotency_key_is_one_per_message_and_consumer() {
    let post = Post::new().await;
    let pairs = [("ab", "c"), ("a", "bc"), ("a:b", "c"), ("a", "b:c")];
    let mut keys = BTreeSet::new();
    for (consumer, key) in pairs {
        let mut of_one = BTreeSet::new();
        for attempt in 1..=2 {
            let claimed = post.bench.inbox.claim(consumer, key, retry(5)).await;
            let TwoPhase::Fresh(claim) = claimed.unwrap() else {
                panic!("{consumer} {key} is a duplicate");
            };
            assert_eq!(claim.attempt(), attempt);
            of_one.insert(claim.idempotency_key().to_owned());
            let result: Result<(), MailError> = Err(MailError::Busy);
            let settled = claim.settle(result, |_| inbox_sqlx::Effect::NotHappened);
            settled.await.unwrap_err();
        }
        assert_eq!(of_one.len(), 1, "the same at every attempt");
        keys.append(&mut of_one);
    }
    assert_eq!(keys.len(), pairs.len());
    assert!(keys.iter().all(|key| key.len() == 64));
    post.close().await;
}

/// Messages of one consumer do not hold up those of another, whatever state they are in.
#[tokio::test]
async fn consumers_do_not_see_each_other() {
    let post = Post::new().await;
    post.deliver("m1", park(5), End::Timeout).await.unwrap_err();
    let claimed = post.bench.inbox.claim("letter", "m1", park(5)).await;
    assert!(matches!(claimed, Ok(TwoPhase::Fresh(_))), "{claimed:?}");
    assert_eq!(post.bench.markers(CONSUMER, "m1").await, 0);
    drop(claimed);
    post.close().await;
}
