//! `Inbox`: a pool, a table and a few settings; what handlers are called with.

use std::{
    borrow::Cow,
    fmt,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use inbox_core::{Consumer, Key, MessageKey, Retention, TableName, two_phase::Terms};
use sqlx::Pool;

use crate::{
    backend::{
        Backend, Fault,
        driver::Driver as _,
        fault,
        leases::{LeaseStatements, Leases as _},
        sql::{Settings, Statements},
        upkeep::Upkeep as _,
        upkeep::UpkeepStatements,
    },
    builder::InboxBuilder,
    claim::{self, Begin},
    error::{ConfigError, Error},
    guard::Guard,
    handlers::Handlers,
    prune::{self, Pruned},
    schema::{SchemaError, SchemaProblem},
    status::{MessageStatus, StateCount},
    two_phase::{self, TwoPhase},
};

/// A table of markers in one database: what handlers are called with.
///
/// Cloning is cheap, and all clones are one inbox. Make one per process and database.
///
/// ```
/// # #[cfg(feature = "sqlite")]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), inbox_sqlx::Error> {
/// use inbox_sqlx::Inbox;
/// use sqlx::Sqlite;
///
/// let inbox = Inbox::<Sqlite>::connect("sqlite::memory:").await?;
/// inbox.install().await?;
/// inbox.verify().await?;
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "sqlite"))]
/// # fn main() {}
/// ```
pub struct Inbox<DB: Backend>(Arc<Inner<DB>>);

struct Inner<DB: Backend> {
    pool: Pool<DB>,
    settings: Settings,
    statements: Statements,
    upkeep: UpkeepStatements,
    leases: LeaseStatements,
    /// Whether the application can reach the pool.
    shared: AtomicBool,
    handlers: Handlers,
    /// A second connection that keeps an in-memory database alive while the first is replaced.
    keeper: tokio::sync::OnceCell<Mutex<Option<DB::Connection>>>,
}

impl<DB: Backend> Inbox<DB> {
    /// An inbox in the table `inbox`, with the defaults of [`Inbox::builder`], on the application's pool.
    ///
    /// Nothing is checked here: see [`verify`](Self::verify).
    pub fn new(pool: Pool<DB>) -> Self {
        Self::assemble(
            pool,
            InboxBuilder::<DB>::default_settings(),
            PoolOwner::Application,
        )
    }

    /// Sets the table's name, the patience of claims, or the pooler mode.
    pub fn builder() -> InboxBuilder<DB> {
        InboxBuilder::default()
    }

    /// Connects with a pool of its own, tuned for handlers, and the defaults of [`Inbox::builder`].
    ///
    /// The first connection is made at once, and getting one takes at most ten seconds. On SQLite: WAL, `synchronous = FULL`, foreign keys on, one connection (SQLite has one
    /// writer, and queueing for it in the pool is fair).
    ///
    /// # Errors
    ///
    /// [`Error::Config`] if the URL cannot be used, [`Error::Database`] if the database cannot be reached.
    pub async fn connect(url: &str) -> Result<Self, Error> {
        Self::builder().connect(url).await
    }

    pub(crate) fn assemble(pool: Pool<DB>, settings: Settings, pool_owner: PoolOwner) -> Self {
        let statements = DB::Driver::statements(&settings, canary());
        let upkeep = DB::Driver::upkeep_statements(&settings);
        let leases = DB::Driver::lease_statements(&settings);
        Self(Arc::new(Inner {
            pool,
            settings,
            statements,
            upkeep,
            leases,
            shared: AtomicBool::new(pool_owner == PoolOwner::Application),
            handlers: Handlers::default(),
            keeper: tokio::sync::OnceCell::new(),
        }))
    }

    /// The pool the inbox works on. What runs on it directly commits on its own.
    ///
    /// A pool that [`connect`](Self::connect) opened counts as shared with the application from the first
    /// call on: see [on whose pool](crate::guide::effects_outside_the_database#on-whose-pool).
    pub fn pool(&self) -> &Pool<DB> {
        self.0.shared.store(true, Ordering::Relaxed);
        &self.0.pool
    }

