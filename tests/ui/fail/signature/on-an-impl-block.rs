use bank::{Credit, CreditError};
use inbox_sqlx::idempotent;
use sqlx::SqliteConnection;

struct Bank;

#[idempotent(consumer = "credit", key = msg.message_id)]
impl Bank {
    async fn credit(&self, tx: &mut SqliteConnection, msg: &Credit) -> Result<(), CreditError> {
        bank::add(tx, msg).await?;
        Ok(())
    }
}

fn main() {}
