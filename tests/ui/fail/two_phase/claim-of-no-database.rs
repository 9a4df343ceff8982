use bank::{Credit, CreditError};
use inbox_sqlx::{Claim, idempotent};

#[idempotent(consumer = "email", key = msg.message_id, two_phase)]
async fn notify(_: &Claim<String>, msg: &Credit) -> Result<usize, CreditError> {
    bank::notify("k", msg).await
}

fn main() {}
