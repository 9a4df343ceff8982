use bank::{Credit, CreditError};
use inbox_sqlx::{Inbox, Outcome, idempotent};
use sqlx::{Sqlite, SqliteConnection};

#[idempotent(consumer = "credit", key = (msg.message_id,))]
async fn credit(tx: &mut SqliteConnection, msg: &Credit) -> Result<(), CreditError> {
    bank::add(tx, msg).await?;
    Ok(())
}

async fn deliver(inbox: &Inbox<Sqlite>, msg: &Credit) -> Result<Outcome<()>, CreditError> {
    credit(inbox, msg).await
}

fn main() {}
