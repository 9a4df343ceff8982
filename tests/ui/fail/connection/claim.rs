use bank::{Credit, CreditError};
use inbox_sqlx::{Claim, Inbox, Outcome, idempotent};
use sqlx::Sqlite;

#[idempotent(consumer = "credit", key = msg.message_id)]
async fn credit(claim: &Claim<Sqlite>, msg: &Credit) -> Result<(), CreditError> {
    let _ = (claim, msg);
    Ok(())
}

async fn deliver(inbox: &Inbox<Sqlite>, msg: &Credit) -> Result<Outcome<()>, CreditError> {
    credit(inbox, msg).await
}

fn main() {}
