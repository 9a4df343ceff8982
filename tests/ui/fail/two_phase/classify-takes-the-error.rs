use bank::{Credit, CreditError};
use inbox_sqlx::{Claim, Effect, Inbox, Outcome, idempotent};
use sqlx::Sqlite;

#[idempotent(consumer = "email", key = msg.message_id, two_phase(classify = effect))]
async fn notify(claim: &Claim<Sqlite>, msg: &Credit) -> Result<usize, CreditError> {
    bank::notify(claim.idempotency_key(), msg).await
}

fn effect(error: CreditError) -> Effect {
    match error {
        CreditError::Database(_) => Effect::NotHappened,
        CreditError::Inbox(_) => Effect::Unknown,
    }
}

async fn deliver(inbox: &Inbox<Sqlite>, msg: &Credit) -> Result<Outcome<usize>, CreditError> {
    notify(inbox, msg).await
}

fn main() {}
