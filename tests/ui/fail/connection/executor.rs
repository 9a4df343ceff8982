use bank::{Credit, CreditError};
use inbox_sqlx::idempotent;
use sqlx::{Executor, Sqlite};

#[idempotent(consumer = "credit", key = msg.message_id)]
async fn credit(tx: impl Executor<'_, Database = Sqlite>, msg: &Credit) -> Result<(), CreditError> {
    sqlx::query("update accounts set balance = balance + 1")
        .execute(tx)
        .await?;
    let _ = msg;
    Ok(())
}

fn main() {}
