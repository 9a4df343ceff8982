//! One writer at a time: who waits for it, and who is told that it is busy.

use std::{str::FromStr as _, time::Duration};

use inbox_sqlx::{Disposition, Error, Inbox, Outcome};
use sqlx::{
    Connection as _, Pool, Sqlite, SqliteConnection, raw_sql,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions},
};

use crate::{
    contract::bench::{Bench, CONSUMER, Kept, deliver, run},
    dialect,
    support::database::TestDatabase,
};

async fn pool(database: &TestDatabase, mode: SqliteJournalMode, busy: Duration) -> Pool<Sqlite> {
    let options = SqliteConnectOptions::from_str(database.url())
        .unwrap()
        .journal_mode(mode)
        .busy_timeout(busy);
    SqlitePoolOptions::new()
        .max_connections(8)
        .connect_with(options)
        .await
        .unwrap()
}

/// A transaction that reads first and writes later fails at once when somebody else wrote in between, whatever the
/// busy timeout. Ours takes the write lock when it begins.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn eight_handlers_that_read_first_are_all_processed() {
    for mode in [SqliteJournalMode::Wal, SqliteJournalMode::Delete] {
        let database = dialect::fresh_database().await;
        let pool = pool(&database, mode, Duration::from_secs(30)).await;
        let bench = Bench::around(Inbox::new(pool), database).await;
        let mut workers = tokio::task::JoinSet::new();
        for worker in 0..8 {
            let inbox = bench.inbox.clone();
            workers.spawn(async move {
                for number in 0..15 {
                    let key = format!("{worker}-{number}");
                    let outcome = deliver(&inbox, CONSUMER, &key, async |connection| {
                        let balance: i64 =
                            sqlx::query_scalar("select balance from accounts where id = 2")
                                .fetch_one(&mut *connection)
                                .await?;
                        sqlx::query("update accounts set balance = ?1 where id = 2")
                            .bind(balance + 1)
                            .execute(connection)
                            .await?;
                        Ok(())
                    })
                    .await;
                    assert_eq!(outcome.unwrap(), Outcome::Processed(()), "{mode:?}");
                }
            });
        }
        while let Some(worker) = workers.join_next().await {
            worker.unwrap();
        }
        let balance = "select balance from accounts where id = 2";
        assert_eq!(bench.number(balance, &[]).await, 120, "{mode:?}");
        assert_eq!(bench.number("select count(*) from inbox", &[]).await, 120);
    }
}

/// Nothing has begun then, so that it is safe to come again.
#[tokio::test]
async fn a_writer_that_is_busy_for_too_long_makes_the_claim_transient() {
    let database = dialect::fresh_database().await;
    let pool = pool(
        &database,
        SqliteJournalMode::Wal,
        Duration::from_millis(100),
    )
    .await;
    let bench = Bench::around(Inbox::new(pool), database).await;
    let mut writer = SqliteConnection::connect(bench.database.url())
        .await
        .unwrap();
    raw_sql("begin immediate; insert into plain values ('w')")
        .execute(&mut writer)
        .await
        .unwrap();

    let mut ran = false;
    let error = bench
        .deliver("m1", async |_| {
            ran = true;
            Ok(())
        })
        .await
        .unwrap_err();
    let Error::Database(database) = error.inbox() else {
        panic!("{error:?}");
    };
    assert_eq!(code(database), "5");
    assert!(!ran && error.inbox().is_transient());
    assert_eq!(Disposition::of(&error), Disposition::Retry { after: None });
    // Reading waits for nobody.
    assert_eq!(bench.inbox.status(CONSUMER, "m1").await.unwrap(), None);

    raw_sql("rollback").execute(&mut writer).await.unwrap();
    bench.expect("m1", Kept::Nothing).await;
    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
}

/// What our own transactions avoid, and a body's other connections may meet.
#[tokio::test]
async fn a_stale_snapshot_is_transient() {
    let database = dialect::fresh_database().await;
    let pool = pool(
        &database,
        SqliteJournalMode::Wal,
        Duration::from_millis(100),
    )
    .await;
    let bench = Bench::around(Inbox::new(pool), database).await;
    let mut reader = SqliteConnection::connect(bench.database.url())
        .await
        .unwrap();
    raw_sql("begin").execute(&mut reader).await.unwrap();
    raw_sql("select count(*) from plain")
        .fetch_one(&mut reader)
        .await
        .unwrap();
    bench.credit("m1").await.unwrap();
    let error = run(&mut reader, "insert into plain values ('w')")
        .await
        .unwrap_err();
    assert_eq!(code(&error), "517");
    assert!(Error::Database(error).is_transient());
    reader.close().await.unwrap();
}

fn code(error: &sqlx::Error) -> String {
    error
        .as_database_error()
        .unwrap()
        .code()
        .unwrap()
        .into_owned()
}
