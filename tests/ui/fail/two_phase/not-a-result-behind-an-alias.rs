use bank::Credit;
use inbox_sqlx::{Claim, idempotent};
use sqlx::Sqlite;

type Answer = Option<usize>;

#[idempotent(consumer = "email", key = msg.message_id, two_phase)]
async fn notify(claim: &Claim<Sqlite>, msg: &Credit) -> Answer {
    bank::notify(claim.idempotency_key(), msg).await.ok()
}

fn main() {}
