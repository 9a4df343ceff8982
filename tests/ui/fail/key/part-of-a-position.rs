use bank::{CreditError, Envelope};
use inbox_sqlx::idempotent;
use sqlx::SqliteConnection;

#[idempotent(consumer = "credit", key = msg.offset)]
async fn credit(_: &mut SqliteConnection, msg: &Envelope) -> Result<(), CreditError> {
    Ok(msg.open())
}

fn main() {}
