//! What `support` promises of SQLite databases.

use sqlx::{Connection, SqliteConnection};

use crate::support::sqlite;

#[tokio::test]
async fn every_test_has_a_database_of_its_own() {
    let (one, other) = (
        sqlite::fresh_database().await,
        sqlite::fresh_database().await,
    );
    for database in [&one, &other] {
        let mut connection = SqliteConnection::connect(database.url()).await.unwrap();
        sqlx::query("create table t (id integer primary key)")
            .execute(&mut connection)
            .await
            .unwrap();
        connection.close().await.unwrap();
        assert!(std::fs::exists(database.name()).unwrap());
    }
    let path = one.name().to_owned();
    drop(one);
    assert!(!std::fs::exists(path).unwrap());
}
