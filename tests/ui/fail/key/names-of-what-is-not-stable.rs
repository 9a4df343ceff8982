use bank::{CreditError, Envelope};
use inbox_sqlx::idempotent;
use sqlx::SqliteConnection;

#[idempotent(consumer = "correlation_id", key = msg.correlation_id)]
async fn correlation_id(_: &mut SqliteConnection, msg: &Envelope) -> Result<(), CreditError> {
    Ok(msg.open())
}

#[idempotent(consumer = "causation_id", key = msg.causation_id)]
async fn causation_id(_: &mut SqliteConnection, msg: &Envelope) -> Result<(), CreditError> {
    Ok(msg.open())
}

#[idempotent(consumer = "delivery_count", key = msg.delivery_count)]
async fn delivery_count(_: &mut SqliteConnection, msg: &Envelope) -> Result<(), CreditError> {
    Ok(msg.open())
}

#[idempotent(consumer = "delivery_attempt", key = msg.delivery_attempt)]
async fn delivery_attempt(_: &mut SqliteConnection, msg: &Envelope) -> Result<(), CreditError> {
    Ok(msg.open())
}

#[idempotent(consumer = "redelivered", key = msg.redelivered)]
async fn redelivered(_: &mut SqliteConnection, msg: &Envelope) -> Result<(), CreditError> {
    Ok(msg.open())
}

#[idempotent(consumer = "received_at", key = msg.received_at)]
async fn received_at(_: &mut SqliteConnection, msg: &Envelope) -> Result<(), CreditError> {
    Ok(msg.open())
}

#[idempotent(consumer = "timestamp", key = msg.timestamp)]
async fn timestamp(_: &mut SqliteConnection, msg: &Envelope) -> Result<(), CreditError> {
    Ok(msg.open())
}

#[idempotent(consumer = "trace_id", key = msg.trace_id)]
async fn trace_id(_: &mut SqliteConnection, msg: &Envelope) -> Result<(), CreditError> {
    Ok(msg.open())
}

fn main() {}
