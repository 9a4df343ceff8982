use bank::{Credit, CreditError};
use inbox_sqlx::idempotent;
use sqlx::SqliteConnection;

#[idempotent(consumer = "credit", key = msg.message_id)]
async fn credit(msg: &Credit, tx: &mut SqliteConnection) -> Result<(), CreditError> {
    bank::add(tx, msg).await?;
    Ok(())
}

fn main() {}
