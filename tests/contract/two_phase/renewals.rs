//! The lease is renewed while the body runs, by nobody afterwards; who loses it is stopped.

use std::time::Duration;

use inbox_core::two_phase::State;
use inbox_sqlx::{Decided, Error, Outcome};
use tokio::time::{Instant, sleep};

use super::post::{Answer, End, Post, leased, park, retry};
use crate::contract::bench::text;

/// Long enough that a busy machine does not lose it, short enough to wait for.
const LEASE: Duration = Duration::from_millis(1200);

/// Renewed every second, so that a body that is stopped within two was not stopped by the end of the lease.
const LONGER_LEASE: Duration = Duration::from_secs(3);
const SOON: Duration = Duration::from_millis(1900);

fn expect_lease_lost(answer: Answer) {
    let error = answer.unwrap_err();
    assert!(
        matches!(error.inbox(), Error::LeaseLost { .. }),
        "{error:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_of_several_leases_keeps_its_claim() {
    let post = Post::new().await;
    let terms = leased(retry, 5, LEASE);
    let worker = post.worker("m1", terms).await;
    let begun = Instant::now();
    while begun.elapsed() < 3 * LEASE {
        sleep(LEASE / 4).await;
        // It would be taken over otherwise.
        let error = post.deliver("m1", terms, End::Sent).await.unwrap_err();
        assert!(
            matches!(error.inbox(), Error::InProgress { .. }),
            "{error:?}"
        );
    }
    assert_eq!(worker.end(End::Sent).await.unwrap(), Outcome::Processed(()));
    post.expect("m1", State::Processed, 1).await;
    assert_eq!(post.service.calls().len(), 1);
    post.close().await;
}

/// One that went on would keep a message from everybody although nobody works on it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_renews_a_claim_whose_worker_is_gone() {
    let post = Post::new().await;
    let terms = leased(retry, 5, LEASE);
    let worker = post.worker("m1", terms).await;
    sleep(LEASE / 2).await;
    worker.die().await;
    let lease_until = post.row("m1").await.lease_until;
    sleep(LEASE).await;
    assert_eq!(post.row("m1").await.lease_until, lease_until);
    let answer = post.deliver("m1", terms, End::Sent).await;
    assert_eq!(answer.unwrap(), Outcome::Processed(()));
    post.close().await;
}

/// Whatever became of it, no statement of ours follows: the row is locked in vain by nobody, and stays as it is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_renews_a_claim_that_was_settled() {
    let post = Post::new().await;
    for end in [End::Sent, End::Busy, End::NoSuchAddress] {
        let key = format!("{end:?}");
        let worker = post.worker(&key, leased(park, 5, LEASE)).await;
        drop(worker.end(end).await);
        // A renewal of what is not claimed would change nothing; of what looks claimed again it would.
        let after = post.row(&key).await;
        let forged = format!(
            "update inbox set state = 0, processed_at = null, parked_at = null, next_at = null, lease_until = {} \
             where message_id = '{key}'",
            crate::dialect::in_seconds(-60)
        );
        post.bench.observe(&forged).await;
        let lease_until = post.row(&key).await.lease_until;
        sleep(LEASE / 2).await;
        assert_eq!(post.row(&key).await.lease_until, lease_until, "{after:?}");
    }
    post.bench.expect_sane_pool().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_is_stopped_when_an_operator_decides_about_its_message() {
    let post = Post::new().await;
    let worker = post.worker("m1", leased(park, 5, LONGER_LEASE)).await;
    let id = post.id("m1").await;
    // A renewal may come in between.
    loop {
        post.expire("m1").await;
        if post.bench.inbox.release(id).await.unwrap() == Decided::Done {
            break;
        }
    }
    let before = post.row("m1").await;
    post.service.stopped(SOON).await;
    expect_lease_lost(worker.stopped().await);
    assert_eq!(post.row("m1").await, before);
    post.expect("m1", State::Released, 1).await;
    post.close().await;
}

/// A worker that was overtaken is stopped although it does not come to the end of its body by itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_is_stopped_when_another_worker_has_taken_over() {
    let post = Post::new().await;
    let terms = leased(retry, 50, LONGER_LEASE);
    let slow = post.worker("m1", terms).await;
    let other = loop {
        post.expire("m1").await;
        let taken = post.delivery("m1", terms, async {
            sleep(LONGER_LEASE).await;
            End::Sent
        });
        let taken = tokio::spawn(taken);
        sleep(Duration::from_millis(100)).await;
        if !taken.is_finished() {
            break taken;
        }
    };
    post.service.stopped(SOON).await;
    expect_lease_lost(slow.stopped().await);
    assert_eq!(other.await.unwrap().unwrap(), Outcome::Processed(()));
    post.expect("m1", State::Processed, 2).await;
    post.close().await;
}

/// Somebody else's transaction holds the row: renewals wait, as for a database that is slow.
struct Locked<'a>(sqlx::Transaction<'a, crate::Db>);

impl Locked<'_> {
    async fn row(post: &Post) -> Self {
        let mut transaction = post.bench.observer.begin().await.unwrap();
        sqlx::query::<crate::Db>(text(
            "update inbox set received_at = received_at where message_id = 'm1'".into(),
        ))
        .execute(&mut *transaction)
        .await
        .unwrap();
        Self(transaction)
    }
}

/// A renewal that fails is no reason to stop, as long as nobody else can have the message.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn renewals_that_fail_for_less_than_the_lease_do_no_harm() {
    let post = Post::new().await;
    let worker = post.worker("m1", leased(retry, 5, LEASE)).await;
    sleep(LEASE / 6).await;
    let locked = Locked::row(&post).await;
    sleep(LEASE / 2).await;
    locked.0.rollback().await.unwrap();
    sleep(LEASE).await;
    assert!(!worker.delivery.is_finished(), "it was stopped");
    assert_eq!(worker.end(End::Sent).await.unwrap(), Outcome::Processed(()));
    post.expect("m1", State::Processed, 1).await;
    post.close().await;
}

/// From then on others may work on it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_is_stopped_when_its_lease_could_not_be_renewed_in_time() {
    let post = Post::new().await;
    let terms = leased(retry, 5, LEASE);
    let worker = post.worker("m1", terms).await;
    let locked = Locked::row(&post).await;
    let took = post.service.stopped(3 * LEASE).await;
    assert!(took < 2 * LEASE, "stopped only after {took:?}");
    assert!(took >= LEASE / 2, "stopped already after {took:?}");
    locked.0.rollback().await.unwrap();
    expect_lease_lost(worker.stopped().await);

    let answer = post.deliver_when_expired("m1", terms).await;
    assert_eq!(answer.unwrap(), Outcome::Processed(()));
    post.expect("m1", State::Processed, 2).await;
    post.close().await;
}
