use bank::{Credit, CreditError};
use inbox_sqlx::{Claim, Inbox, Outcome, idempotent};
use sqlx::Sqlite;

#[idempotent(consumer = "email", key = msg.message_id, two_phase)]
async fn notify(claim: &Claim<Sqlite>, msg: &Credit) -> Result<usize, CreditError> {
    let sent = tokio::spawn(async move { claim.is_held() }).await;
    bank::notify(claim.idempotency_key(), msg)
        .await
        .map(|length| length + usize::from(sent.is_ok()))
}

async fn deliver(inbox: &Inbox<Sqlite>, msg: &Credit) -> Result<Outcome<usize>, CreditError> {
    notify(inbox, msg).await
}

fn main() {}
