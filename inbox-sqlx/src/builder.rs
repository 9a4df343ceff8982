//! `InboxBuilder`: the settings of an inbox, checked before anything is touched.

use std::{marker::PhantomData, time::Duration};

use inbox_core::TableName;
use sqlx::Pool;

use crate::{
    backend::{
        Backend,
        driver::Driver as _,
        sql::{Prepared, Settings},
    },
    error::{ConfigError, Error},
    inbox::{Inbox, PoolOwner},
};

/// How long a claim waits for a concurrent one unless the builder says otherwise.
const CLAIM_TIMEOUT: Duration = Duration::from_secs(30);

/// The settings of an [`Inbox`], before it has a pool.
#[derive(Debug)]
#[must_use = "end with `build(pool)` or `connect(url)`"]
pub struct InboxBuilder<DB: Backend> {
    settings: Settings,
    table: Option<String>,
    database: PhantomData<fn() -> DB>,
}

impl<DB: Backend> Default for InboxBuilder<DB> {
    fn default() -> Self {
        Self {
            settings: Self::default_settings(),
            table: None,
            database: PhantomData,
        }
    }
}

impl<DB: Backend> InboxBuilder<DB> {
    pub(crate) fn default_settings() -> Settings {
        Settings {
            table: TableName::default(),
            claim_timeout: CLAIM_TIMEOUT,
            prepared: Prepared::Named,
        }
    }

    /// The table, `inbox` unless set, with or without a schema: `"inbox"`, `"app.inbox"`.
    ///
    /// Lower-case letters, digits and underscores, at most 40 bytes; checked when building.
    pub fn table(mut self, name: impl Into<String>) -> Self {
        self.table = Some(name.into());
        self
    }

    /// How long a claim waits for another transaction that holds the same message, 30 s unless set,
    /// from 1 ms to 24 h; then it is [`Error::InProgress`]. It does not bound the body.
    ///
    /// MariaDB counts whole seconds, rounded up. MySQL has no such bound for one statement: there the
    /// server's `innodb_lock_wait_timeout` decides. On SQLite it becomes the `busy_timeout` of
    /// [`connect`](Self::connect), and on your own pool that pool's `busy_timeout` decides; waiting too
    /// long is a transient [`Error::Database`] there.
    pub fn claim_timeout(mut self, timeout: Duration) -> Self {
        self.settings.claim_timeout = timeout;
        self
    }

    /// For a pooler that hands one session to many clients (PgBouncer in transaction mode): the inbox's
    /// statements are prepared anew each time and never by name.
    ///
    /// Your body's queries need the same: `.persistent(false)` on each.
    pub fn transaction_pooler(mut self) -> Self {
        self.settings.prepared = Prepared::Unnamed;
        self
    }

    /// An inbox on the application's own pool.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] names the value and the rule it breaks.
    pub fn build(self, pool: Pool<DB>) -> Result<Inbox<DB>, Error> {
        DB::Driver::check_pool(&pool)?;
        Ok(Inbox::assemble(
            pool,
            self.checked()?,
            PoolOwner::Application,
        ))
    }

    /// An inbox with a pool of its own; see [`Inbox::connect`].
    ///
    /// # Errors
    ///
    /// Those of [`build`](Self::build) and of [`Inbox::connect`].
    pub async fn connect(self, url: &str) -> Result<Inbox<DB>, Error> {
        let settings = self.checked()?;
        let pool = DB::Driver::connect(url, settings.claim_timeout).await?;
        Ok(Inbox::assemble(pool, settings, PoolOwner::Inbox))
    }

    fn checked(self) -> Result<Settings, Error> {
        let mut settings = self.settings;
        if let Some(name) = self.table {
            settings.table = TableName::new(&name)?;
        }
        let given = settings.claim_timeout;
        let longest = Duration::from_hours(24);
        if given < Duration::from_millis(1) || given > longest {
            return Err(ConfigError::ClaimTimeout { given }.into());
        }
        Ok(settings)
    }
}
