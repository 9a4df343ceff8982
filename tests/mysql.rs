//! Everything the inbox promises, on MariaDB, or on MySQL when `INBOX_TEST_MYSQL_URL` names one.

#![expect(
    clippy::unwrap_used,
    reason = "in a test, an error nobody expects is a failure"
)]

mod support;

use sqlx::{Connection, MySqlConnection};
use support::mysql;
use support::process::roles;

roles! {}

#[tokio::test]
async fn every_test_has_a_database_of_its_own() {
    let (one, other) = (mysql::fresh_database().await, mysql::fresh_database().await);
    for database in [&one, &other] {
        let mut connection = MySqlConnection::connect(database.url()).await.unwrap();
        sqlx::query("create table t (id bigint primary key)")
            .execute(&mut connection)
            .await
            .unwrap();
        connection.close().await.unwrap();
    }
    let url = one.url().to_owned();
    drop(one);
    MySqlConnection::connect(&url).await.unwrap_err();
}

#[tokio::test]
async fn an_application_is_not_root() {
    let database = mysql::fresh_database().await;
    for (url, sees_users) in [(database.url(), false), (database.admin_url(), true)] {
        let mut connection = MySqlConnection::connect(url).await.unwrap();
        let name: String = sqlx::query_scalar("select database()")
            .fetch_one(&mut connection)
            .await
            .unwrap();
        assert_eq!(name, database.name());
        let users = sqlx::query("select user from mysql.user")
            .execute(&mut connection)
            .await;
        assert_eq!(users.is_ok(), sees_users);
    }
}

#[tokio::test]
async fn a_server_can_speak_german() {
    let database = mysql::fresh_database().await;
    let pool = mysql::german_pool(&database).await;
    let error = sqlx::query("select nothing")
        .execute(&pool)
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("Unbekanntes Tabellenfeld"),
        "{error}"
    );
}
