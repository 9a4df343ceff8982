use bank::{Credit, CreditError};
use inbox_sqlx::idempotent;
use sqlx::SqliteConnection;

#[idempotent(consumer = "credit", key = msg.message_id)]
async unsafe fn credit(tx: &mut SqliteConnection, msg: &Credit) -> Result<(), CreditError> {
    bank::add(tx, msg).await?;
    Ok(())
}

#[idempotent(consumer = "debit", key = msg.message_id)]
async extern "C" fn debit(tx: &mut SqliteConnection, msg: &Credit) -> Result<(), CreditError> {
    bank::add(tx, msg).await?;
    Ok(())
}

fn main() {}
