//! Statements that are none of the handler's business: dropping the tables.

use sqlx::{Connection as _, SqliteConnection};

use crate::database::Database;

/// Runs statements on a connection of their own.
pub(crate) async fn execute(url: &str, sql: &'static str) -> anyhow::Result<()> {
    match Database::of(url)? {
        Database::Sqlite => {
            let mut conn = SqliteConnection::connect(url).await?;
            sqlx::raw_sql(sql).execute(&mut conn).await?;
        }
        #[cfg(feature = "postgres")]
        Database::Postgres => {
            let mut conn = sqlx::PgConnection::connect(url).await?;
            sqlx::raw_sql(sql).execute(&mut conn).await?;
        }
        #[cfg(feature = "mysql")]
        Database::MySql => {
            let mut conn = sqlx::MySqlConnection::connect(url).await?;
            sqlx::raw_sql(sql).execute(&mut conn).await?;
        }
    }
    Ok(())
}
