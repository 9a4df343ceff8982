//! What a database must be able to do to keep the inbox small and in sight: prune and count.

use sqlx::SqlStr;

use super::{Conn, ForDatabase, sql::Settings};

/// The statements of upkeep, made once per inbox.
#[derive(Debug)]
pub struct UpkeepStatements {
    /// Delete a batch of processed markers older than a window.
    pub(crate) prune: SqlStr,
    /// How many a prune would delete.
    pub(crate) prunable: SqlStr,
    /// Clear a batch of payloads of messages parked for longer than a window.
    pub(crate) clear_payloads: SqlStr,
    /// State, number and greatest age of all markers that are not processed.
    pub(crate) unfinished: SqlStr,
}

/// One line of [`Upkeep::unfinished`].
#[derive(Debug)]
pub struct StateCount {
    pub(crate) state: i64,
    pub(crate) count: i64,
    /// Since the oldest of them was first received, by the database's clock.
    pub(crate) oldest_ms: i64,
}

/// See the module. Like those of `Driver`, these futures run under a guard.
pub trait Upkeep: ForDatabase {
    fn upkeep_statements(settings: &Settings) -> UpkeepStatements;

    /// How many rows one batch deletes: small enough that no claim waits long for it.
    const PRUNE_BATCH: i64;

    /// Deletes at most `limit` processed rows that are older than the window; says how many.
    fn prune(
        conn: &mut Conn<Self>,
        sql: &UpkeepStatements,
        window_ms: i64,
        limit: i64,
    ) -> impl Future<Output = sqlx::Result<u64>> + Send;

    fn prunable(
        conn: &mut Conn<Self>,
        sql: &UpkeepStatements,
        window_ms: i64,
    ) -> impl Future<Output = sqlx::Result<i64>> + Send;

    fn clear_payloads(
        conn: &mut Conn<Self>,
        sql: &UpkeepStatements,
        window_ms: i64,
        limit: i64,
    ) -> impl Future<Output = sqlx::Result<u64>> + Send;

    fn unfinished(
        conn: &mut Conn<Self>,
        sql: &UpkeepStatements,
    ) -> impl Future<Output = sqlx::Result<Vec<StateCount>>> + Send;
}
