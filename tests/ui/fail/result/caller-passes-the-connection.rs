use bank::{Credit, CreditError};
use inbox_sqlx::{Outcome, idempotent};
use sqlx::SqliteConnection;

#[idempotent(consumer = "credit", key = msg.message_id)]
async fn credit(tx: &mut SqliteConnection, msg: &Credit) -> Result<(), CreditError> {
    bank::add(tx, msg).await?;
    Ok(())
}

async fn deliver(tx: &mut SqliteConnection, msg: &Credit) -> Result<Outcome<()>, CreditError> {
    credit(tx, msg).await
}

fn main() {}
