use bank::{Credit, CreditError};
use inbox_sqlx::{Inbox, Outcome, idempotent};
use sqlx::{Sqlite, SqliteConnection, SqlitePool};

#[idempotent(costumer = "", key = msg.correlation_id)]
fn credit(tx: &mut SqliteConnection, msg: &Credit, pool: &SqlitePool) -> Result<(), CreditError> {
    bank::add(tx, msg).await?;
    bank::log(pool, msg).await
}

async fn deliver(inbox: &Inbox<Sqlite>, msg: &Credit) -> Result<Outcome<()>, CreditError> {
    credit(inbox, msg, inbox.pool()).await
}

fn main() {}
