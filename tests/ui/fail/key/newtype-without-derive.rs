use bank::CreditError;
use inbox_sqlx::idempotent;
use sqlx::SqliteConnection;

struct OrderId(u64);

#[idempotent(consumer = "credit", key = order)]
async fn credit(_: &mut SqliteConnection, order: OrderId) -> Result<(), CreditError> {
    println!("{}", order.0);
    Ok(())
}

fn main() {}
