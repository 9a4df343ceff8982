use bank::Credit;
use inbox_sqlx::idempotent;
use sqlx::SqliteConnection;

#[idempotent(consumer = "credit", key = msg.message_id)]
async fn credit(tx: &mut SqliteConnection, msg: &Credit) -> Result<(), String> {
    bank::add(tx, msg)
        .await
        .map_err(|error| error.to_string())?;
    Ok(())
}

fn main() {}
