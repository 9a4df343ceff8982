use bank::{Credit, CreditError};
use inbox_sqlx::idempotent;
use sqlx::SqliteConnection;

#[idempotent(consumer = "credit", key = msg.message_id)]
async fn credit(tx: &mut SqliteConnection, msg: &Credit) -> Result<(), CreditError> {
    if bank::add(tx, msg).await? > 1_000 {
        tx.rollback().await?;
    }
    Ok(())
}

fn main() {}
