use bank::{CreditError, Envelope};
use inbox_sqlx::idempotent;
use sqlx::SqliteConnection;

#[idempotent(consumer = "credit", key = msg.headers["correlation-id"])]
async fn credit(_: &mut SqliteConnection, msg: &Envelope) -> Result<(), CreditError> {
    Ok(msg.open())
}

fn main() {}
