use bank::{Credit, CreditError};
use inbox_sqlx::{Claim, idempotent};
use sqlx::Sqlite;

#[idempotent(consumer = "email", key = msg.message_id, two_phase)]
async fn notify(msg: &Credit, claim: &Claim<Sqlite>) -> Result<usize, CreditError> {
    bank::notify(claim.idempotency_key(), msg).await
}

fn main() {}
