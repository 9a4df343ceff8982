use bank::Credit;
use inbox_sqlx::{Claim, Inbox, Outcome, idempotent};
use sqlx::Sqlite;

#[derive(Debug, thiserror::Error)]
#[error("the mail was not sent")]
struct MailError;

#[idempotent(consumer = "email", key = msg.message_id, two_phase)]
async fn notify(claim: &Claim<Sqlite>, msg: &Credit) -> Result<usize, MailError> {
    bank::notify(claim.idempotency_key(), msg)
        .await
        .map_err(|_| MailError)
}

async fn deliver(inbox: &Inbox<Sqlite>, msg: &Credit) -> Result<Outcome<usize>, MailError> {
    notify(inbox, msg).await
}

fn main() {}
