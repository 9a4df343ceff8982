//! Pools that the application shares with us, and whose connections it hands back in a bad state.

use inbox_sqlx::{Inbox, Outcome};
use sqlx::Connection as _;

use super::bench::{Bench, HandlerError, Kept, run};
use crate::{Conn, dialect};

/// `COMMIT` as text in a transaction of the driver: afterwards the driver counts a transaction that is not there, and
/// on SQLite hands the connection to the next user, whose writes would be lost.
pub(crate) async fn leave_a_transaction_that_is_not_there(connection: &mut Conn) {
    let mut transaction = connection.begin().await.unwrap();
    run(&mut transaction, "insert into plain (note) values ('x')")
        .await
        .unwrap();
    run(&mut transaction, "commit").await.unwrap();
    drop(transaction.commit().await);
}

/// `BEGIN` as text: afterwards there is a transaction that the driver does not know.
pub(crate) async fn leave_a_transaction_nobody_knows(connection: &mut Conn) {
    sqlx::raw_sql("begin")
        .execute(&mut *connection)
        .await
        .unwrap();
    run(connection, "insert into plain (note) values ('x')")
        .await
        .unwrap();
}

pub(crate) async fn bench_with_one_connection() -> Bench {
    let database = dialect::fresh_database().await;
    let pool = dialect::pool(database.url(), 1).await;
    Bench::around(Inbox::new(pool), database).await
}

#[tokio::test]
async fn a_raw_commit_of_the_application_does_not_lose_our_work() {
    let bench = bench_with_one_connection().await;
    for (key, again) in [("m1", Outcome::Processed(())), ("m1", Outcome::Duplicate)] {
        let mut connection = bench.inbox.pool().acquire().await.unwrap();
        leave_a_transaction_that_is_not_there(&mut connection).await;
        drop(connection);
        assert_eq!(bench.credit(key).await.unwrap(), again);
        bench.expect(key, Kept::Once).await;
    }
}

#[tokio::test]
async fn a_raw_commit_of_the_application_does_not_keep_failed_work() {
    let bench = bench_with_one_connection().await;
    let mut connection = bench.inbox.pool().acquire().await.unwrap();
    leave_a_transaction_that_is_not_there(&mut connection).await;
    drop(connection);
    let failed = bench
        .deliver("m1", async |_| Err(HandlerError::Business))
        .await;
    assert!(matches!(failed, Err(HandlerError::Business)), "{failed:?}");
    bench.expect("m1", Kept::Nothing).await;
}

#[tokio::test]
async fn an_open_transaction_of_the_application_does_not_lose_our_work() {
    let bench = bench_with_one_connection().await;
    for (key, again) in [("m1", Outcome::Processed(())), ("m1", Outcome::Duplicate)] {
        let mut connection = bench.inbox.pool().acquire().await.unwrap();
        leave_a_transaction_nobody_knows(&mut connection).await;
        drop(connection);
        assert_eq!(bench.credit(key).await.unwrap(), again);
        bench.expect(key, Kept::Once).await;
    }
}

#[tokio::test]
async fn an_open_transaction_of_the_application_does_not_keep_failed_work() {
    let bench = bench_with_one_connection().await;
    let mut connection = bench.inbox.pool().acquire().await.unwrap();
    leave_a_transaction_nobody_knows(&mut connection).await;
    drop(connection);
    let failed = bench
        .deliver("m1", async |_| Err(HandlerError::Business))
        .await;
    assert!(matches!(failed, Err(HandlerError::Business)), "{failed:?}");
    bench.expect("m1", Kept::Nothing).await;
}
