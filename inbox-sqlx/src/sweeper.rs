//! Ends claims whose workers are gone, and delivers again what no broker will.

use std::{
    collections::BTreeMap,
    fmt,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use inbox_core::{
    Consumer, Key,
    two_phase::{Effect, Terms},
};
use serde::de::DeserializeOwned;
use tokio::sync::Notify;

use crate::{
    backend::{Backend, leases::Take as _},
    error::{BoxError, Error},
    inbox::Inbox,
    operator::{ListedMessage, Page},
    status::MessageState,
    transaction::Transaction,
    two_phase::{self, TwoPhase},
};

/// How many rows one transaction sweeps, and how many are read at once for redelivery.
const BATCH: u32 = 100;

/// A handler that takes a stored message.
type Redeliver = Arc<
    dyn Fn(String) -> Pin<Box<dyn Future<Output = Result<(), Redelivery>> + Send>> + Send + Sync,
>;

/// Why a redelivery did not succeed.
enum Redelivery {
    /// The payload is not what the handler takes.
    Undecodable(String),
    /// The handler failed.
    Failed(BoxError),
}

/// Ends claims whose lease is over, by the policy of the handler that made them: released or parked. Never
/// deletes anything, and never touches a claim that is renewed.
///
/// Handlers that keep their payload can be registered with [`on`](Self::on): what is released is then
/// delivered to them again, also when the broker has long forgotten it. Any number of instances may run.
///
/// ```no_run
/// # #[cfg(feature = "sqlite")]
/// # async fn example(inbox: inbox_sqlx::Inbox<sqlx::Sqlite>) {
/// use inbox_sqlx::Sweeper;
///
/// let sweeper = Sweeper::new(&inbox);
/// let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
/// let job = tokio::spawn(sweeper.run(async { drop(stopped.await) }));
/// // … and when the service stops:
/// drop(stop);
/// drop(job.await);
/// # }
/// ```
#[must_use = "call `run` or `sweep_once`"]
pub struct Sweeper<DB: Backend> {
    inbox: Inbox<DB>,
    grace: Duration,
    every: Duration,
    handlers: BTreeMap<&'static str, Redeliver>,
}

/// What a sweep did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sweep {
    /// Claims put back for another attempt.
    pub released: u64,
    /// Claims that wait for a person now.
    pub parked: u64,
    /// Stored messages that a registered handler processed.
    pub redelivered: u64,
    /// Stored messages that a registered handler failed on.
    pub failed: u64,
}

impl<DB: Backend> Sweeper<DB> {
    /// A sweeper that leaves an expired claim to redeliveries for five seconds and looks every thirty.
    pub fn new(inbox: &Inbox<DB>) -> Self {
        Self {
            inbox: inbox.clone(),
            grace: Duration::from_secs(5),
            every: Duration::from_secs(30),
            handlers: BTreeMap::new(),
        }
    }

    /// How long an expired claim is left to redeliveries, which may take it over.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// How long to wait between two sweeps; up to a fifth more is added at random, so that instances spread.
    pub fn every(mut self, every: Duration) -> Self {
        self.every = every;
        self
    }

