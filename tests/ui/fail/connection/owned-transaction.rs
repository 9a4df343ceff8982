use bank::{Credit, CreditError};
use inbox_sqlx::{Inbox, Outcome, idempotent};
use sqlx::{Sqlite, Transaction};

#[idempotent(consumer = "credit", key = msg.message_id)]
async fn credit(mut tx: Transaction<'_, Sqlite>, msg: &Credit) -> Result<(), CreditError> {
    bank::add(&mut tx, msg).await?;
    tx.commit().await?;
    Ok(())
}

async fn deliver(inbox: &Inbox<Sqlite>, msg: &Credit) -> Result<Outcome<()>, CreditError> {
    credit(inbox, msg).await
}

fn main() {}
