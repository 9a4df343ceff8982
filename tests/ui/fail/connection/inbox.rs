use bank::{Credit, CreditError};
use inbox_sqlx::{Inbox, idempotent};
use sqlx::Sqlite;

#[idempotent(consumer = "credit", key = msg.message_id)]
async fn credit(inbox: &Inbox<Sqlite>, msg: &Credit) -> Result<(), CreditError> {
    let mut tx = inbox.pool().acquire().await?;
    bank::add(&mut tx, msg).await?;
    Ok(())
}

fn main() {}
