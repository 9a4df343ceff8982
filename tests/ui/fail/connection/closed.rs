use bank::{Credit, CreditError};
use inbox_sqlx::idempotent;
use sqlx::{Connection as _, SqliteConnection};

#[idempotent(consumer = "credit", key = msg.message_id)]
async fn credit(tx: &mut SqliteConnection, msg: &Credit) -> Result<(), CreditError> {
    bank::add(tx, msg).await?;
    tx.close().await?;
    Ok(())
}

fn main() {}
