//! On a pool that the application shares with us, and whose connections it hands back in a bad state, a claim and a
//! record are committed all the same.

use inbox_core::two_phase::State;
use inbox_sqlx::Outcome;
use sqlx::pool::PoolConnection;

use super::post::{End, MailError, Post, park, retry};
use crate::{
    Db,
    contract::shared_pool::{
        bench_with_one_connection, leave_a_transaction_nobody_knows,
        leave_a_transaction_that_is_not_there,
    },
};

/// What the application leaves on the only connection.
#[derive(Debug, Clone, Copy)]
enum Left {
    NotThere,
    Unknown,
}

impl Left {
    async fn behind(self, post: &Post) {
        let mut connection = post.bench.inbox.pool().acquire().await.unwrap();
        match self {
            Self::NotThere => leave_a_transaction_that_is_not_there(&mut connection).await,
            Self::Unknown => leave_a_transaction_nobody_knows(&mut connection).await,
        }
    }
}

/// A bare autocommit statement would answer "one row" and never be committed.
#[tokio::test]
async fn a_claim_and_a_record_are_committed_whatever_the_application_left_behind() {
    let mut post = Post::on(bench_with_one_connection().await).await;
    for left in [Left::NotThere, Left::Unknown] {
        left.behind(&post).await;
        let worker = post.worker("m1", retry(5)).await;
        post.expect("m1", State::Claimed, 1).await;

        left.behind(&post).await;
        let answer = worker.end(End::Sent).await;
        assert_eq!(answer.unwrap(), Outcome::Processed(()), "{left:?}");
        post.expect("m1", State::Processed, 1).await;

        left.behind(&post).await;
        post.expect_duplicate("m1", retry(5)).await;
        post = post.cleared().await;
    }
}

#[tokio::test]
async fn a_release_and_a_parking_are_committed_whatever_the_application_left_behind() {
    let mut post = Post::on(bench_with_one_connection().await).await;
    for left in [Left::NotThere, Left::Unknown] {
        for (end, state) in [
            (End::Busy, State::Released),
            (End::NoSuchAddress, State::Parked),
        ] {
            let worker = post.worker("m1", park(5)).await;
            left.behind(&post).await;
            let error = worker.end(end).await.unwrap_err();
            assert!(!matches!(error, MailError::Inbox(_)), "{error:?}");
            post.expect("m1", state, 1).await;
            post = post.cleared().await;
        }
    }
}

/// Found by its own claim, under the only connection's open transaction.
#[tokio::test]
async fn an_abandoned_claim_is_parked_whatever_the_application_left_behind() {
    let mut post = Post::on(bench_with_one_connection().await).await;
    for left in [Left::NotThere, Left::Unknown] {
        post.worker("m1", park(5)).await.die().await;
        post.expire("m1").await;
        left.behind(&post).await;
        post.expect_parked("m1", park(5)).await;
        post = post.cleared().await;
    }
}

/// `Inbox::connect` opens a pool of its own, and `Inbox::pool` hands it out: from then on it is as good as shared.
#[tokio::test]
async fn a_pool_of_our_own_counts_as_shared_once_it_was_handed_out() {
    let mut post = Post::new().await;
    for _ in 0..2 {
        for connection in &mut all_connections(&post).await {
            leave_a_transaction_nobody_knows(connection).await;
        }
        let worker = post.worker("m1", retry(5)).await;
        post.expect("m1", State::Claimed, 1).await;
        let answer = worker.end(End::Sent).await;
        assert_eq!(answer.unwrap(), Outcome::Processed(()));
        post.expect("m1", State::Processed, 1).await;

        // What is left on connections that we had no use for is the application's.
        for connection in all_connections(&post).await {
            connection.close().await.unwrap();
        }
        post = post.cleared().await;
    }
}

/// Those that the pool has open; on SQLite it is one.
async fn all_connections(post: &Post) -> Vec<PoolConnection<Db>> {
    let pool = post.bench.inbox.pool();
    let mut connections = Vec::new();
    for _ in 0..pool.size() {
        connections.push(pool.acquire().await.unwrap());
    }
    connections
}
