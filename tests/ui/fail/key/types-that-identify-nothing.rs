use std::time::{Instant, SystemTime};

use bank::CreditError;
use inbox_sqlx::idempotent;
use sqlx::SqliteConnection;

#[idempotent(consumer = "a", key = amount)]
async fn float(_: &mut SqliteConnection, amount: f64) -> Result<(), CreditError> {
    Ok(())
}

#[idempotent(consumer = "b", key = urgent)]
async fn boolean(_: &mut SqliteConnection, urgent: bool) -> Result<(), CreditError> {
    Ok(())
}

#[idempotent(consumer = "c", key = nothing)]
async fn unit(_: &mut SqliteConnection, nothing: ()) -> Result<(), CreditError> {
    Ok(())
}

#[idempotent(consumer = "d", key = at)]
async fn system_time(_: &mut SqliteConnection, at: SystemTime) -> Result<(), CreditError> {
    Ok(())
}

#[idempotent(consumer = "e", key = at)]
async fn instant(_: &mut SqliteConnection, at: Instant) -> Result<(), CreditError> {
    Ok(())
}

fn main() {}
