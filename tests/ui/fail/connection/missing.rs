use bank::{Credit, CreditError};
use inbox_sqlx::idempotent;

#[idempotent(consumer = "credit", key = msg.message_id)]
async fn credit(msg: &Credit) -> Result<(), CreditError> {
    let _ = msg.amount;
    Ok(())
}

fn main() {}
