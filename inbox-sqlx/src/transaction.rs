//! Transactions of our own on the inbox's table.

use crate::{
    backend::{Backend, Fault, driver::Driver as _, fault},
    error::Error,
    guard::Guard,
    inbox::Inbox,
};

/// Begins on a connection that carries nobody else's transaction.
///
/// The driver does not know of one that was begun as text, or by a `begin` that was dropped in flight; the
/// database does, and says so. (PostgreSQL only if something has run in it. An empty one becomes ours there.)
pub(crate) async fn open<DB: Backend>(inbox: &Inbox<DB>) -> Result<Guard<DB>, Error> {
    let mut left = inbox.own_pool().options().get_max_connections();
    loop {
        let mut guard = inbox.acquire().await?;
        let Err(error) = DB::Driver::begin(guard.connection(), inbox.statements()).await else {
            return Ok(guard);
        };
        match fault(&error) {
            // Each round closes a connection, and there are only so many.
            Fault::AlreadyOpen | Fault::Aborted if left > 0 => guard.close().await,
            _ => return Err(inbox.refusal(error)),
        }
        left -= 1;
    }
}

/// One for everything that is not a handler's: begun like it, committed by the same seal, and rolled back by
/// closing the connection if it is dropped. Also on a pool the application shares and may have poisoned.
pub(crate) struct Transaction<'a, DB: Backend> {
    inbox: &'a Inbox<DB>,
    guard: Guard<DB>,
}

impl<'a, DB: Backend> Transaction<'a, DB> {
    pub(crate) async fn begin(inbox: &'a Inbox<DB>) -> Result<Self, Error> {
        let guard = open(inbox).await?;
        Ok(Self { inbox, guard })
    }

    pub(crate) fn connection(&mut self) -> &mut DB::Connection {
        self.guard.connection()
    }

    /// For a caller that ends it in its own way.
    pub(crate) fn into_guard(self) -> Guard<DB> {
        self.guard
    }

    pub(crate) async fn commit(mut self) -> Result<(), Error> {
        DB::Driver::seal_and_commit(self.guard.connection(), self.inbox.statements())
            .await
            .map_err(|error| self.inbox.refusal(error))?;
        self.guard.release();
        Ok(())
    }
}
