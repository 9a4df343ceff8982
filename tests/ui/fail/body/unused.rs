#![deny(unused)]

use bank::{Credit, CreditError};
use inbox_sqlx::idempotent;
use sqlx::SqliteConnection;

#[idempotent(consumer = "credit", key = msg.message_id)]
pub async fn credit(
    tx: &mut SqliteConnection,
    msg: &Credit,
    note: &str,
) -> Result<(), CreditError> {
    let balance = bank::add(tx, msg).await?;
    Ok(())
}

fn main() {
    let _ = credit;
}
