use bank::Credit;
use inbox_sqlx::idempotent;
use sqlx::SqliteConnection;

#[idempotent(consumer = "credit", key = msg.message_id)]
async fn credit(tx: &mut SqliteConnection, msg: &Credit) -> Option<i64> {
    bank::add(tx, msg).await.ok()
}

fn main() {}
