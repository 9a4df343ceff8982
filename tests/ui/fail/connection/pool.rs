use bank::{Credit, CreditError};
use inbox_sqlx::{Inbox, Outcome, idempotent};
use sqlx::{Sqlite, SqlitePool};

#[idempotent(consumer = "credit", key = msg.message_id)]
async fn credit(pool: &SqlitePool, msg: &Credit) -> Result<(), CreditError> {
    bank::add(&mut *pool.acquire().await?, msg).await?;
    Ok(())
}

async fn deliver(inbox: &Inbox<Sqlite>, msg: &Credit) -> Result<Outcome<()>, CreditError> {
    credit(inbox, msg).await
}

fn main() {}
