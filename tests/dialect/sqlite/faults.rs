//! What cases about waiting, cancelling and breaking say on SQLite.

use inbox_sqlx::Error;

use crate::support::database::TestDatabase;

/// A session's own patience with locks, which the inbox must not change.
pub(crate) const SET_LOCK_TIMEOUT: &str = "pragma busy_timeout = 7000";
pub(crate) const LOCK_TIMEOUT: &str = "select cast(timeout as text) from pragma_busy_timeout";
pub(crate) const ITS_LOCK_TIMEOUT: &str = "7000";

/// Runs for about a second.
pub(crate) const LONG_QUERY: &str = "with recursive n (i) as (select 1 union all select i + 1 from n where i < 2000000) \
                                     select count(*) from n";

/// What a claim says that waited in vain: it waited for the file, of which nobody knows what for it is locked.
pub(crate) fn gave_up_waiting(error: &Error) -> bool {
    matches!(error, Error::Database(_)) && error.is_transient()
}

/// A way to the database on which everything takes a moment: SQLite works on a thread of its own, and that is enough.
#[derive(Debug)]
pub(crate) struct SlowLink(String);

impl SlowLink {
    #[expect(
        clippy::unused_async,
        reason = "the same signature as where there is a network"
    )]
    pub(crate) async fn to(database: &TestDatabase) -> Self {
        Self(database.url().to_owned())
    }

    pub(crate) fn url(&self) -> &str {
        &self.0
    }
}
