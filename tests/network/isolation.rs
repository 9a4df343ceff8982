//! Sessions whose own isolation level is above read committed: the loser of a race is still a duplicate.

use inbox_sqlx::{Inbox, Outcome};
use sqlx::Pool;

use crate::{
    Db,
    contract::{
        bench::{Bench, Kept, run},
        delivery::{End, Holder, expect_waiting, spawn_credit},
    },
    dialect::{self, faults},
};

/// Pools of one connection, whose session has been told the level.
async fn pool(url: &str, level: &'static str) -> Pool<Db> {
    let pool = dialect::pool(url, 1).await;
    let mut connection = pool.acquire().await.unwrap();
    run(&mut connection, level).await.unwrap();
    drop(connection);
    pool
}

#[tokio::test]
async fn the_loser_is_a_duplicate_at_every_isolation_level() {
    for &level in faults::ISOLATION_LEVELS {
        let database = dialect::fresh_database().await;
        let ours = Inbox::new(pool(database.url(), level).await);
        let other = Inbox::new(pool(database.url(), level).await);
        let bench = Bench::around(ours, database).await;

        let winner = Holder::claim(&bench.inbox, "m1").await;
        let loser = spawn_credit(&other, "m1");
        expect_waiting(&loser).await;
        let won = winner.end(End::Ok).await.unwrap();
        assert_eq!(won.unwrap(), Outcome::Processed(()), "{level}");
        assert_eq!(loser.await.unwrap().unwrap(), Outcome::Duplicate, "{level}");
        bench.expect("m1", Kept::Once).await;

        let winner = Holder::claim(&bench.inbox, "m2").await;
        let loser = spawn_credit(&other, "m2");
        expect_waiting(&loser).await;
        winner.end(End::Err).await.unwrap().unwrap_err();
        let answer = loser.await.unwrap();
        assert_eq!(answer.unwrap(), Outcome::Processed(()), "{level}");
        bench.expect("m2", Kept::Once).await;
    }
}

/// The handler's level is its own affair: the next user of the session finds what was set there.
#[tokio::test]
async fn the_session_keeps_its_isolation_level() {
    for &level in faults::ISOLATION_LEVELS {
        let database = dialect::fresh_database().await;
        let pool = pool(database.url(), level).await;
        let before: String = sqlx::query_scalar(faults::ISOLATION_LEVEL)
            .fetch_one(&pool)
            .await
            .unwrap();
        let bench = Bench::around(Inbox::new(pool), database).await;
        bench.credit("m1").await.unwrap();
        bench.credit("m1").await.unwrap();
        let after: String = sqlx::query_scalar(faults::ISOLATION_LEVEL)
            .fetch_one(bench.inbox.pool())
            .await
            .unwrap();
        assert_eq!(after, before, "{level}");
        bench.expect("m1", Kept::Once).await;
    }
}
