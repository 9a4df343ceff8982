use std::sync::Arc;

use bank::{Credit, CreditError};
use inbox_sqlx::idempotent;
use sqlx::{Pool, Sqlite, SqliteConnection, SqlitePool};

#[idempotent(consumer = "a", key = msg.message_id)]
async fn by_reference(
    tx: &mut SqliteConnection,
    msg: &Credit,
    pool: &SqlitePool,
) -> Result<(), CreditError> {
    bank::add(tx, msg).await?;
    bank::log(pool, msg).await
}

#[idempotent(consumer = "b", key = msg.message_id)]
async fn by_value(
    tx: &mut SqliteConnection,
    pool: Pool<Sqlite>,
    msg: &Credit,
) -> Result<(), CreditError> {
    bank::add(tx, msg).await?;
    bank::log(&pool, msg).await
}

#[idempotent(consumer = "c", key = msg.message_id)]
async fn shared(
    tx: &mut SqliteConnection,
    msg: &Credit,
    pool: Arc<SqlitePool>,
) -> Result<(), CreditError> {
    bank::add(tx, msg).await?;
    bank::log(&pool, msg).await
}

fn main() {}
