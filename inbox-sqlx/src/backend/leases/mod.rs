//! The two-phase mode in SQL: each request of `inbox_core::two_phase` as one statement.
//!
//! The texts are written once. What the databases say differently (the clock, placeholders, casts) is a
//! [`Dialect`]; what they *do* differently (claim and sweep, which MySQL cannot do in one statement) is a
//! trait of its own, [`Take`]. All conditions are those of the decision function, and a test compares the
//! two for every state.

mod calls;
mod text;

use std::time::Duration;

use inbox_core::{
    Consumer, Key, TableName,
    two_phase::{DbTime, Effect, Held, Policy, Row, Token},
};
use sqlx::SqlStr;

pub(crate) use self::calls::{RawRow, leases};
pub(crate) use self::text::statements;
use super::{Conn, ForDatabase, sql::Settings};

/// How a database says what all of them can.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dialect {
    /// The placeholder of the n-th value, counted from 1.
    pub(crate) value: fn(usize) -> String,
    /// The database's own clock, moving within a transaction.
    pub(crate) now: &'static str,
    /// `now` plus or minus a number of milliseconds.
    pub(crate) shifted: fn(sign: char, milliseconds: &str) -> String,
    /// A column as a 64-bit integer.
    pub(crate) integer: fn(&str) -> String,
    /// A time as milliseconds since 1970.
    pub(crate) epoch: fn(&str) -> String,
    /// A key column as text.
    pub(crate) text: fn(&str) -> String,
    /// The name of the table within an upsert, where an upsert can carry a condition.
    pub(crate) alias: &'static str,
    /// The greater of two.
    pub(crate) greatest: &'static str,
    /// How a sweep locks what it picks, where one statement can pick, change and tell.
    pub(crate) sweep_lock: Option<&'static str>,
    /// The quoted name of the table.
    pub(crate) inbox: fn(&Settings) -> String,
}

/// The statements, made once per inbox. Values are bound in the order in which the methods of [`Leases`]
/// list them.
#[derive(Debug)]
pub struct LeaseStatements {
    pub(crate) claim: SqlStr,
    pub(crate) take: SqlStr,
    pub(crate) taken: SqlStr,
    pub(crate) inspect: SqlStr,
    pub(crate) park_unresolved: SqlStr,
    pub(crate) renew: SqlStr,
    pub(crate) record: SqlStr,
    pub(crate) fail_not_happened: SqlStr,
    pub(crate) fail_unknown: SqlStr,
    pub(crate) fail_rejected: SqlStr,
    pub(crate) sweep: SqlStr,
    pub(crate) swept: SqlStr,
    pub(crate) sweep_pick: SqlStr,
    pub(crate) release: SqlStr,
    pub(crate) close: SqlStr,
    pub(crate) list: SqlStr,
    pub(crate) list_stale: SqlStr,
    pub(crate) list_due: SqlStr,
    pub(crate) table: TableName,
    /// Whether sqlx may keep them prepared on the connection.
    pub(crate) persistent: bool,
}

/// What a delivery asks for.
#[derive(Debug, Clone, Copy)]
pub struct LeaseClaim<'a> {
    pub(crate) consumer: &'a Consumer,
    pub(crate) key: &'a Key,
    pub(crate) token: Token,
    pub(crate) lease: Duration,
    pub(crate) policy: Policy,
    /// The message as JSON, for redelivery by the sweeper.
    pub(crate) payload: Option<&'a str>,
}

/// A claim that was granted.
#[derive(Debug, Clone, Copy)]
pub struct Granted {
    pub(crate) row: i64,
    pub(crate) fence: i64,
    pub(crate) attempt: u32,
}

/// A row and the clock it was read by.
#[derive(Debug)]
pub struct Inspected {
    pub(crate) id: i64,
    pub(crate) row: Row,
    pub(crate) now: DbTime,
}

/// A row as the sweeper or an operator left it.
#[derive(Debug)]
pub struct Swept {
    pub(crate) id: i64,
    pub(crate) consumer: String,
    pub(crate) key: String,
    pub(crate) state: i64,
    pub(crate) attempts: i64,
}