    /// The same for ourselves: we leave nothing behind on it.
    pub(crate) fn own_pool(&self) -> &Pool<DB> {
        &self.0.pool
    }

    /// The table that holds the markers.
    pub fn table(&self) -> &TableName {
        &self.0.settings.table
    }

    /// The SQL that [`install`](Self::install) runs, for people with their own migrations.
    pub fn ddl(&self) -> String {
        DB::Driver::ddl(&self.0.settings)
    }

    /// Creates the tables, or brings them up to this version. Safe to call at every start and by many
    /// instances at once; needs the right to create tables, not a superuser.
    ///
    /// There are two: the inbox itself and, with `_schema_version` after its name, a small one that says
    /// what was installed. To be rid of an inbox, drop both.
    ///
    /// # Errors
    ///
    /// [`Error::Schema`] if the role may not create tables, [`Error::Config`] if the database is
    /// read-only, [`Error::Database`] if it fails otherwise.
    ///
    /// # Cancel safety
    ///
    /// Dropped half-way, it leaves either nothing or a part that the next call completes.
    pub async fn install(&self) -> Result<(), Error> {
        let mut guard = self.acquire().await?;
        DB::Driver::install(guard.connection(), &self.0.settings)
            .await
            .map_err(|error| self.refusal(error))?;
        guard.release();
        Ok(())
    }

    /// Checks everything about the tables that the inbox's promises rest on: columns, collations, the
    /// unique index, triggers, the storage engine. Call it at start-up.
    ///
    /// # Errors
    ///
    /// [`Error::Schema`] lists all that is wrong and what mends it; [`Error::Config`] if the pool cannot
    /// carry an inbox; [`Error::Database`] if the database fails.
    pub async fn verify(&self) -> Result<(), Error> {
        let mut guard = self.acquire().await?;
        let problems = DB::Driver::verify(guard.connection(), &self.0.settings)
            .await
            .map_err(|error| self.refusal(error))?;
        guard.release();
        if problems.is_empty() {
            return Ok(());
        }
        Err(SchemaError::new(self.table(), problems).into())
    }

    /// Claims a message for a hand-written handler; `#[idempotent]` writes this call for you.
    ///
    /// Waits while another transaction holds a claim of the same message, at most the builder's
    /// `claim_timeout`.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")]
    /// # async fn example(inbox: &inbox_sqlx::Inbox<sqlx::Sqlite>) -> Result<(), sqlx::Error> {
    /// use inbox_sqlx::{Begin, Outcome};
    ///
    /// let outcome = match inbox.begin("credit", "message-17").await? {
    ///     Begin::Duplicate => Outcome::Duplicate,
    ///     Begin::Fresh(mut claimed) => {
    ///         let result = sqlx::query("update accounts set balance = balance + 10 where id = 1")
    ///             .execute(claimed.connection())
    ///             .await;
    ///         claimed.settle(result).await?
    ///     }
    /// };
    /// # let _ = outcome;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Key`] and [`Error::Config`] before anything is touched; [`Error::InProgress`] and
    /// [`Error::Parked`] if the message is not free; [`Error::Schema`] if the tables are not right;
    /// [`Error::Database`] if the database fails. Nothing is kept in any of these cases.
    ///
    /// # Cancel safety
    ///
    /// Dropped half-way, it rolls back.
    pub async fn begin<K: MessageKey + ?Sized>(
        &self,
        consumer: impl Into<Cow<'static, str>> + Send,
        key: &K,
    ) -> Result<Begin<DB>, Error> {
        let consumer = Consumer::new(consumer)?;
        let key = Key::new(key)?;
        claim::begin(self, consumer, key).await
    }

