//! Workers that come back after their lease: whoever was replaced changes nothing, whoever was not is still the one.

use inbox_core::two_phase::State;
use inbox_sqlx::{Decided, Error, Outcome, Sweeper, Terms};

use super::post::{Answer, End, MailError, Post, park, retry};

fn expect_lease_lost(answer: Answer) {
    let error = answer.unwrap_err();
    assert!(
        matches!(error.inbox(), Error::LeaseLost { .. }),
        "{error:?}"
    );
    let disposition = inbox_sqlx::Disposition::of(&error);
    assert_eq!(disposition, inbox_sqlx::Disposition::Retry { after: None });
}

/// Whatever the late one has to say: the row belongs to the other one.
#[tokio::test]
async fn a_slow_worker_that_was_overtaken_changes_nothing_while_the_other_works() {
    let mut post = Post::new().await;
    for end in [
        End::Sent,
        End::Busy,
        End::NoSuchAddress,
        End::Timeout,
        End::Panic,
    ] {
        let slow = post.worker("m1", retry(5)).await;
        post.expire("m1").await;
        let other = post.worker("m1", retry(5)).await;
        let before = post.row("m1").await;

        match (end, slow.try_end(end).await) {
            (End::Sent, Ok(answer)) => expect_lease_lost(answer),
            (End::Panic, Err(panicked)) => assert!(panicked.is_panic()),
            // Its own error says it best, and says not to acknowledge.
            (End::Busy, Ok(Err(MailError::Busy)))
            | (End::NoSuchAddress, Ok(Err(MailError::NoSuchAddress)))
            | (End::Timeout, Ok(Err(MailError::Timeout))) => {}
            other => panic!("{other:?}"),
        }
        assert_eq!(post.row("m1").await, before, "{end:?}");
        post.expect_in_progress("m1", retry(5), 50..=67).await;

        assert_eq!(other.end(End::Sent).await.unwrap(), Outcome::Processed(()));
        post.expect("m1", State::Processed, 2).await;
        assert_eq!(post.service.calls_with_one_key(), 2);
        post = post.cleared().await;
    }
}

#[tokio::test]
async fn a_slow_worker_that_was_overtaken_is_a_duplicate_when_the_other_is_done() {
    let mut post = Post::new().await;
    for end in [End::Sent, End::Busy, End::NoSuchAddress, End::Timeout] {
        let slow = post.worker("m1", retry(5)).await;
        post.expire("m1").await;
        let answer = post.deliver("m1", retry(5), End::Sent).await;
        assert_eq!(answer.unwrap(), Outcome::Processed(()));
        let before = post.row("m1").await;

        assert_eq!(slow.end(end).await.unwrap(), Outcome::Duplicate, "{end:?}");
        assert_eq!(post.row("m1").await, before, "{end:?}");
        post = post.cleared().await;
    }
}

/// What the other one released or parked is not the late one's to end either.
#[tokio::test]
async fn a_slow_worker_does_not_undo_what_the_other_one_could_not_finish() {
    let mut post = Post::new().await;
    for (end, state) in [
        (End::Busy, State::Released),
        (End::NoSuchAddress, State::Parked),
    ] {
        let slow = post.worker("m1", retry(5)).await;
        post.expire("m1").await;
        post.deliver("m1", retry(5), end).await.unwrap_err();
        let before = post.row("m1").await;

        expect_lease_lost(slow.end(End::Sent).await);
        assert_eq!(post.row("m1").await, before);
        post.expect("m1", state, 2).await;
        post = post.cleared().await;
    }
}

/// The lease is a right of others to take over, not a deadline of one's own.
#[tokio::test]
async fn a_slow_worker_that_nobody_overtook_is_still_the_one() {
    let mut post = Post::new().await;
    for terms in [park, retry] as [fn(u32) -> Terms; 2] {
        for (end, state) in [
            (End::Sent, State::Processed),
            (End::Busy, State::Released),
            (End::NoSuchAddress, State::Parked),
        ] {
            let slow = post.worker("m1", terms(5)).await;
            post.expire("m1").await;
            assert_eq!(slow.end(end).await.is_ok(), end == End::Sent);
            post.expect("m1", state, 1).await;
            assert_eq!(post.row("m1").await.lost_leases, 0);
            post = post.cleared().await;
        }
    }
}

/// An unknown outcome has become a known one.
#[tokio::test]
async fn a_worker_that_was_swept_and_then_succeeds_records_it() {
    let mut post = Post::new().await;
    for (terms, swept) in [(park(5), State::Parked), (retry(5), State::Released)] {
        let slow = post.worker("m1", terms).await;
        post.expire("m1").await;
        Sweeper::new(&post.bench.inbox).sweep_once().await.unwrap();
        post.expect("m1", swept, 1).await;

        assert_eq!(slow.end(End::Sent).await.unwrap(), Outcome::Processed(()));
        post.expect("m1", State::Processed, 1).await;
        post.expect_duplicate("m1", terms).await;
        post = post.cleared().await;
    }
}

#[tokio::test]
async fn a_worker_whose_message_a_redelivery_parked_records_its_success() {
    let post = Post::new().await;
    let slow = post.worker("m1", park(5)).await;
    post.expire("m1").await;
    post.expect_parked("m1", park(5)).await;

    assert_eq!(slow.end(End::Sent).await.unwrap(), Outcome::Processed(()));
    post.expect("m1", State::Processed, 1).await;
    post.expect_duplicate("m1", park(5)).await;
    post.close().await;
}

/// Only a success is news: that it failed was assumed already.
#[tokio::test]
async fn a_worker_that_was_swept_and_then_fails_changes_nothing() {
    let mut post = Post::new().await;
    for end in [End::Busy, End::NoSuchAddress, End::Timeout] {
        let slow = post.worker("m1", retry(5)).await;
        post.expire("m1").await;
        Sweeper::new(&post.bench.inbox).sweep_once().await.unwrap();
        let before = post.row("m1").await;
        slow.end(end).await.unwrap_err();
        assert_eq!(post.row("m1").await, before, "{end:?}");
        post = post.cleared().await;
    }
}

/// A person who decides moves the fence, so that nobody's late success undoes it.
#[tokio::test]
async fn a_worker_whose_message_an_operator_released_changes_nothing() {
    let post = Post::new().await;
    let slow = post.worker("m1", park(1)).await;
    post.expire("m1").await;
    Sweeper::new(&post.bench.inbox).sweep_once().await.unwrap();
    post.expect("m1", State::Parked, 1).await;
    let id = post.id("m1").await;
    assert_eq!(post.bench.inbox.release(id).await.unwrap(), Decided::Done);
    let before = post.row("m1").await;

    expect_lease_lost(slow.end(End::Sent).await);
    assert_eq!(post.row("m1").await, before);
    let answer = post.deliver("m1", park(1), End::Sent).await;
    assert_eq!(answer.unwrap(), Outcome::Processed(()));
    post.expect("m1", State::Processed, 2).await;
    post.close().await;
}
