//! A transaction of our own on the inbox's table, for everything that is not a handler's.

use crate::{
    backend::{Backend, driver::Driver as _},
    error::Error,
    guard::Guard,
    inbox::Inbox,
};

/// Begun like a handler's, committed by the same seal, and rolled back by closing the connection if it is
/// dropped: also on a pool the application shares and may have poisoned.
pub(crate) struct Transaction<'a, DB: Backend> {
    inbox: &'a Inbox<DB>,
    guard: Guard<DB>,
}

impl<'a, DB: Backend> Transaction<'a, DB> {
    pub(crate) async fn begin(inbox: &'a Inbox<DB>) -> Result<Self, Error> {
        let mut guard = inbox.acquire().await?;
        DB::Driver::begin(guard.connection(), inbox.statements())
            .await
            .map_err(|error| inbox.refusal(error))?;
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