    /// Delivers stored messages of this consumer to its handler when they are due again.
    ///
    /// The handler is an ordinary `#[idempotent(consumer = .., payload = ..)]` one, called as a delivery
    /// would: its own claim decides whether the body runs. A payload that is not a `T` parks its message.
    pub fn on<T, F, Fut, O, E>(mut self, consumer: &'static str, handler: F) -> Self
    where
        T: DeserializeOwned + Send + 'static,
        F: Fn(T) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, E>> + Send + 'static,
        O: Send,
        E: Into<BoxError>,
    {
        self.handlers.insert(
            consumer,
            Arc::new(move |payload| {
                let called = match serde_json::from_str::<T>(&payload) {
                    Ok(message) => Ok(handler(message)),
                    Err(error) => Err(Redelivery::Undecodable(error.to_string())),
                };
                Box::pin(async move {
                    match called?.await {
                        Ok(_) => Ok(()),
                        Err(error) => Err(Redelivery::Failed(error.into())),
                    }
                })
            }),
        );
        self
    }

    /// One sweep: for tests, and for schedulers of your own.
    ///
    /// # Errors
    ///
    /// [`Error::Schema`] and [`Error::Database`] if the table cannot be read or written. What a handler
    /// fails on is counted, logged, and not an error.
    ///
    /// # Cancel safety
    ///
    /// Dropped half-way, a handler it is calling is dropped with it, and its outcome is unknown.
    pub async fn sweep_once(&self) -> Result<Sweep, Error> {
        self.sweep_until(&AtomicBool::new(false)).await
    }

    /// Sweeps again and again until `shutdown` completes; a handler that runs then is waited for. A sweep
    /// that fails is logged, and the next one tries again.
    pub async fn run(self, shutdown: impl Future<Output = ()> + Send) {
        let (stopping, stopped) = (AtomicBool::new(false), Notify::new());
        let watch = async {
            shutdown.await;
            stopping.store(true, Ordering::Relaxed);
            stopped.notify_one();
        };
        let work = async {
            while !stopping.load(Ordering::Relaxed) {
                match self.sweep_until(&stopping).await {
                    Ok(swept) if swept == Sweep::default() => {}
                    Ok(swept) => tracing::info!(
                        table = %self.inbox.table(),
                        released = swept.released,
                        parked = swept.parked,
                        redelivered = swept.redelivered,
                        failed = swept.failed,
                        "swept"
                    ),
                    Err(error) => tracing::error!(
                        table = %self.inbox.table(),
                        error = &error as &dyn std::error::Error,
                        "sweeping failed"
                    ),
                }
                tokio::select! {
                    () = stopped.notified() => {}
                    () = tokio::time::sleep(spread(self.every)) => {}
                }
            }
        };
        tokio::join!(watch, work);
    }

    async fn sweep_until(&self, stopping: &AtomicBool) -> Result<Sweep, Error> {
        let mut done = Sweep::default();
        loop {
            let swept = self.end_expired().await?;
            for state in &swept {
                match state {
                    MessageState::Parked => done.parked += 1,
                    _ => done.released += 1,
                }
            }
            if swept.len() < BATCH as usize || stopping.load(Ordering::Relaxed) {
                break;
            }
        }
        for (consumer, redeliver) in &self.handlers {
            self.redeliver(consumer, redeliver, stopping, &mut done)
                .await?;
        }
        Ok(done)
    }

    /// One batch of claims whose lease is over.
    async fn end_expired(&self) -> Result<Vec<MessageState>, Error> {
        let inbox = &self.inbox;
        let mut transaction = Transaction::begin(inbox).await?;
        let conn = transaction.connection();
        let swept = DB::Driver::sweep(conn, inbox.leases(), self.grace, i64::from(BATCH))
            .await
            .map_err(|error| inbox.refusal(error))?;
        transaction.commit().await?;
        for row in &swept {
            let key = Key::new(row.key.as_str()).map(|key| key.short_digest());
            tracing::warn!(
                row = row.id,
                consumer = row.consumer,
                key = key.as_deref().unwrap_or("k:?"),
                attempts = row.attempts,
                state = ?MessageState::from_column(row.state),
                "a claim whose lease was over has been swept"
            );
        }
        Ok(swept
            .iter()
            .map(|row| MessageState::from_column(row.state))
            .collect())
    }

    /// All stored messages of one consumer that are due now.
    async fn redeliver(
        &self,
        consumer: &'static str,
        redeliver: &Redeliver,
        stopping: &AtomicBool,
        done: &mut Sweep,
    ) -> Result<(), Error> {
        let mut page = Page::first(BATCH);
        loop {
            let text = self.inbox.leases().list_due.clone();
            let due = self.inbox.listed(text, Some(consumer), page).await?;
            for message in &due {
                if stopping.load(Ordering::Relaxed) {
                    return Ok(());
                }
                let Some(payload) = &message.payload else {
                    continue;
                };
                match redeliver(payload.as_str().to_owned()).await {
                    Ok(()) => done.redelivered += 1,
                    Err(Redelivery::Undecodable(error)) => {
                        done.parked += u64::from(self.park(consumer, message, &error).await?);
                    }
                    Err(Redelivery::Failed(error)) => {
                        done.failed += 1;
                        tracing::warn!(row = message.row, consumer, %error, "a redelivery failed");
                    }
                }
            }
            match due.last() {
                Some(last) if due.len() == BATCH as usize => page = Page::after(last.row, BATCH),
                _ => return Ok(()),
            }
        }
    }

    /// Parks a message whose payload its handler cannot read, by a claim of our own.
    async fn park(
        &self,
        consumer: &'static str,
        message: &ListedMessage,
        error: &str,
    ) -> Result<bool, Error> {
        let name = Consumer::new(consumer)?;
        let key = Key::new(message.key.as_str())?;
        match two_phase::claim(&self.inbox, name, key, Terms::default(), None).await? {
            TwoPhase::Duplicate => Ok(false),
            TwoPhase::Fresh(claim) => {
                let text = two_phase::short(&format!("the payload cannot be read: {error}"));
                two_phase::settle(claim, Some((Effect::Rejected, text))).await;
                Ok(true)
            }
        }
    }
}

/// Up to a fifth more.
fn spread(every: Duration) -> Duration {
    let random = f64::from(u32::from_le_bytes(two_phase::random())) / f64::from(u32::MAX);
    every.saturating_add((every / 5).mul_f64(random))
}

impl<DB: Backend> fmt::Debug for Sweeper<DB> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sweeper")
            .field("inbox", &self.inbox)
            .field("grace", &self.grace)
            .field("every", &self.every)
            .field("consumers", &self.handlers.keys())
            .finish()
    }
}
