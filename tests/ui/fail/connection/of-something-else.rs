use bank::{Credit, CreditError};
use inbox_sqlx::idempotent;

#[idempotent(consumer = "credit", key = msg.message_id)]
async fn credit(tx: &mut Vec<u8>, msg: &Credit) -> Result<(), CreditError> {
    tx.extend(msg.message_id.bytes());
    Ok(())
}

fn main() {}
