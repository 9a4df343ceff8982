//! What `support` promises of PostgreSQL databases.

use sqlx::{Connection, Executor, PgConnection};

use crate::support::postgres;

#[tokio::test]
async fn every_test_has_a_database_of_its_own() {
    let one = postgres::fresh_database().await;
    let other = postgres::fresh_database().await;
    let mut sessions = Vec::new();
    for database in [&one, &other] {
        let mut session = PgConnection::connect(database.url()).await.unwrap();
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
    PgConnection::connect(&url).await.unwrap_err();
    sessions[0].ping().await.unwrap_err();
    sessions[1].ping().await.unwrap();
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
