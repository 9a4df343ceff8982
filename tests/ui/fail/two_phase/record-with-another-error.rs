use bank::{Credit, CreditError};
use inbox_sqlx::{Claim, Inbox, Outcome, idempotent};
use sqlx::{Sqlite, SqliteConnection};

#[idempotent(consumer = "email", key = msg.message_id, two_phase(record = save))]
async fn notify(claim: &Claim<Sqlite>, msg: &Credit) -> Result<usize, CreditError> {
    bank::notify(claim.idempotency_key(), msg).await
}

async fn save(_: &mut SqliteConnection, _: &usize) -> Result<(), sqlx::Error> {
    Ok(())
}

async fn deliver(inbox: &Inbox<Sqlite>, msg: &Credit) -> Result<Outcome<usize>, CreditError> {
    notify(inbox, msg).await
}

fn main() {}
