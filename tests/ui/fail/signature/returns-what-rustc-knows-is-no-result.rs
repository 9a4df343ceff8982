use bank::Credit;
use inbox_sqlx::idempotent;
use sqlx::SqliteConnection;

struct Balance(i64);

#[idempotent(consumer = "credit", key = msg.message_id)]
async fn credit(tx: &mut SqliteConnection, msg: &Credit) -> Balance {
    Balance(bank::add(tx, msg).await.unwrap_or_default())
}

fn main() {}
