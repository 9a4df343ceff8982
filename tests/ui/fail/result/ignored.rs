#![deny(unused_must_use)]

use bank::{Credit, CreditError};
use inbox_sqlx::{Inbox, idempotent};
use sqlx::{Sqlite, SqliteConnection};

#[idempotent(consumer = "credit", key = msg.message_id)]
async fn credit(tx: &mut SqliteConnection, msg: &Credit) -> Result<(), CreditError> {
    bank::add(tx, msg).await?;
    Ok(())
}

pub async fn deliver(inbox: &Inbox<Sqlite>, msg: &Credit) {
    credit(inbox, msg).await;
}

fn main() {
    let _ = deliver;
}