    /// Claims a message for an effect outside the database, and commits the claim; for hand-written handlers.
    ///
    /// The effect then runs outside any transaction, and [`Claim::settle`](crate::Claim::settle) records what
    /// became of it. See [`Terms`] for lease, attempts, and what is done about an unknown outcome.
    ///
    /// ```
    /// # async fn example<DB: inbox_sqlx::Backend>(inbox: &inbox_sqlx::Inbox<DB>) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    /// use inbox_sqlx::{Effect, Outcome, Terms, TwoPhase};
    /// # async fn send_mail(idempotency_key: &str) -> Result<(), std::io::Error> { Ok(()) }
    /// # #[derive(Debug, thiserror::Error)]
    /// # enum MailError { #[error(transparent)] Io(#[from] std::io::Error), #[error(transparent)] Inbox(#[from] inbox_sqlx::Error) }
    ///
    /// let outcome = match inbox.claim("email", "message-17", Terms::default()).await? {
    ///     TwoPhase::Duplicate => Outcome::Duplicate,
    ///     TwoPhase::Fresh(claim) => {
    ///         let result = send_mail(claim.idempotency_key()).await.map_err(MailError::from);
    ///         // A refused connection is known not to have sent anything; everything else is not known.
    ///         claim
    ///             .settle(result, |error| match error {
    ///                 MailError::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
    ///                     Effect::NotHappened
    ///                 }
    ///                 _ => Effect::Unknown,
    ///             })
    ///             .await?
    ///     }
    /// };
    /// # let _ = outcome;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Key`] and [`Error::Config`] before anything is touched; [`Error::InProgress`] while somebody
    /// else holds the message or it has to wait; [`Error::Parked`] if it waits for a person;
    /// [`Error::Schema`] and [`Error::Database`] as for [`begin`](Self::begin).
    ///
    /// # Cancel safety
    ///
    /// Dropped half-way, the message may be claimed by nobody until the lease is over.
    pub async fn claim<K: MessageKey + ?Sized>(
        &self,
        consumer: impl Into<Cow<'static, str>> + Send,
        key: &K,
        terms: Terms,
    ) -> Result<TwoPhase<DB>, Error> {
        let consumer = Consumer::new(consumer)?;
        let key = Key::new(key)?;
        two_phase::claim(self, consumer, key, terms, None).await
    }

    /// What the inbox knows about one message; `None` if it was never claimed, or was pruned.
    ///
    /// # Errors
    ///
    /// [`Error::Key`] and [`Error::Config`] before anything is touched; [`Error::Schema`] and
    /// [`Error::Database`] if the table cannot be read.
    pub async fn status<K: MessageKey + ?Sized>(
        &self,
        consumer: impl Into<Cow<'static, str>> + Send,
        key: &K,
    ) -> Result<Option<MessageStatus>, Error> {
        let consumer = Consumer::new(consumer)?;
        let key = Key::new(key)?;
        let mut guard = self.acquire().await?;
        let found = DB::Driver::status(guard.connection(), &self.0.statements, (&consumer, &key))
            .await
            .map_err(|error| self.refusal(error))?;
        guard.release();
        Ok(found.as_ref().map(MessageStatus::from_marker))
    }

    /// Deletes processed markers older than the retention's window, in small batches, and says what it left.
    ///
    /// A message whose marker is gone is new. One that comes again in the very moment its marker is being
    /// deleted waits for the batch and is then done again: the window's margin is there for that.
    /// Unfinished and parked messages are never pruned. Any number of instances may prune at once.
    ///
    /// # Errors
    ///
    /// [`Error::Schema`] if the role may not delete, [`Error::Database`] if the database fails. Batches that
    /// were committed before stay deleted.
    ///
    /// # Cancel safety
    ///
    /// Dropped half-way, it leaves whole batches deleted.
    pub async fn prune(&self, retention: &Retention) -> Result<Pruned, Error> {
        prune::prune(self, retention).await
    }

