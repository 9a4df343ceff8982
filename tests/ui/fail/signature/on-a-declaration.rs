use bank::{Credit, CreditError};
use inbox_sqlx::idempotent;
use sqlx::SqliteConnection;

trait Handle {
    #[idempotent(consumer = "credit", key = msg.message_id)]
    async fn credit(&self, tx: &mut SqliteConnection, msg: &Credit) -> Result<(), CreditError>;
}

fn main() {}
