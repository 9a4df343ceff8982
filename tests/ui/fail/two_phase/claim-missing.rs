use bank::{Credit, CreditError};
use inbox_sqlx::idempotent;

#[idempotent(consumer = "email", key = msg.message_id, two_phase)]
async fn notify(msg: &Credit) -> Result<usize, CreditError> {
    bank::notify("", msg).await
}

fn main() {}
