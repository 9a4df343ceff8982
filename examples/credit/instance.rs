//! One consumer process: reads deliveries, handles one after the other, answers each.

use std::process::ExitCode;

use inbox_sqlx::{Disposition, Outcome};

use crate::{
    bank::{self, Bank},
    database::Database,
    process::{self, Told},
    protocol::{Answer, Delivery, Done, Start},
};

/// Learns from the first line what to be, and works until the broker closes the pipe.
pub(crate) async fn main() -> anyhow::Result<ExitCode> {
    let mut told = Told::new();
    let start: Start = told.first().await?;
    match Database::of(&start.database)? {
        Database::Sqlite => consume::<bank::Sqlite>(&start, told).await?,
        #[cfg(feature = "postgres")]
        Database::Postgres => consume::<bank::Postgres>(&start, told).await?,
        #[cfg(feature = "mysql")]
        Database::MySql => consume::<bank::MySql>(&start, told).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The consumer loop. It is the same for every handler, every database and every broker.
async fn consume<B: Bank>(start: &Start, mut told: Told) -> anyhow::Result<()> {
    let bank = B::open(&start.database).await?;
    while let Some(message) = told.next::<Delivery>().await? {
        let answer = match bank.handle(start.handler, &message, start.instance).await {
            Ok(Outcome::Processed(()) | Outcome::Replayed(())) => Answer::Ack(Done::Credited),
            Ok(Outcome::Duplicate) => Answer::Ack(Done::Duplicate),
            Err(error) => match Disposition::of(&error) {
                Disposition::Retry { after } => Answer::Nack {
                    after_ms: after.and_then(|after| after.as_millis().try_into().ok()),
                    error: error.to_string(),
                },
                Disposition::DeadLetter => Answer::Reject {
                    error: error.to_string(),
                },
            },
        };
        process::say(&answer).await?;
    }
    Ok(())
}
