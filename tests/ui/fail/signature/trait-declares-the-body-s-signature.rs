use bank::{Credit, CreditError};
use inbox_sqlx::idempotent;
use sqlx::SqliteConnection;

trait Handle {
    async fn credit(&self, tx: &mut SqliteConnection, msg: &Credit) -> Result<(), CreditError>;
}

struct Bank;

impl Handle for Bank {
    #[idempotent(consumer = "credit", key = msg.message_id)]
    async fn credit(&self, tx: &mut SqliteConnection, msg: &Credit) -> Result<(), CreditError> {
        bank::add(tx, msg).await?;
        Ok(())
    }
}

fn main() {}
