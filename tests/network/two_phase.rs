//! The two-phase mode on a network that loses answers, stalls, and is gone.

use std::time::Duration;

use inbox_core::two_phase::State;
use inbox_sqlx::{Error, Inbox, Outcome, Terms};
use tokio::time::sleep;

use crate::{
    Db,
    contract::{
        bench::Bench,
        two_phase::post::{End, MailError, Post, leased, park, retry},
    },
    dialect::{self, leases::FIRST_CLAIM_OF_ROW_1},
    support::proxy::{Ending, Fault, Proxy},
};

const KEY: &str = "message-1";

/// Whose pool the inbox works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pool {
    /// Its own: a statement commits by itself.
    Own,
    /// The application's: every statement has a transaction around it.
    Shared,
}

/// A post whose inbox reaches its database through a proxy.
async fn proxied(pool: Pool) -> (Post, Proxy) {
    let database = dialect::fresh_database().await;
    let proxy = Proxy::start(database.url()).await;
    let inbox = match pool {
        Pool::Own => Inbox::connect(proxy.url()).await.unwrap(),
        Pool::Shared => Inbox::<Db>::new(dialect::impatient_pool(proxy.url(), 1).await),
    };
    (Post::on(Bench::around(inbox, database).await).await, proxy)
}

const POOLS: [Pool; 2] = [Pool::Own, Pool::Shared];

/// Every way to lose something.
const LOSSES: [Fault; 4] = [
    Fault::CutBefore(Ending::Reset),
    Fault::CutBefore(Ending::Close),
    Fault::CutAfter(Ending::Reset),
    Fault::CutAfter(Ending::Close),
];

