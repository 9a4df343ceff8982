use bank::Credit;
use inbox_sqlx::idempotent;
use sqlx::SqliteConnection;

#[derive(Debug, thiserror::Error)]
enum CreditError {
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

#[idempotent(consumer = "credit", key = msg.message_id)]
async fn credit(tx: &mut SqliteConnection, msg: &Credit) -> Result<(), CreditError> {
    bank::add(tx, msg).await?;
    Ok(())
}

fn main() {}
