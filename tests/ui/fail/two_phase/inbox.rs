use bank::{Credit, CreditError};
use inbox_sqlx::{Inbox, idempotent};
use sqlx::Sqlite;

#[idempotent(consumer = "email", key = msg.message_id, two_phase)]
async fn notify(inbox: &Inbox<Sqlite>, msg: &Credit) -> Result<usize, CreditError> {
    bank::notify(inbox.table().table(), msg).await
}

fn main() {}
