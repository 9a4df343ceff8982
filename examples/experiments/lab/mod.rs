//! The three databases, as far as experiments differ on them.

#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "postgres")]
mod postgres;
mod sqlite;

use inbox_sqlx::Backend;
use sqlx::error::DatabaseError;

/// A database to experiment on.
pub(crate) trait Lab: Backend {
    const TITLE: &'static str;

    /// The tables, with one empty account.
    const CREATE: &'static str;
    const DROP: &'static str;

    /// Whether `DatabaseError::constraint()` says which constraint was violated.
    const NAMES_CONSTRAINTS: bool;

    /// What the primary key of the accounts is called when it is violated.
    const PRIMARY_KEY: &'static str;

    /// Begins a transaction that is going to write, at READ COMMITTED where there is such a thing.
    const BEGIN: &'static str;

    /// What an error in one statement does to its transaction.
    const ERROR: OnError;

    /// How a transaction fails through no fault of its own.
    const MISHAP: Mishap;

    /// Whether a second connection can write while a transaction that has written is open.
    const WRITERS: Writers;

    /// Asks who waits for whom, where that can be asked.
    const WAITING: Option<&'static str>;

    /// Runs statements; how many rows they changed.
    fn execute(
        conn: &mut Self::Connection,
        sql: &'static str,
    ) -> impl Future<Output = sqlx::Result<u64>> + Send;

    fn count(
        conn: &mut Self::Connection,
        sql: &'static str,
    ) -> impl Future<Output = sqlx::Result<i64>> + Send;

    fn text(
        conn: &mut Self::Connection,
        sql: &'static str,
    ) -> impl Future<Output = sqlx::Result<Option<String>>> + Send;

    /// The number under which the manual lists an error.
    fn number(error: &dyn DatabaseError) -> String;
}

/// What an error in one statement does to its transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnError {
    /// The statement is undone, the transaction goes on.
    UndoesStatement,
    /// The transaction accepts nothing more.
    #[cfg(feature = "postgres")]
    AbortsTransaction,
}

/// How a transaction fails through no fault of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mishap {
    /// It has read, somebody else wrote, and now it may not write any more.
    StaleSnapshot,
    /// It and another wait for each other, and the database ends one of them.
    #[cfg(any(feature = "postgres", feature = "mysql"))]
    Deadlock(AfterDeadlock),
}

/// What is left of the transaction that lost a deadlock.
#[cfg(any(feature = "postgres", feature = "mysql"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterDeadlock {
    /// It is there and accepts nothing more.
    #[cfg(feature = "postgres")]
    Aborted,
    /// It is gone, and what follows commits statement by statement.
    #[cfg(feature = "mysql")]
    Gone,
}

/// How many transactions can write at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writers {
    One,
    #[cfg(any(feature = "postgres", feature = "mysql"))]
    Many,
}

/// An error as its database would put it.
pub(crate) fn describe<DB: Lab>(error: &sqlx::Error) -> String {
    match error.as_database_error() {
        Some(error) => format!("error {}: {}", DB::number(error), error.message()),
        None => format!("error: {error}"),
    }
}
