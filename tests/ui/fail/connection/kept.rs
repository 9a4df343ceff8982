use bank::{Credit, CreditError};
use inbox_sqlx::idempotent;
use sqlx::SqliteConnection;

struct Later<'c> {
    tx: Option<&'c mut SqliteConnection>,
}

#[idempotent(consumer = "credit", key = msg.message_id)]
async fn credit(
    tx: &mut SqliteConnection,
    msg: &Credit,
    later: &mut Later<'_>,
) -> Result<(), CreditError> {
    bank::add(tx, msg).await?;
    later.tx = Some(tx);
    Ok(())
}

fn main() {}
