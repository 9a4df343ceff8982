//! Owns one pooled connection, and closes it unless told that all went well.
//!
//! sqlx 0.9 hands a connection back to its pool in several states in which the next user's writes answer
//! `Ok` and are never committed: after a `begin` that was dropped in flight (PostgreSQL, MySQL), after a
//! COMMIT that failed (SQLite), after a nested `begin` that was dropped. A MySQL statement dropped while it
//! is being prepared leaves a connection that hangs for ever. So nothing but a clean end puts a connection
//! back: everything else (an error, a panic, a dropped future) closes it, and the server rolls back.

use sqlx::{Connection as _, Database, Pool, pool::PoolConnection};
use sqlx_core::transaction::TransactionManager;

use crate::backend::Backend;

/// See the module.
#[derive(Debug)]
pub(crate) struct Guard<DB: Backend>(Option<PoolConnection<DB>>);

const OWNED: &str = "the connection is taken out only by a method that consumes the guard";

impl<DB: Backend> Guard<DB> {
    /// Takes a connection that is not inside anybody's transaction.
    pub(crate) async fn acquire(pool: &Pool<DB>) -> sqlx::Result<Self> {
        loop {
            let guard = Self(Some(pool.acquire().await?));
            // Costs nothing: the driver's own count. Somebody else's leftover is closed, not used;
            // each round closes one connection, so this ends.
            if !guard.0.as_ref().expect(OWNED).is_in_transaction() {
                return Ok(guard);
            }
            guard.close().await;
        }
    }

    pub(crate) fn connection(&mut self) -> &mut DB::Connection {
        self.0.as_mut().expect(OWNED)
    }

    /// How many transactions, nested ones included, the driver believes to be open.
    pub(crate) fn depth(&self) -> usize {
        <DB as Database>::TransactionManager::get_transaction_depth(self.0.as_ref().expect(OWNED))
    }

    /// A clean end with nothing open: the connection goes back to its pool.
    pub(crate) fn release(mut self) {
        drop(self.0.take());
    }

    /// A clean end with a transaction to roll back: the ROLLBACK is queued, and travels with the ping
    /// that returns the connection to its pool, so nobody waits for it.
    pub(crate) fn roll_back_and_release(mut self) {
        // With a nested transaction left open by the body, the driver would roll back to a savepoint and
        // leave the transaction open. Dropped here, the connection is closed, and the server rolls back.
        if self.depth() != 1 {
            return;
        }
        <DB as Database>::TransactionManager::start_rollback(self.connection());
        self.release();
    }

    /// Closes the connection now.
    pub(crate) async fn close(mut self) {
        if let Some(connection) = self.0.take() {
            // Closing is a courtesy to a server that may already be gone.
            drop(connection.close().await);
        }
    }
}

impl<DB: Backend> Drop for Guard<DB> {
    fn drop(&mut self) {
        if let Some(mut connection) = self.0.take() {
            connection.close_on_drop();
        }
    }
}
