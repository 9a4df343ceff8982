//! What `support` promises of MariaDB databases.

mod remote;

use sqlx::{Connection, MySqlConnection};

use crate::support::mysql;

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
