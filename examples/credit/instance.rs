//! One consumer process: reads deliveries, handles one after the other, answers each.

use std::process::ExitCode;

use anyhow::Context as _;
use inbox_sqlx::{Disposition, Outcome};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines, Stdin};

use crate::{
    bank::{self, Bank},
    database::Database,
    protocol::{self, Answer, Delivery, Done, Start},
};

/// Learns from the first line what to be, and works until the broker closes the pipe.
pub(crate) async fn main() -> anyhow::Result<ExitCode> {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let first = lines.next_line().await?.context(
        "this is a part of the credit example; start it with `cargo run --example credit`",
    )?;
    let start: Start = serde_json::from_str(&first)?;
    match Database::of(&start.database)? {
        Database::Sqlite => consume::<bank::Sqlite>(&start, lines).await?,
        #[cfg(feature = "postgres")]
        Database::Postgres => consume::<bank::Postgres>(&start, lines).await?,
        #[cfg(feature = "mysql")]
        Database::MySql => consume::<bank::MySql>(&start, lines).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The consumer loop. It is the same for every handler, every database and every broker.
async fn consume<B: Bank>(start: &Start, mut lines: Lines<BufReader<Stdin>>) -> anyhow::Result<()> {
    let bank = B::open(&start.database).await?;
    let mut stdout = tokio::io::stdout();
    while let Some(line) = lines.next_line().await? {
        let message: Delivery = serde_json::from_str(&line)?;
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
        stdout
            .write_all(protocol::line(&answer)?.as_bytes())
            .await?;
        stdout.flush().await?;
    }
    Ok(())
}