    /// How many markers [`prune`](Self::prune) would delete now.
    ///
    /// # Errors
    ///
    /// [`Error::Schema`] and [`Error::Database`] if the table cannot be read.
    pub async fn prunable(&self, retention: &Retention) -> Result<u64, Error> {
        let mut guard = self.acquire().await?;
        let window_ms = i64::try_from(retention.window().as_millis()).unwrap_or(i64::MAX);
        let rows = DB::Driver::prunable(guard.connection(), &self.0.upkeep, window_ms)
            .await
            .map_err(|error| self.refusal(error))?;
        guard.release();
        Ok(rows.unsigned_abs())
    }

    /// How many messages are not finished, by state, and how old the oldest of each is: one cheap query,
    /// whatever the number of processed markers.
    ///
    /// # Errors
    ///
    /// [`Error::Schema`] and [`Error::Database`] if the table cannot be read.
    pub async fn unfinished(&self) -> Result<Vec<StateCount>, Error> {
        let mut guard = self.acquire().await?;
        let rows = DB::Driver::unfinished(guard.connection(), &self.0.upkeep)
            .await
            .map_err(|error| self.refusal(error))?;
        guard.release();
        Ok(rows.iter().map(StateCount::from_row).collect())
    }

    pub(crate) fn leases(&self) -> &LeaseStatements {
        &self.0.leases
    }

    pub(crate) fn pool_owner(&self) -> PoolOwner {
        // The application cannot have left anything on a pool it got hold of later than this.
        if self.0.shared.load(Ordering::Relaxed) {
            PoolOwner::Application
        } else {
            PoolOwner::Inbox
        }
    }

    pub(crate) fn upkeep(&self) -> &UpkeepStatements {
        &self.0.upkeep
    }

    pub(crate) fn statements(&self) -> &Statements {
        &self.0.statements
    }

    pub(crate) fn handlers(&self) -> &Handlers {
        &self.0.handlers
    }

    /// A connection under guard, from a pool that can carry an inbox.
    pub(crate) async fn acquire(&self) -> Result<Guard<DB>, Error> {
        DB::Driver::check_pool(&self.0.pool)?;
        let guard = Guard::acquire(&self.0.pool)
            .await
            .map_err(Error::Database)?;
        self.0
            .keeper
            .get_or_try_init(|| async { DB::Driver::keeper(&self.0.pool).await.map(Mutex::new) })
            .await
            .map_err(Error::Database)?;
        Ok(guard)
    }

    /// What an error of one of our own statements means: the tables, the set-up, or the database.
    pub(crate) fn refusal(&self, error: sqlx::Error) -> Error {
        let problem = match fault(&error) {
            Fault::SchemaMissing => SchemaProblem::SchemaMissing,
            Fault::TableMissing => SchemaProblem::TableMissing,
            Fault::IndexMissing => SchemaProblem::IndexMissing {
                index: self.table().index(),
            },
            Fault::Intercepted => SchemaProblem::ClaimSwallowed,
            Fault::Forbidden => SchemaProblem::Forbidden,
            Fault::BinlogFormat => SchemaProblem::BinlogFormat {
                found: "STATEMENT".into(),
            },
            Fault::ReadOnly => return ConfigError::ReadOnly(error).into(),
            _ => return Error::Database(error),
        };
        SchemaError::seen(self.table(), problem, error).into()
    }
}

/// Who else runs statements on the inbox's pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PoolOwner {
    /// Nobody: the inbox opened it, and has not handed it out.
    Inbox,
    /// The application.
    Application,
}

impl<DB: Backend> Clone for Inbox<DB> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<DB: Backend> fmt::Debug for Inbox<DB> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox")
            .field("database", &DB::NAME)
            .field("table", self.table())
            .field("claim_timeout", &self.0.settings.claim_timeout)
            .finish_non_exhaustive()
    }
}

/// The savepoint that proves a transaction's identity. Drawn once per process, so that nobody can name
/// it and our SQL stays the same text.
fn canary() -> &'static str {
    static CANARY: OnceLock<String> = OnceLock::new();
    CANARY.get_or_init(|| {
        use std::hash::{BuildHasher, RandomState};
        // Seeded by the operating system; unpredictable to a body is all that is needed.
        format!("inbox_{:016x}", RandomState::new().hash_one("canary"))
    })
}
