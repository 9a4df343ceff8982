//! One statement of ours, committed: on a pool of our own by itself, on the application's in a transaction.

use crate::{
    backend::Backend,
    error::Error,
    guard::Guard,
    inbox::{Inbox, PoolOwner},
    transaction::Transaction,
};

/// A connection for one statement that commits.
///
/// On a pool that only the inbox uses, the statement commits by itself: one flight. On a pool the
/// application shares, another user may have left a connection inside a transaction nobody will end, where
/// an autocommit statement answers `Ok` and is never committed; there it is wrapped in one of ours.
pub(super) enum Session<'a, DB: Backend> {
    Own(Guard<DB>),
    Shared(Transaction<'a, DB>),
}

impl<'a, DB: Backend> Session<'a, DB> {
    pub(super) async fn open(inbox: &'a Inbox<DB>) -> Result<Self, Error> {
        Ok(match inbox.pool_owner() {
            PoolOwner::Inbox => Self::Own(inbox.acquire().await?),
            PoolOwner::Application => Self::Shared(Transaction::begin(inbox).await?),
        })
    }

    pub(super) fn connection(&mut self) -> &mut DB::Connection {
        match self {
            Self::Own(guard) => guard.connection(),
            Self::Shared(transaction) => transaction.connection(),
        }
    }

    /// The statement went well: keep it. Dropped without this, the connection is closed.
    pub(super) async fn commit(self) -> Result<(), Error> {
        match self {
            Self::Own(guard) => {
                guard.release();
                Ok(())
            }
            Self::Shared(transaction) => transaction.commit().await,
        }
    }
}
