//! What `support` promises of PostgreSQL databases.

mod remote;

use sqlx::{Connection, PgConnection};

use crate::support::postgres;

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
