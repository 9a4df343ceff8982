use bank::{Credit, CreditError};
use inbox_sqlx::{Claim, idempotent};

#[idempotent(consumer = "email", key = msg.message_id, two_phase)]
async fn notify(claim: &Claim, msg: &Credit) -> Result<usize, CreditError> {
    bank::notify(claim.idempotency_key(), msg).await
}

fn main() {}
