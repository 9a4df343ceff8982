//! Everything the inbox promises, on PostgreSQL.

#![expect(
    clippy::unwrap_used,
    reason = "in a test, an error nobody expects is a failure"
)]

mod support;

use sqlx::{Connection, PgConnection};
use support::postgres;
use support::process::roles;

roles! {}

#[tokio::test]
async fn every_test_has_a_database_of_its_own() {
    let (one, other) = (
        postgres::fresh_database().await,
        postgres::fresh_database().await,
    );
    for database in [&one, &other] {
        let mut connection = PgConnection::connect(database.url()).await.unwrap();
        sqlx::query("create table t (id bigint primary key)")
            .execute(&mut connection)
            .await
            .unwrap();
        connection.close().await.unwrap();
    }
    let url = one.url().to_owned();
    drop(one);
    PgConnection::connect(&url).await.unwrap_err();
}

#[tokio::test]
async fn an_application_is_no_superuser() {
    let database = postgres::fresh_database().await;
    for (url, superuser) in [(database.url(), "off"), (database.admin_url(), "on")] {
        let mut connection = PgConnection::connect(url).await.unwrap();
        let (name, is): (String, String) =
            sqlx::query_as("select current_database()::text, current_setting('is_superuser')")
                .fetch_one(&mut connection)
                .await
                .unwrap();
        assert_eq!((name.as_str(), is.as_str()), (database.name(), superuser));
    }
}

#[tokio::test]
async fn a_server_can_speak_german() {
    let database = postgres::fresh_database().await;
    let pool = postgres::german_pool(&database).await;
    let error = sqlx::query("select nothing")
        .execute(&pool)
        .await
        .unwrap_err();
    assert!(error.to_string().contains("existiert nicht"), "{error}");
}