/// One line of a list for an operator.
#[derive(Debug)]
pub struct Listed {
    pub(crate) id: i64,
    pub(crate) consumer: String,
    pub(crate) key: String,
    pub(crate) state: i64,
    pub(crate) attempts: i64,
    pub(crate) lost_leases: i64,
    pub(crate) received_ms_ago: i64,
    pub(crate) last_error: Option<String>,
    pub(crate) payload: Option<String>,
}

/// What one statement can do everywhere. Implemented by [`leases!`].
pub trait Leases: ForDatabase {
    fn lease_statements(settings: &Settings) -> LeaseStatements;

    fn inspect(
        conn: &mut Conn<Self>,
        sql: &LeaseStatements,
        consumer: &Consumer,
        key: &Key,
    ) -> impl Future<Output = sqlx::Result<Option<Inspected>>> + Send;

    fn park_unresolved(
        conn: &mut Conn<Self>,
        sql: &LeaseStatements,
        id: i64,
        fence: i64,
        policy: Policy,
        reason: &str,
    ) -> impl Future<Output = sqlx::Result<bool>> + Send;

    fn renew(
        conn: &mut Conn<Self>,
        sql: &LeaseStatements,
        id: i64,
        held: Held,
        lease: Duration,
    ) -> impl Future<Output = sqlx::Result<bool>> + Send;

    fn record(
        conn: &mut Conn<Self>,
        sql: &LeaseStatements,
        id: i64,
        held: Held,
    ) -> impl Future<Output = sqlx::Result<bool>> + Send;

    fn fail(
        conn: &mut Conn<Self>,
        sql: &LeaseStatements,
        id: i64,
        held: Held,
        effect: Effect,
        delay: Duration,
        error: &str,
    ) -> impl Future<Output = sqlx::Result<bool>> + Send;

    fn release(
        conn: &mut Conn<Self>,
        sql: &LeaseStatements,
        id: i64,
    ) -> impl Future<Output = sqlx::Result<bool>> + Send;

    fn close(
        conn: &mut Conn<Self>,
        sql: &LeaseStatements,
        id: i64,
        reason: &str,
    ) -> impl Future<Output = sqlx::Result<bool>> + Send;

    /// One row by its id, if it is still there.
    fn find(
        conn: &mut Conn<Self>,
        sql: &LeaseStatements,
        id: i64,
    ) -> impl Future<Output = sqlx::Result<Option<Swept>>> + Send;

    /// Rows in the order of their ids; the consumer is bound only where the text asks for one.
    fn list(
        conn: &mut Conn<Self>,
        text: SqlStr,
        consumer: Option<&str>,
        after: i64,
        limit: i64,
    ) -> impl Future<Output = sqlx::Result<Vec<Listed>>> + Send;
}

/// What MySQL cannot do in one statement.
pub trait Take: Leases {
    /// Whether [`claim_lease`](Self::claim_lease) only inserts, so that
    /// [`take_lease`](Self::take_lease) is needed.
    const TAKES_SEPARATELY: bool;

    /// Grants the claim if nobody claimed the message before, or it may be claimed again.
    fn claim_lease(
        conn: &mut Conn<Self>,
        sql: &LeaseStatements,
        claim: &LeaseClaim<'_>,
    ) -> impl Future<Output = sqlx::Result<Option<Granted>>> + Send;

    /// The second half of a claim, in a transaction of its own, where [`claim_lease`](Self::claim_lease)
    /// only inserts.
    fn take_lease(
        conn: &mut Conn<Self>,
        sql: &LeaseStatements,
        claim: &LeaseClaim<'_>,
    ) -> impl Future<Output = sqlx::Result<Option<Granted>>> + Send;

    /// Ends at most `limit` claims whose lease is over since `grace`, by the policies in their rows.
    fn sweep(
        conn: &mut Conn<Self>,
        sql: &LeaseStatements,
        grace: Duration,
        limit: i64,
    ) -> impl Future<Output = sqlx::Result<Vec<Swept>>> + Send;
}

/// A duration as the milliseconds our statements add to the database's clock.
pub(crate) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
