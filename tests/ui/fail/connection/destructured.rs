use bank::{Credit, CreditError};
use inbox_sqlx::idempotent;
use sqlx::SqliteConnection;

#[idempotent(consumer = "credit", key = msg.message_id)]
async fn credit(&mut ref tx: &mut SqliteConnection, msg: &Credit) -> Result<(), CreditError> {
    let _ = (tx, msg);
    Ok(())
}

fn main() {}
