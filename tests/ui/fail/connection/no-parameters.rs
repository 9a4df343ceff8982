use bank::CreditError;
use inbox_sqlx::idempotent;

#[idempotent(consumer = "credit", key = msg.message_id)]
async fn credit() -> Result<(), CreditError> {
    Ok(())
}

fn main() {}
