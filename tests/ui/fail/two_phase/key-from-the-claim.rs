use bank::{Credit, CreditError};
use inbox_sqlx::{Claim, Inbox, Outcome, idempotent};
use sqlx::Sqlite;

#[idempotent(consumer = "email", key = claim.key().as_str(), two_phase)]
async fn notify(claim: &Claim<Sqlite>, msg: &Credit) -> Result<usize, CreditError> {
    bank::notify(claim.idempotency_key(), msg).await
}

async fn deliver(inbox: &Inbox<Sqlite>, msg: &Credit) -> Result<Outcome<usize>, CreditError> {
    notify(inbox, msg).await
}

fn main() {}
