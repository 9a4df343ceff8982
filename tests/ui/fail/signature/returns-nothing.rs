use bank::Credit;
use inbox_sqlx::idempotent;
use sqlx::SqliteConnection;

#[idempotent(consumer = "credit", key = msg.message_id)]
async fn credit(tx: &mut SqliteConnection, msg: &Credit) {
    bank::add(tx, msg).await.expect("a working database");
}

fn main() {}
