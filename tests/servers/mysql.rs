//! What `support` promises of MariaDB databases.

use sqlx::{Connection, Executor, MySqlConnection};

use crate::support::mysql;

#[tokio::test]
async fn every_test_has_a_database_of_its_own() {
    let one = mysql::fresh_database().await;
    let other = mysql::fresh_database().await;
    let mut sessions = Vec::new();
    for database in [&one, &other] {
        let mut session = MySqlConnection::connect(database.url()).await.unwrap();
        for statement in [
            "create table t (id bigint)",
            "begin",
            "insert into t values (1)",
        ] {
            session.execute(statement).await.unwrap();
        }
        sessions.push(session);
    }
    let url = one.url().to_owned();
    // With a session left in a transaction, as by a test that fails.
    drop(one);
    MySqlConnection::connect(&url).await.unwrap_err();
    sessions[0].ping().await.unwrap_err();
    sessions[1].ping().await.unwrap();
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
