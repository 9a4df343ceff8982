//! The handler's future is dropped at every place where it can be: the message ends processed, parked or claimable, as
//! its policy says, and is never acknowledged unless it is processed.

use inbox_core::{Consumer, Key, idempotency_key, two_phase::State};
use inbox_sqlx::{Error, Inbox, Outcome, Terms};

use super::{
    post::{End, Post, park, retry},
    stored::CONSUMER,
};
use crate::{
    contract::{
        bench::Bench,
        cancellation::Drops,
        delivery::{after_polls, slow_bench},
    },
    dialect::{self, faults::SlowLink},
};

/// On a pool of the inbox's own, where a statement commits by itself.
#[tokio::test]
async fn dropped_at_every_await_point_of_an_own_pool() {
    for terms in [park, retry] as [fn(u32) -> Terms; 2] {
        let database = dialect::fresh_database().await;
        let link = SlowLink::to(&database).await;
        let inbox = Inbox::connect(link.url()).await.unwrap();
        let post = Post::on(Bench::around(inbox, database).await).await;
        dropped_at_every_await_point(post, terms, End::Sent).await;
    }
}

/// On the application's, where each statement has a transaction around it.
#[tokio::test]
async fn dropped_at_every_await_point_of_a_shared_pool() {
    for terms in [park, retry] as [fn(u32) -> Terms; 2] {
        let (bench, _slow) = slow_bench(1).await;
        let post = Post::on(bench).await;
        dropped_at_every_await_point(post, terms, End::Sent).await;
    }
}

/// A failing body's call writes something else at its end.
#[tokio::test]
async fn a_failure_dropped_at_every_await_point_is_claimable_again() {
    let (bench, _slow) = slow_bench(1).await;
    dropped_at_every_await_point(Post::on(bench).await, retry, End::Busy).await;
}

async fn dropped_at_every_await_point(post: Post, terms: fn(u32) -> Terms, end: End) {
    let ended = match end {
        End::Sent => State::Processed,
        _ => State::Released,
    };
    let mut drops = Drops::default();
    let mut seen = Vec::new();
    while let Some(points) = drops.next() {
        let key = format!("m{points}");
        let delivery = post.delivery(&key, terms(5), async move {
            tokio::task::yield_now().await;
            end
        });
        let answer = after_polls(points, delivery).await;
        post.bench.expect_sane_pool().await;
        drops.ended(answer.is_some());
        if let Some(answer) = answer {
            assert_eq!(answer.is_ok(), end == End::Sent, "{answer:?}");
            post.expect(&key, ended, 1).await;
        }
        seen.push(post.find(&key).await);
        redeliver(&post, &key, terms(5)).await;
    }
    // A claim that was dropped half-way may come to its end all the same, and SQLite's always does.
    for state in [State::Claimed, ended] {
        assert!(seen.contains(&Some(state)), "{state:?} of {seen:?}");
    }
    post.close().await;
}

/// What the broker does with a message that nobody acknowledged.
async fn redeliver(post: &Post, key: &str, terms: Terms) {
    let repeats = terms.policy().horizon().is_some();
    let mut expired = false;
    loop {
        let before = post.find(key).await;
        match post.deliver(key, terms, End::Sent).await {
            Ok(Outcome::Duplicate) => {
                // Or the statement was still on its way when we looked.
                assert!(before != Some(State::Parked) && !expired, "{before:?}");
                break;
            }
            Ok(_) => {
                assert!(repeats || !expired, "a second call");
                break;
            }
            Err(error) => match error.inbox() {
                Error::InProgress { .. } if !expired => post.expire(key).await,
                Error::Parked { .. } if expired && !repeats => {
                    post.expect(key, State::Parked, 1).await;
                    assert!(post.calls_for(key) <= 1, "at most once");
                    return;
                }
                other => panic!("{other:?}, found {before:?}"),
            },
        }
        expired = true;
    }
    assert_eq!(post.bench.markers(CONSUMER, key).await, 1);
}

impl Post {
    async fn find(&self, key: &str) -> Option<State> {
        let there = "select count(*) from inbox where message_id = ?";
        match self.bench.number(there, &[key]).await {
            0 => None,
            _ => State::from_column(self.row(key).await.state),
        }
    }

    fn calls_for(&self, key: &str) -> usize {
        let consumer = Consumer::new(CONSUMER).unwrap();
        let wanted = idempotency_key(&consumer, &Key::new(key).unwrap());
        let calls = self.service.calls();
        calls
            .iter()
            .filter(|call| call.idempotency_key == wanted)
            .count()
    }
}
