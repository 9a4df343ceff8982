use std::rc::Rc;

use bank::{Credit, CreditError};
use inbox_sqlx::{Inbox, idempotent};
use sqlx::{Sqlite, SqliteConnection};

#[idempotent(consumer = "credit", key = msg.message_id)]
async fn credit(tx: &mut SqliteConnection, msg: Credit) -> Result<(), CreditError> {
    let note = Rc::new(msg.message_id.clone());
    bank::add(tx, &msg).await?;
    println!("{note}");
    Ok(())
}

fn deliver(inbox: &'static Inbox<Sqlite>, msg: Credit) {
    tokio::spawn(credit(inbox, msg));
}

fn main() {}
