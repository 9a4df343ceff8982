//! What a person can see and decide about messages that nobody else will finish.

use std::{fmt, time::Duration};

use crate::{
    backend::{
        Backend,
        leases::{Leases as _, Listed},
    },
    error::Error,
    inbox::Inbox,
    status::MessageState,
    transaction::Transaction,
};

/// A part of a list, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    after: i64,
    limit: u32,
}

impl Page {
    /// The first `limit` messages.
    pub fn first(limit: u32) -> Self {
        Self { after: 0, limit }
    }

    /// The next `limit` messages after the one in this row: the last of the page before.
    pub fn after(row: i64, limit: u32) -> Self {
        Self { after: row, limit }
    }
}

/// One message on a list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedMessage {
    /// The `id` of its row, for [`Inbox::release`], [`Inbox::resolve`] and [`Inbox::discard`].
    pub row: i64,
    /// The consumer it was delivered to.
    pub consumer: String,
    /// Its key, in full.
    pub key: String,
    /// Where it stands.
    pub state: MessageState,
    /// How often a body was started for it.
    pub attempts: u32,
    /// How many of those lost their lease.
    pub lost_leases: u32,
    /// How long ago it was first received, by the database's clock.
    pub received_ago: Duration,
    /// What went wrong last, at most 500 bytes of the error's own text. It may contain personal data.
    pub last_error: Option<String>,
    /// The message itself, if the handler keeps it.
    pub payload: Option<Payload>,
}

/// The JSON of a stored message. Its `Debug` shows only how long it is.
#[derive(Clone, PartialEq, Eq)]
pub struct Payload(String);

impl Payload {
    /// The JSON.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Payload({} bytes)", self.0.len())
    }
}

/// Whether a decision was carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "the decision may not have been carried out"]
pub enum Decided {
    /// It was.
    Done,
    /// There is no such row, or no longer.
    NotFound,
    /// The message is processed already.
    AlreadyProcessed,
    /// Somebody works on it, and its lease runs: wait until it is over.
    InProgress,
}

impl ListedMessage {
    fn from_row(row: Listed) -> Self {
        let count = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
        Self {
            row: row.id,
            consumer: row.consumer,
            key: row.key,
            state: MessageState::from_column(row.state),
            attempts: count(row.attempts),
            lost_leases: count(row.lost_leases),
            received_ago: Duration::from_millis(row.received_ms_ago.max(0).unsigned_abs()),
            last_error: row.last_error,
            payload: row.payload.map(Payload),
        }
    }
}

impl<DB: Backend> Inbox<DB> {
    /// Messages that wait for a person, oldest first.
    ///
    /// # Errors
    ///
    /// [`Error::Schema`] and [`Error::Database`] if the table cannot be read.
    pub async fn parked(&self, page: Page) -> Result<Vec<ListedMessage>, Error> {
        self.listed(self.leases().list.clone(), None, page).await
    }

    /// Claims whose lease is over and that nobody took over, swept or parked yet, oldest first.
    ///
    /// # Errors
    ///
    /// [`Error::Schema`] and [`Error::Database`] if the table cannot be read.
    pub async fn stale(&self, page: Page) -> Result<Vec<ListedMessage>, Error> {
        self.listed(self.leases().list_stale.clone(), None, page)
            .await
    }

    pub(crate) async fn listed(
        &self,
        text: sqlx::SqlStr,
        consumer: Option<&str>,
        page: Page,
    ) -> Result<Vec<ListedMessage>, Error> {
        let mut guard = self.acquire().await?;
        let (after, limit) = (page.after, i64::from(page.limit));
        let rows = DB::Driver::list(guard.connection(), text, consumer, after, limit)
            .await
            .map_err(|error| self.refusal(error))?;
        guard.release();
        Ok(rows.into_iter().map(ListedMessage::from_row).collect())
    }

    /// Another attempt, now, and one more than the handler's limit: the next delivery runs the body.
    ///
    /// For parked messages and for claims whose lease is over. The fence moves, so a worker that comes
    /// back late changes nothing any more. The horizon of a handler that retries begins anew.
    ///
    /// # Errors
    ///
    /// [`Error::Schema`] and [`Error::Database`] if the table cannot be written.
    pub async fn release(&self, row: i64) -> Result<Decided, Error> {
        self.decide(row, Wish::Release).await
    }

    /// Somebody did by hand what the message asked for: a late redelivery is acknowledged.
    ///
    /// # Errors
    ///
    /// As for [`release`](Self::release).
    pub async fn resolve(&self, row: i64) -> Result<Decided, Error> {
        self.decide(row, Wish::Close("resolved by an operator"))
            .await
    }

    /// It shall never be done: a late redelivery is acknowledged.
    ///
    /// # Errors
    ///
    /// As for [`release`](Self::release).
    pub async fn discard(&self, row: i64) -> Result<Decided, Error> {
        self.decide(row, Wish::Close("discarded by an operator"))
            .await
    }

    async fn decide(&self, row: i64, wish: Wish) -> Result<Decided, Error> {
        let sql = self.leases();
        let mut transaction = Transaction::begin(self).await?;
        let conn = transaction.connection();
        let done = match wish {
            Wish::Release => DB::Driver::release(conn, sql, row).await,
            Wish::Close(reason) => DB::Driver::close(conn, sql, row, reason).await,
        };
        let decided = match done {
            Ok(true) => Ok(Decided::Done),
            Ok(false) => DB::Driver::find(conn, sql, row).await.map(|found| {
                match found.map(|row| MessageState::from_column(row.state)) {
                    None => Decided::NotFound,
                    Some(MessageState::Processed) => Decided::AlreadyProcessed,
                    Some(_) => Decided::InProgress,
                }
            }),
            Err(error) => Err(error),
        };
        let decided = decided.map_err(|error| self.refusal(error))?;
        transaction.commit().await?;
        tracing::info!(row, ?wish, ?decided, table = %self.table(), "an operator decided");
        Ok(decided)
    }
}

/// What an operator wants.
#[derive(Debug, Clone, Copy)]
enum Wish {
    Release,
    /// With the reason that stays in the row.
    Close(&'static str),
}