/// What a claim and a record say last, by which they are committed.
fn commits(pool: Pool, by_itself: &'static str) -> &'static str {
    match pool {
        Pool::Own => by_itself,
        Pool::Shared => "release savepoint",
    }
}

/// The claim is tried again with the same token, and finds nothing or itself: never "somebody else's", never twice.
#[tokio::test]
async fn a_claim_whose_answer_is_lost_runs_its_body_once() {
    for pool in POOLS {
        let (mut post, proxy) = proxied(pool).await;
        for fault in LOSSES {
            proxy.arm(fault, commits(pool, KEY));
            let answer = post.deliver(KEY, park(5), End::Sent).await;
            proxy.fired().await;
            assert_eq!(
                answer.unwrap(),
                Outcome::Processed(()),
                "{pool:?} {fault:?}"
            );
            post.expect(KEY, State::Processed, 1).await;
            assert_eq!(post.row(KEY).await.fence, 1, "{pool:?} {fault:?}");
            assert_eq!(post.service.calls().len(), 1);
            post.expect_duplicate(KEY, park(5)).await;
            post = post.cleared().await;
        }
    }
}

/// The same when it takes over.
#[tokio::test]
async fn a_take_over_whose_answer_is_lost_runs_its_body_once() {
    for pool in POOLS {
        let (mut post, proxy) = proxied(pool).await;
        for fault in LOSSES {
            post.worker(KEY, retry(5)).await.die().await;
            post.expire(KEY).await;
            proxy.arm(fault, commits(pool, KEY));
            let answer = post.deliver(KEY, retry(5), End::Sent).await;
            proxy.fired().await;
            assert_eq!(
                answer.unwrap(),
                Outcome::Processed(()),
                "{pool:?} {fault:?}"
            );
            post.expect(KEY, State::Processed, 2).await;
            assert_eq!(post.row(KEY).await.fence, 2, "{pool:?} {fault:?}");
            assert_eq!(post.service.calls_with_one_key(), 2);
            post = post.cleared().await;
        }
    }
}

#[tokio::test]
async fn a_record_whose_answer_is_lost_finds_itself() {
    for pool in POOLS {
        let (mut post, proxy) = proxied(pool).await;
        for fault in LOSSES {
            let worker = post.worker(KEY, park(5)).await;
            assert_eq!(post.id(KEY).await, 1);
            proxy.arm(fault, commits(pool, FIRST_CLAIM_OF_ROW_1));
            let answer = worker.end(End::Sent).await;
            proxy.fired().await;
            assert_eq!(
                answer.unwrap(),
                Outcome::Processed(()),
                "{pool:?} {fault:?}"
            );
            post.expect(KEY, State::Processed, 1).await;
            post.expect_duplicate(KEY, park(5)).await;
            assert_eq!(post.service.calls().len(), 1);
            post = post.cleared().await;
        }
    }
}

/// Put back, or not: the caller gets the body's own error, and what could not be noted counts as unknown.
#[tokio::test]
async fn a_release_whose_answer_is_lost_is_never_acknowledged() {
    for pool in POOLS {
        let (mut post, proxy) = proxied(pool).await;
        for fault in LOSSES {
            let worker = post.worker(KEY, park(5)).await;
            proxy.arm(fault, commits(pool, FIRST_CLAIM_OF_ROW_1));
            let error = worker.end(End::Busy).await.unwrap_err();
            proxy.fired().await;
            assert!(matches!(error, MailError::Busy), "{error:?}");
            match State::from_column(post.row(KEY).await.state) {
                Some(State::Released) => {
                    let answer = post.deliver(KEY, park(5), End::Sent).await;
                    assert_eq!(answer.unwrap(), Outcome::Processed(()));
                }
                Some(State::Claimed) => {
                    post.expire(KEY).await;
                    post.expect_parked(KEY, park(5)).await;
                }
                other => panic!("{other:?} {pool:?} {fault:?}"),
            }
            post = post.cleared().await;
        }
    }
}

/// The effect has happened, and nobody could be told: unknown, never acknowledged, the claim kept.
#[tokio::test]
async fn a_database_that_is_gone_when_the_effect_has_happened_leaves_the_claim() {
    for terms in [park, retry] as [fn(u32) -> Terms; 2] {
        let (mut post, proxy) = proxied(Pool::Shared).await;
        let worker = post.worker(KEY, terms(5)).await;
        drop(proxy);
        let error = worker.end(End::Sent).await.unwrap_err();
        assert!(matches!(error.inbox(), Error::Unknown { .. }), "{error:?}");
        assert!(error.inbox().is_transient());

        post.bench.inbox = Inbox::connect(post.bench.database.url()).await.unwrap();
        post.expect(KEY, State::Claimed, 1).await;
        post.expect_in_progress(KEY, terms(5), 40..=67).await;
        post.expire(KEY).await;
        if terms(5).policy().horizon().is_some() {
            let answer = post.deliver(KEY, terms(5), End::Sent).await;
            assert_eq!(answer.unwrap(), Outcome::Processed(()));
            assert_eq!(post.service.calls_with_one_key(), 2);
        } else {
            post.expect_parked(KEY, terms(5)).await;
            assert_eq!(post.service.calls().len(), 1, "at most once");
        }
        post.close().await;
    }
}

/// Long enough that a busy machine does not lose it, short enough to wait for.
const LEASE: Duration = Duration::from_millis(1200);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_network_that_stalls_for_less_than_the_lease_does_no_harm() {
    let (post, proxy) = proxied(Pool::Own).await;
    let worker = post.worker(KEY, leased(retry, 5, LEASE)).await;
    sleep(LEASE / 6).await;
    proxy.stall();
    sleep(LEASE / 2).await;
    proxy.resume();
    sleep(LEASE).await;
    assert!(!worker.delivery.is_finished(), "it was stopped");
    assert_eq!(worker.end(End::Sent).await.unwrap(), Outcome::Processed(()));
    post.expect(KEY, State::Processed, 1).await;
    post.close().await;
}

/// From then on others may work on it, for all this worker knows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_is_stopped_by_the_local_clock_when_the_network_stalls_for_longer() {
    let (post, proxy) = proxied(Pool::Own).await;
    let terms = leased(retry, 5, LEASE);
    let worker = post.worker(KEY, terms).await;
    proxy.stall();
    let took = post.service.stopped(3 * LEASE).await;
    assert!(took < 2 * LEASE, "stopped only after {took:?}");
    assert!(took >= LEASE / 2, "stopped already after {took:?}");
    proxy.resume();
    let error = worker.stopped().await.unwrap_err();
    assert!(
        matches!(error.inbox(), Error::LeaseLost { .. }),
        "{error:?}"
    );

    let answer = post.deliver_when_expired(KEY, terms).await;
    assert_eq!(answer.unwrap(), Outcome::Processed(()));
    post.expect(KEY, State::Processed, 2).await;
    assert_eq!(post.service.calls_with_one_key(), 2);
    post.close().await;
}

/// Not a byte goes to the server on behalf of a claim that has ended.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_sent_after_the_end_of_a_claim() {
    let (post, proxy) = proxied(Pool::Own).await;
    let lease = Duration::from_millis(300);
    for end in [Some(End::Sent), Some(End::Busy), Some(End::Timeout), None] {
        let key = format!("{end:?}");
        let worker = post.worker(&key, leased(park, 5, lease)).await;
        match end {
            Some(end) => drop(worker.end(end).await),
            None => worker.die().await,
        }
        let before = proxy.quiet_flights().await;
        sleep(2 * lease).await;
        assert_eq!(proxy.flights(), before, "{end:?}");
    }
    post.close().await;
}
