//! Deletes processed markers that no delivery can need any more.

use std::time::Duration;

use inbox_core::Retention;

use crate::{
    backend::{Backend, Fault, fault, upkeep::Upkeep as _},
    error::Error,
    inbox::Inbox,
    status::MessageState,
    transaction::Transaction,
};

/// Between two batches, so that pruning never takes more than a part of the database.
const PAUSE: Duration = Duration::from_millis(50);

/// How often a batch is tried again when it met another pruner.
const TRIES: u32 = 10;

/// What a prune did, and what it left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pruned {
    /// Processed markers deleted.
    pub deleted: u64,
    /// Payloads of parked messages cleared.
    pub payloads_cleared: u64,
    /// Messages that are not finished, parked ones not counted. They are never pruned.
    pub unfinished: u64,
    /// Messages that wait for a person. They are never pruned.
    pub parked: u64,
}

/// See [`Inbox::prune`].
pub(crate) async fn prune<DB: Backend>(
    inbox: &Inbox<DB>,
    retention: &Retention,
) -> Result<Pruned, Error> {
    let mut pruned = Pruned {
        deleted: all(inbox, Job::Prune, retention.window()).await?,
        ..Pruned::default()
    };
    if let Some(window) = retention.parked_payloads() {
        pruned.payloads_cleared = all(inbox, Job::ClearPayloads, window).await?;
    }
    for counted in inbox.unfinished().await? {
        match counted.state {
            MessageState::Parked => pruned.parked += counted.count,
            _ => pruned.unfinished += counted.count,
        }
    }
    Ok(pruned)
}

#[derive(Debug, Clone, Copy)]
enum Job {
    Prune,
    ClearPayloads,
}

/// One batch in a transaction of its own, so that what is done stays done, whatever happens next.
async fn batch<DB: Backend>(inbox: &Inbox<DB>, job: Job, window_ms: i64) -> Result<u64, Error> {
    let mut tries = 1;
    loop {
        match try_batch(inbox, job, window_ms).await {
            Err(Error::Database(error)) if tries < TRIES && met_another(&error) => {
                tries += 1;
                tokio::time::sleep(PAUSE).await;
            }
            done => return done,
        }
    }
}

fn met_another(error: &sqlx::Error) -> bool {
    matches!(fault(error), Fault::Conflict | Fault::LockWait)
}

async fn try_batch<DB: Backend>(inbox: &Inbox<DB>, job: Job, window_ms: i64) -> Result<u64, Error> {
    let (sql, limit) = (inbox.upkeep(), DB::Driver::PRUNE_BATCH);
    let mut transaction = Transaction::begin(inbox).await?;
    let conn = transaction.connection();
    let rows = match job {
        Job::Prune => DB::Driver::prune(conn, sql, window_ms, limit).await,
        Job::ClearPayloads => DB::Driver::clear_payloads(conn, sql, window_ms, limit).await,
    };
    let rows = rows.map_err(|error| inbox.refusal(error))?;
    transaction.commit().await?;
    Ok(rows)
}

/// All batches of a job, until one is not full.
async fn all<DB: Backend>(inbox: &Inbox<DB>, job: Job, window: Duration) -> Result<u64, Error> {
    // The retention's own limit of a hundred years fits.
    let window_ms = i64::try_from(window.as_millis()).unwrap_or(i64::MAX);
    let mut rows = 0;
    loop {
        let done = batch(inbox, job, window_ms).await?;
        rows += done;
        if done < DB::Driver::PRUNE_BATCH.unsigned_abs() {
            return Ok(rows);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Prunes again and again: the nightly job of a service.
///
/// Any number of instances may run one; they share the work.
///
/// ```no_run
/// # async fn example<DB: inbox_sqlx::Backend>(inbox: inbox_sqlx::Inbox<DB>) -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
///
/// use inbox_sqlx::{Pruner, Retention};
///
/// let retention = Retention::builder()
///     .lock_timeout(Duration::from_mins(5))
///     .max_deliveries(10)
///     .message_ttl(Duration::from_hours(72))
///     .build()?;
/// let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
/// let pruner = Pruner::new(&inbox, retention).every(Duration::from_hours(24));
/// let job = tokio::spawn(async move { pruner.run(async { drop(stopped.await) }).await });
/// // … and when the service stops:
/// drop(stop);
/// job.await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "call `run`"]
pub struct Pruner<DB: Backend> {
    inbox: Inbox<DB>,
    retention: Retention,
    every: Duration,
}

impl<DB: Backend> Pruner<DB> {
    /// Once a day, unless told otherwise.
    pub fn new(inbox: &Inbox<DB>, retention: Retention) -> Self {
        Self {
            inbox: inbox.clone(),
            retention,
            every: Duration::from_hours(24),
        }
    }

    /// How long to wait after one prune has ended before the next begins.
    pub fn every(mut self, every: Duration) -> Self {
        self.every = every;
        self
    }

    /// Prunes at once, and then again and again until `shutdown` completes. A prune that fails is logged
    /// and tried again the next time; one that is under way when `shutdown` completes is dropped between
    /// two statements, and what it deleted stays deleted.
    ///
    /// # Cancel safety
    ///
    /// May be dropped at any time.
    pub async fn run(self, shutdown: impl Future<Output = ()> + Send) {
        let forever = async {
            loop {
                match self.inbox.prune(&self.retention).await {
                    Ok(pruned) => tracing::info!(
                        table = %self.inbox.table(),
                        deleted = pruned.deleted,
                        payloads_cleared = pruned.payloads_cleared,
                        unfinished = pruned.unfinished,
                        parked = pruned.parked,
                        "pruned"
                    ),
                    Err(error) => tracing::error!(
                        table = %self.inbox.table(),
                        error = &error as &(dyn std::error::Error + 'static),
                        "pruning failed"
                    ),
                }
                tokio::time::sleep(self.every).await;
            }
        };
        tokio::select! {
            () = shutdown => {}
            () = forever => {}
        }
    }
}
