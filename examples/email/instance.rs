//! One consumer process: handles several deliveries at a time, answers each, and sweeps what others left.

use std::{process::ExitCode, time::Duration};

use inbox_sqlx::{Backend, Disposition, Inbox, Outcome, Sweeper};
use tokio::sync::mpsc;

use crate::{
    TABLE,
    database::Database,
    handler::Mode,
    mailer::Mailer,
    process::{self, Told},
    protocol::{Answer, Delivery, Done, Event, Start, Swept},
    receipt::Receipt,
};

/// Shorter than the defaults, like the lease, because nobody wants to watch for a minute.
const GRACE: Duration = Duration::ZERO;
const SWEEP_EVERY: Duration = Duration::from_millis(100);

/// Learns from the first line what to be, and works until the broker closes the pipe.
pub(crate) async fn main() -> anyhow::Result<ExitCode> {
    let mut told = Told::new();
    let start: Start = told.first().await?;
    match Database::of(&start.database)? {
        Database::Sqlite => consume::<sqlx::Sqlite>(start, told).await?,
        #[cfg(feature = "postgres")]
        Database::Postgres => consume::<sqlx::Postgres>(start, told).await?,
        #[cfg(feature = "mysql")]
        Database::MySql => consume::<sqlx::MySql>(start, told).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn consume<DB: Backend>(start: Start, mut told: Told) -> anyhow::Result<()> {
    let mailer = Mailer {
        port: start.provider,
    };
    let inbox = Inbox::<DB>::builder()
        .table(TABLE)
        .connect(&start.database)
        .await?;

    // One voice for all tasks, so that lines do not mix.
    let (events, mut to_say) = mpsc::channel::<Event>(16);
    let voice = tokio::spawn(async move {
        while let Some(event) = to_say.recv().await {
            process::say(&event).await?;
        }
        anyhow::Ok(())
    });
    let sweeper = tokio::spawn(sweep(Sweeper::new(&inbox).grace(GRACE), events.clone()));

    while let Some(Delivery { number, receipt }) = told.next().await? {
        let (inbox, events) = (inbox.clone(), events.clone());
        tokio::spawn(async move {
            let answer = answer(&inbox, start.mode, mailer, &receipt).await;
            // Nobody to tell only if this process ends.
            drop(events.send(Event::Answer { number, answer }).await);
        });
    }
    sweeper.abort();
    drop((events, sweeper.await));
    voice.await?
}

/// What a consumer does with a delivery. It is the same for every handler, every database and every broker.
async fn answer<DB: Backend>(
    inbox: &Inbox<DB>,
    mode: Mode,
    mailer: Mailer,
    receipt: &Receipt,
) -> Answer {
    match mode.handle(inbox, mailer, receipt).await {
        Ok(Outcome::Processed(()) | Outcome::Replayed(())) => Answer::Ack(Done::Sent),
        Ok(Outcome::Duplicate) => Answer::Ack(Done::Duplicate),
        Err(error) => match Disposition::of(&error) {
            Disposition::Retry { after } => Answer::Nack {
                after_ms: after.and_then(|after| after.as_millis().try_into().ok()),
                error: error.to_string(),
            },
            Disposition::DeadLetter => Answer::Reject,
        },
    }
}

/// `Sweeper::run` does the same, and logs what it did; here the broker is told, for the table in the end.
async fn sweep<DB: Backend>(sweeper: Sweeper<DB>, events: mpsc::Sender<Event>) {
    loop {
        tokio::time::sleep(SWEEP_EVERY).await;
        let swept = match sweeper.sweep_once().await {
            Ok(sweep) => Swept {
                released: sweep.released,
                parked: sweep.parked,
            },
            Err(error) => {
                // The next one finds the same.
                eprintln!("a sweep failed: {error}");
                continue;
            }
        };
        if swept != Swept::default() && events.send(Event::Swept(swept)).await.is_err() {
            return;
        }
    }
}
