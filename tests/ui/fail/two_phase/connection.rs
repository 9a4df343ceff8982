use bank::{Credit, CreditError};
use inbox_sqlx::{Inbox, Outcome, idempotent};
use sqlx::{Sqlite, SqliteConnection};

#[idempotent(consumer = "email", key = msg.message_id, two_phase)]
async fn notify(tx: &mut SqliteConnection, msg: &Credit) -> Result<usize, CreditError> {
    bank::add(tx, msg).await?;
    Ok(0)
}

async fn deliver(inbox: &Inbox<Sqlite>, msg: &Credit) -> Result<Outcome<usize>, CreditError> {
    notify(inbox, msg).await
}

fn main() {}
