//! What a user writes: one annotated handler per database, and a delivery that comes twice.
//!
//! `outside URL` prints `processed, then a duplicate` and exits with 0, or says what happened instead.

#![deny(warnings)]

use std::error::Error;

use inbox_sqlx::{Backend, Inbox, Outcome, idempotent};

/// What arrives.
struct Credit {
    message_id: &'static str,
}

/// The user's own error type, by hand.
#[derive(Debug)]
enum CreditError {
    Inbox(inbox_sqlx::Error),
    Database(sqlx::Error),
}

impl std::fmt::Display for CreditError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the credit failed")
    }
}

impl Error for CreditError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Inbox(error) => Some(error),
            Self::Database(error) => Some(error),
        }
    }
}

impl From<inbox_sqlx::Error> for CreditError {
    fn from(error: inbox_sqlx::Error) -> Self {
        Self::Inbox(error)
    }
}

impl From<sqlx::Error> for CreditError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

macro_rules! database {
    ($feature:literal, $module:ident, $database:ty, $connection:ty) => {
        #[cfg(feature = $feature)]
        mod $module {
            use super::*;

            #[idempotent(consumer = "outside", key = msg.message_id)]
            async fn credit(tx: &mut $connection, msg: &Credit) -> Result<u64, CreditError> {
                let done = sqlx::query("insert into outside_ledger (amount) values (1)")
                    .execute(&mut *tx)
                    .await?;
                Ok(done.rows_affected())
            }

            pub async fn twice(url: &str) -> Result<[Outcome<u64>; 2], Box<dyn Error>> {
                let inbox = prepare::<$database>(url).await?;
                sqlx::query("create table outside_ledger (amount integer not null)")
                    .execute(inbox.pool())
                    .await?;
                let msg = Credit { message_id: "m1" };
                let first = credit(&inbox, &msg).await?;
                // The future is `Send`, as consumer loops need it.
                let other = inbox.clone();
                let second = tokio::spawn(async move { credit(&other, &msg).await }).await??;
                let rows: i64 = sqlx::query_scalar("select count(*) from outside_ledger")
                    .fetch_one(inbox.pool())
                    .await?;
                assert_eq!(rows, 1, "one effect");
                Ok([first, second])
            }
        }
    };
}

database!("postgres", postgres, sqlx::Postgres, sqlx::PgConnection);
database!("mysql", mysql, sqlx::MySql, sqlx::MySqlConnection);
database!("sqlite", sqlite, sqlx::Sqlite, sqlx::SqliteConnection);

/// An inbox that is installed and checked.
async fn prepare<DB: Backend>(url: &str) -> Result<Inbox<DB>, inbox_sqlx::Error> {
    let inbox = Inbox::<DB>::connect(url).await?;
    inbox.install().await?;
    inbox.verify().await?;
    Ok(inbox)
}

async fn twice(url: &str) -> Result<[Outcome<u64>; 2], Box<dyn Error>> {
    match url.split(':').next() {
        #[cfg(feature = "postgres")]
        Some("postgres" | "postgresql") => postgres::twice(url).await,
        #[cfg(feature = "mysql")]
        Some("mysql" | "mariadb") => mysql::twice(url).await,
        #[cfg(feature = "sqlite")]
        Some("sqlite") => sqlite::twice(url).await,
        _ => Err(format!("this program was built without the database of {url}").into()),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).ok_or("usage: outside URL")?;
    let outcomes = twice(&url).await?;
    if outcomes != [Outcome::Processed(1), Outcome::Duplicate] {
        return Err(format!("{outcomes:?}").into());
    }
    println!("processed, then a duplicate");
    Ok(())
}
