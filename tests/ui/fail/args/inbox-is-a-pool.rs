use bank::{Credit, CreditError};
use inbox_sqlx::idempotent;
use sqlx::{SqliteConnection, SqlitePool};

struct Bank {
    pool: SqlitePool,
}

impl Bank {
    #[idempotent(consumer = "credit", key = msg.message_id, inbox = self.pool)]
    async fn credit(&self, tx: &mut SqliteConnection, msg: &Credit) -> Result<(), CreditError> {
        bank::add(tx, msg).await?;
        Ok(())
    }
}

fn main() {}
