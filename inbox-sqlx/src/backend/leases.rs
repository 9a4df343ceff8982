//! The two-phase mode in SQL: each request of `inbox_core::two_phase` as one statement.
//!
//! The texts are written once. What the databases say differently (the clock, placeholders, casts) is a
//! [`Dialect`]; what they *do* differently (claim and sweep, which MySQL cannot do in one statement) is a
//! trait of its own, [`Take`]. All conditions are those of the decision function, and a test compares the
//! two for every state.

use std::{cell::Cell, time::Duration};

use inbox_core::{
    Consumer, Key, TableName,
    two_phase::{DbTime, Effect, Held, Policy, Row, State, Token},
};
use sqlx::{Database, SqlStr};

use super::sql::{Prepared, Settings, sql};

/// How a database says what all of them can.
#[derive(Debug, Clone, Copy)]
pub struct Dialect {
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

/// A claim that the sweeper ended.
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
pub trait Leases: Database + Sized {
    fn lease_statements(settings: &Settings) -> LeaseStatements;

    fn inspect(
        conn: &mut Self::Connection,
        sql: &LeaseStatements,
        consumer: &Consumer,
        key: &Key,
    ) -> impl Future<Output = sqlx::Result<Option<Inspected>>> + Send;

    fn park_unresolved(
        conn: &mut Self::Connection,
        sql: &LeaseStatements,
        id: i64,
        fence: i64,
        policy: Policy,
        reason: &str,
    ) -> impl Future<Output = sqlx::Result<bool>> + Send;

    fn renew(
        conn: &mut Self::Connection,
        sql: &LeaseStatements,
        id: i64,
        held: Held,
        lease: Duration,
    ) -> impl Future<Output = sqlx::Result<bool>> + Send;

    fn record(
        conn: &mut Self::Connection,
        sql: &LeaseStatements,
        id: i64,
        held: Held,
    ) -> impl Future<Output = sqlx::Result<bool>> + Send;

    fn fail(
        conn: &mut Self::Connection,
        sql: &LeaseStatements,
        id: i64,
        held: Held,
        effect: Effect,
        delay: Duration,
        error: &str,
    ) -> impl Future<Output = sqlx::Result<bool>> + Send;

    fn release(
        conn: &mut Self::Connection,
        sql: &LeaseStatements,
        id: i64,
    ) -> impl Future<Output = sqlx::Result<bool>> + Send;

    fn close(
        conn: &mut Self::Connection,
        sql: &LeaseStatements,
        id: i64,
        reason: &str,
    ) -> impl Future<Output = sqlx::Result<bool>> + Send;

    fn list(
        conn: &mut Self::Connection,
        text: SqlStr,
        after: i64,
        limit: i64,
    ) -> impl Future<Output = sqlx::Result<Vec<Listed>>> + Send;
}

/// What MySQL cannot do in one statement.
pub trait Take: Leases {
    /// Grants the claim if nobody claimed the message before, or it may be claimed again.
    fn claim_lease(
        conn: &mut Self::Connection,
        sql: &LeaseStatements,
        claim: &LeaseClaim<'_>,
    ) -> impl Future<Output = sqlx::Result<Option<Granted>>> + Send;

    /// The second half of a claim, in a transaction of its own, where [`claim_lease`](Self::claim_lease)
    /// only inserts.
    fn take_lease(
        conn: &mut Self::Connection,
        sql: &LeaseStatements,
        claim: &LeaseClaim<'_>,
    ) -> impl Future<Output = sqlx::Result<Option<Granted>>> + Send;

    /// Ends at most `limit` claims whose lease is over since `grace`, by the policies in their rows.
    fn sweep(
        conn: &mut Self::Connection,
        sql: &LeaseStatements,
        grace: Duration,
        limit: i64,
    ) -> impl Future<Output = sqlx::Result<Vec<Swept>>> + Send;
}

/// Numbers the placeholders of one statement in the order in which its text is built.
struct Values<'a> {
    dialect: &'a Dialect,
    used: Cell<usize>,
}

impl<'a> Values<'a> {
    fn of(dialect: &'a Dialect) -> Self {
        Self {
            dialect,
            used: Cell::new(0),
        }
    }

    fn next(&self) -> String {
        self.used.set(self.used.get() + 1);
        (self.dialect.value)(self.used.get())
    }

    /// So many milliseconds from now.
    fn after(&self) -> String {
        (self.dialect.shifted)('+', &self.next())
    }

    /// So many milliseconds ago.
    fn before(&self) -> String {
        (self.dialect.shifted)('-', &self.next())
    }
}

/// The conditions of the decision function, over columns that may need the table's name before them.
struct Conditions<'a> {
    dialect: &'a Dialect,
    table: &'a str,
}

impl Conditions<'_> {
    /// The policy in the row can be read.
    fn has_policy(&self) -> String {
        let t = self.table;
        format!(
            "coalesce({t}max_attempts > 0 and ({t}on_unknown = 0 \
             or ({t}on_unknown = 1 and {t}horizon_ms > 0)), false)"
        )
    }

    /// It is `retry`.
    fn retries(&self) -> String {
        let t = self.table;
        format!("coalesce({t}max_attempts > 0 and {t}on_unknown = 1 and {t}horizon_ms > 0, false)")
    }

    /// Its horizon is over.
    fn past_own_horizon(&self) -> String {
        let t = self.table;
        let ago = (self.dialect.shifted)('-', &format!("{t}horizon_ms"));
        format!(
            "({} and coalesce({t}first_call_at <= {ago}, false))",
            self.retries()
        )
    }

    /// Nobody's lease runs and no back-off either.
    fn free(&self) -> String {
        let (t, now) = (self.table, self.dialect.now);
        format!(
            "(({t}state = 0 and {t}lease_until <= {now}) \
             or ({t}state = 1 and ({t}next_at is null or {t}next_at <= {now})))"
        )
    }

    /// No body may run any more; the four texts are the claim's own policy.
    fn spent(&self, on_unknown: &str, max_attempts: &str, past_horizon: &str) -> String {
        let (t, greatest) = (self.table, self.dialect.greatest);
        let (has_policy, retries) = (self.has_policy(), self.retries());
        let past_own_horizon = self.past_own_horizon();
        format!(
            "(({t}state = 0 and not ({retries} and {on_unknown} = 1)) \
             or {t}attempts >= {greatest}({max_attempts}, \
             case when {has_policy} then {t}max_attempts else 0 end) \
             or coalesce({past_horizon}, false) or {past_own_horizon})"
        )
    }

    /// One more if somebody other than the holder ends the claim.
    fn lost_leases(&self) -> String {
        let t = self.table;
        format!("{t}lost_leases + case when {t}state = 0 then 1 else 0 end")
    }
}

/// The statements in a dialect.
///
/// In the updates `state` is assigned last: MySQL assigns from left to right, and what follows an
/// assignment sees the new value. <https://dev.mysql.com/doc/refman/8.0/en/update.html>
pub(crate) fn statements(settings: &Settings, dialect: &Dialect) -> LeaseStatements {
    let inbox = (dialect.inbox)(settings);
    let now = dialect.now;
    let row = Conditions { dialect, table: "" };
    let held = |values: &Values<'_>| {
        format!(
            "id = {} and fence = {} and token = {}",
            values.next(),
            values.next(),
            values.next()
        )
    };

    LeaseStatements {
        claim: {
            let rest = if dialect.alias.is_empty() {
                String::new()
            } else {
                upsert(dialect)
            };
            sql(claim(dialect, &inbox) + &rest)
        },
        take: sql(take(dialect, &inbox)),
        taken: {
            let v = Values::of(dialect);
            sql(format!(
                "select id, fence, {} from {inbox} \
                 where message_id = {} and consumer = {} and token = {}",
                (dialect.integer)("attempts"),
                v.next(),
                v.next(),
                v.next()
            ))
        },
        inspect: sql(inspect(dialect, &inbox)),
        park_unresolved: {
            let v = Values::of(dialect);
            let reason = v.next();
            let (id, fence) = (v.next(), v.next());
            let (on_unknown, max_attempts) = (v.next(), v.next());
            let past_horizon = format!("first_call_at <= {}", v.before());
            let (free, spent) = (
                row.free(),
                row.spent(&on_unknown, &max_attempts, &past_horizon),
            );
            let lost_leases = row.lost_leases();
            sql(format!(
                "update {inbox} set last_error = coalesce(last_error, {reason}), \
                 lost_leases = {lost_leases}, lease_until = null, next_at = null, \
                 parked_at = {now}, state = 3 \
                 where id = {id} and fence = {fence} and {free} and {spent}"
            ))
        },
        renew: {
            let v = Values::of(dialect);
            let until = v.after();
            let held = held(&v);
            sql(format!(
                "update {inbox} set lease_until = {until} where {held} and state = 0"
            ))
        },
        record: {
            let held = held(&Values::of(dialect));
            sql(format!(
                "update {inbox} set processed_at = {now}, lease_until = null, next_at = null, \
                 parked_at = null, last_error = null, state = 2 where {held} and state <> 2"
            ))
        },
        fail_not_happened: sql(fail(dialect, &inbox, &row.has_policy())),
        fail_unknown: sql(fail(dialect, &inbox, &row.retries())),
        fail_rejected: sql(fail(dialect, &inbox, "false")),
        sweep: match dialect.sweep_lock {
            Some(lock) => sql(sweep_all(dialect, &inbox, lock)),
            None => sql(format!(
                "{}id = {}",
                sweep(dialect, &inbox),
                Values::of(dialect).next()
            )),
        },
        swept: {
            let (text, integer) = (dialect.text, dialect.integer);
            sql(format!(
                "select id, {}, {}, {}, {} from {inbox} where id = {}",
                text("consumer"),
                text("message_id"),
                integer("state"),
                integer("attempts"),
                Values::of(dialect).next()
            ))
        },
        sweep_pick: {
            let v = Values::of(dialect);
            let over = format!("lease_until <= {}", v.before());
            sql(format!(
                "select id from {inbox} where state = 0 and {over} \
                 order by lease_until limit {} for update skip locked",
                v.next()
            ))
        },
        release: {
            let v = Values::of(dialect);
            let (has_policy, lost_leases) = (row.has_policy(), row.lost_leases());
            sql(format!(
                "update {inbox} set fence = fence + 1, lost_leases = {lost_leases}, \
                 max_attempts = case when {has_policy} then max_attempts + 1 else max_attempts end, \
                 lease_until = null, next_at = null, first_call_at = null, parked_at = null, state = 1 \
                 where id = {} and state <> 2 and not (state = 0 and lease_until > {now})",
                v.next()
            ))
        },
        close: {
            let v = Values::of(dialect);
            let (reason, lost_leases) = (v.next(), row.lost_leases());
            sql(format!(
                "update {inbox} set fence = fence + 1, lost_leases = {lost_leases}, \
                 last_error = {reason}, lease_until = null, next_at = null, parked_at = null, \
                 processed_at = {now}, state = 2 \
                 where id = {} and state <> 2 and not (state = 0 and lease_until > {now})",
                v.next()
            ))
        },
        list: sql(list(dialect, &inbox, "state = 3")),
        list_stale: sql(list(
            dialect,
            &inbox,
            &format!("state = 0 and lease_until <= {now}"),
        )),
        table: settings.table.clone(),
        persistent: settings.prepared == Prepared::Named,
    }
}

/// key, consumer, token, lease, on_unknown, max_attempts, horizon, payload.
fn claim(dialect: &Dialect, inbox: &str) -> String {
    let v = Values::of(dialect);
    let (now, alias) = (dialect.now, dialect.alias);
    format!(
        "insert into {inbox}{alias} (message_id, consumer, state, processed_at, first_call_at, token, \
         lease_until, on_unknown, max_attempts, horizon_ms, payload) \
         values ({}, {}, 0, null, {now}, {}, {}, {}, {}, {}, {})",
        v.next(),
        v.next(),
        v.next(),
        v.after(),
        v.next(),
        v.next(),
        v.next(),
        v.next()
    )
}

/// The rest of the claim where an upsert can carry a condition: PostgreSQL and SQLite.
///
/// The row is locked from the conflict on, so two claims of an expired lease cannot both be granted. The
/// lease is measured anew from now, because the insert may have waited.
fn upsert(dialect: &Dialect) -> String {
    let now = dialect.now;
    let row = Conditions {
        dialect,
        table: "i.",
    };
    let past_horizon = format!(
        "i.first_call_at <= {}",
        (dialect.shifted)('-', "excluded.horizon_ms")
    );
    let (free, lost_leases) = (row.free(), row.lost_leases());
    let spent = row.spent(
        "excluded.on_unknown",
        "excluded.max_attempts",
        &past_horizon,
    );
    let has_policy = row.has_policy();
    let greatest = dialect.greatest;
    let attempts = (dialect.integer)("attempts");
    format!(
        " on conflict (message_id, consumer) do update set state = 0, fence = i.fence + 1, \
         token = excluded.token, attempts = i.attempts + 1, lost_leases = {lost_leases}, \
         lease_until = {now} + (excluded.lease_until - excluded.first_call_at), next_at = null, \
         first_call_at = coalesce(i.first_call_at, {now}), on_unknown = excluded.on_unknown, \
         max_attempts = {greatest}(excluded.max_attempts, \
         case when {has_policy} then i.max_attempts else 0 end), \
         horizon_ms = excluded.horizon_ms, payload = coalesce(excluded.payload, i.payload) \
         where {free} and not {spent} returning id, fence, {attempts}"
    )
}

/// token, lease, on_unknown, max_attempts, horizon, payload, key, consumer, on_unknown, max_attempts,
/// horizon.
fn take(dialect: &Dialect, inbox: &str) -> String {
    let v = Values::of(dialect);
    let (now, greatest) = (dialect.now, dialect.greatest);
    let row = Conditions { dialect, table: "" };
    let (lost_leases, has_policy) = (row.lost_leases(), row.has_policy());
    let set = format!(
        "lost_leases = {lost_leases}, fence = fence + 1, attempts = attempts + 1, token = {}, \
         lease_until = {}, next_at = null, first_call_at = coalesce(first_call_at, {now}), \
         max_attempts = {greatest}({}, case when {has_policy} then max_attempts else 0 end), \
         on_unknown = {}, horizon_ms = {}, payload = coalesce({}, payload), state = 0",
        v.next(),
        v.after(),
        v.next(),
        v.next(),
        v.next(),
        v.next()
    );
    let key = format!("message_id = {} and consumer = {}", v.next(), v.next());
    let (on_unknown, max_attempts) = (v.next(), v.next());
    let past_horizon = format!("first_call_at <= {}", v.before());
    let (free, spent) = (
        row.free(),
        row.spent(&on_unknown, &max_attempts, &past_horizon),
    );
    format!("update {inbox} set {set} where {key} and {free} and not {spent}")
}

/// key, consumer.
fn inspect(dialect: &Dialect, inbox: &str) -> String {
    let v = Values::of(dialect);
    let (integer, epoch) = (dialect.integer, dialect.epoch);
    format!(
        "select id, {}, fence, token, {}, {}, {}, {}, {}, {}, {}, {}, {}, horizon_ms, {} \
         from {inbox} where message_id = {} and consumer = {}",
        integer("state"),
        integer("attempts"),
        integer("lost_leases"),
        epoch("lease_until"),
        epoch("next_at"),
        epoch("first_call_at"),
        epoch("processed_at"),
        epoch("parked_at"),
        integer("on_unknown"),
        integer("max_attempts"),
        epoch(dialect.now),
        v.next(),
        v.next()
    )
}

/// error, delay, id, fence, token.
fn fail(dialect: &Dialect, inbox: &str, may_repeat: &str) -> String {
    let v = Values::of(dialect);
    let now = dialect.now;
    let row = Conditions { dialect, table: "" };
    let repeat = format!(
        "({} and attempts < max_attempts and {may_repeat})",
        row.has_policy()
    );
    format!(
        "update {inbox} set last_error = {}, \
         next_at = case when {repeat} then {} else null end, \
         parked_at = case when {repeat} then null else {now} end, \
         lease_until = null, state = case when {repeat} then 1 else 3 end \
         where id = {} and fence = {} and token = {} and state = 0",
        v.next(),
        v.after(),
        v.next(),
        v.next(),
        v.next()
    )
}

/// What a sweep makes of a claim: released if its policy allows another attempt, else parked.
fn swept(dialect: &Dialect) -> String {
    let now = dialect.now;
    let row = Conditions { dialect, table: "" };
    let repeat = format!(
        "({} and attempts < max_attempts and not {})",
        row.retries(),
        row.past_own_horizon()
    );
    format!(
        "lost_leases = lost_leases + 1, next_at = null, \
         parked_at = case when {repeat} then null else {now} end, \
         last_error = coalesce(last_error, 'the lease ran out, the outcome is unknown'), \
         lease_until = null, state = case when {repeat} then 1 else 3 end"
    )
}

/// The beginning of a sweep: which rows follows.
fn sweep(dialect: &Dialect, inbox: &str) -> String {
    format!("update {inbox} set {} where ", swept(dialect))
}

/// The rest of the sweep where one statement can pick, lock and tell: PostgreSQL and SQLite.
fn sweep_all(dialect: &Dialect, inbox: &str, lock: &str) -> String {
    let v = Values::of(dialect);
    let over = format!("lease_until <= {}", v.before());
    let (text, integer) = (dialect.text, dialect.integer);
    format!(
        "{}id in (select id from {inbox} where state = 0 and {over} \
         order by lease_until limit {} {lock}) returning id, {}, {}, {}, {}",
        sweep(dialect, inbox),
        v.next(),
        text("consumer"),
        text("message_id"),
        integer("state"),
        integer("attempts")
    )
}

/// after, limit.
fn list(dialect: &Dialect, inbox: &str, which: &str) -> String {
    let v = Values::of(dialect);
    let (text, integer, epoch) = (dialect.text, dialect.integer, dialect.epoch);
    format!(
        "select id, {}, {}, {}, {}, {}, {} - {}, last_error, payload from {inbox} \
         where {which} and id > {} order by id limit {}",
        text("consumer"),
        text("message_id"),
        integer("state"),
        integer("attempts"),
        integer("lost_leases"),
        epoch(dialect.now),
        epoch("received_at"),
        v.next(),
        v.next()
    )
}

/// A duration as the milliseconds our statements add to the database's clock.
pub(crate) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// Raw values of [`LeaseStatements::inspect`], as a row. A state that a newer version wrote is nobody's to
/// decide about, and is read as claimed for ever.
#[derive(Debug)]
pub(crate) struct RawRow {
    pub(crate) state: i64,
    pub(crate) fence: i64,
    pub(crate) token: Option<Vec<u8>>,
    pub(crate) attempts: i64,
    pub(crate) lost_leases: i64,
    pub(crate) lease_until: Option<i64>,
    pub(crate) next_at: Option<i64>,
    pub(crate) first_call_at: Option<i64>,
    pub(crate) processed_at: Option<i64>,
    pub(crate) parked_at: Option<i64>,
    pub(crate) policy: Option<Policy>,
}

impl RawRow {
    pub(crate) fn into_row(self) -> Row {
        let count = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
        let time = |millis: Option<i64>| millis.map(DbTime::from_millis);
        let known = State::from_column(self.state);
        Row {
            state: known.unwrap_or(State::Claimed),
            fence: self.fence,
            token: self
                .token
                .and_then(|token| token.try_into().ok())
                .map(Token),
            attempts: count(self.attempts),
            lost_leases: count(self.lost_leases),
            lease_until: match known {
                Some(_) => time(self.lease_until),
                None => time(Some(i64::MAX)),
            },
            next_at: time(self.next_at),
            first_call_at: time(self.first_call_at),
            processed_at: time(self.processed_at),
            parked_at: time(self.parked_at),
            policy: self.policy,
        }
    }
}

/// Implements [`Leases`] for one database: the same calls on its own types.
macro_rules! leases {
    ($db:ty, $dialect:expr) => {
        impl $crate::backend::leases::Leases for $db {
            fn lease_statements(
                settings: &$crate::backend::sql::Settings,
            ) -> $crate::backend::leases::LeaseStatements {
                $crate::backend::leases::statements(settings, &$dialect)
            }

            async fn inspect(
                conn: &mut <$db as sqlx::Database>::Connection,
                sql: &$crate::backend::leases::LeaseStatements,
                consumer: &inbox_core::Consumer,
                key: &inbox_core::Key,
            ) -> sqlx::Result<Option<$crate::backend::leases::Inspected>> {
                let row = sqlx::query(sql.inspect.clone())
                    .bind(key.as_str())
                    .bind(consumer.as_str())
                    .persistent(sql.persistent)
                    .fetch_optional(conn)
                    .await?;
                row.map(|row| {
                    let raw = $crate::backend::leases::RawRow {
                        state: row.try_get(1)?,
                        fence: row.try_get(2)?,
                        token: row.try_get(3)?,
                        attempts: row.try_get(4)?,
                        lost_leases: row.try_get(5)?,
                        lease_until: row.try_get(6)?,
                        next_at: row.try_get(7)?,
                        first_call_at: row.try_get(8)?,
                        processed_at: row.try_get(9)?,
                        parked_at: row.try_get(10)?,
                        policy: inbox_core::two_phase::Policy::from_columns(
                            row.try_get(11)?,
                            row.try_get(12)?,
                            row.try_get(13)?,
                        ),
                    };
                    Ok($crate::backend::leases::Inspected {
                        id: row.try_get(0)?,
                        row: raw.into_row(),
                        now: inbox_core::two_phase::DbTime::from_millis(row.try_get(14)?),
                    })
                })
                .transpose()
            }

            async fn park_unresolved(
                conn: &mut <$db as sqlx::Database>::Connection,
                sql: &$crate::backend::leases::LeaseStatements,
                id: i64,
                fence: i64,
                policy: inbox_core::two_phase::Policy,
                reason: &str,
            ) -> sqlx::Result<bool> {
                let (on_unknown, max_attempts, horizon_ms) = policy.columns();
                let done = sqlx::query(sql.park_unresolved.clone())
                    .bind(reason)
                    .bind(id)
                    .bind(fence)
                    .bind(on_unknown)
                    .bind(max_attempts)
                    .bind(horizon_ms)
                    .persistent(sql.persistent)
                    .execute(conn)
                    .await?;
                Ok(done.rows_affected() > 0)
            }

            async fn renew(
                conn: &mut <$db as sqlx::Database>::Connection,
                sql: &$crate::backend::leases::LeaseStatements,
                id: i64,
                held: inbox_core::two_phase::Held,
                lease: std::time::Duration,
            ) -> sqlx::Result<bool> {
                let done = sqlx::query(sql.renew.clone())
                    .bind($crate::backend::leases::millis(lease))
                    .bind(id)
                    .bind(held.fence)
                    .bind(held.token.0.as_slice())
                    .persistent(sql.persistent)
                    .execute(conn)
                    .await?;
                Ok(done.rows_affected() > 0)
            }

            async fn record(
                conn: &mut <$db as sqlx::Database>::Connection,
                sql: &$crate::backend::leases::LeaseStatements,
                id: i64,
                held: inbox_core::two_phase::Held,
            ) -> sqlx::Result<bool> {
                let done = sqlx::query(sql.record.clone())
                    .bind(id)
                    .bind(held.fence)
                    .bind(held.token.0.as_slice())
                    .persistent(sql.persistent)
                    .execute(conn)
                    .await?;
                Ok(done.rows_affected() > 0)
            }

            async fn fail(
                conn: &mut <$db as sqlx::Database>::Connection,
                sql: &$crate::backend::leases::LeaseStatements,
                id: i64,
                held: inbox_core::two_phase::Held,
                effect: inbox_core::two_phase::Effect,
                delay: std::time::Duration,
                error: &str,
            ) -> sqlx::Result<bool> {
                let text = match effect {
                    inbox_core::two_phase::Effect::NotHappened => &sql.fail_not_happened,
                    inbox_core::two_phase::Effect::Unknown => &sql.fail_unknown,
                    inbox_core::two_phase::Effect::Rejected => &sql.fail_rejected,
                };
                let done = sqlx::query(text.clone())
                    .bind(error)
                    .bind($crate::backend::leases::millis(delay))
                    .bind(id)
                    .bind(held.fence)
                    .bind(held.token.0.as_slice())
                    .persistent(sql.persistent)
                    .execute(conn)
                    .await?;
                Ok(done.rows_affected() > 0)
            }

            async fn release(
                conn: &mut <$db as sqlx::Database>::Connection,
                sql: &$crate::backend::leases::LeaseStatements,
                id: i64,
            ) -> sqlx::Result<bool> {
                let done = sqlx::query(sql.release.clone())
                    .bind(id)
                    .persistent(sql.persistent)
                    .execute(conn)
                    .await?;
                Ok(done.rows_affected() > 0)
            }

            async fn close(
                conn: &mut <$db as sqlx::Database>::Connection,
                sql: &$crate::backend::leases::LeaseStatements,
                id: i64,
                reason: &str,
            ) -> sqlx::Result<bool> {
                let done = sqlx::query(sql.close.clone())
                    .bind(reason)
                    .bind(id)
                    .persistent(sql.persistent)
                    .execute(conn)
                    .await?;
                Ok(done.rows_affected() > 0)
            }

            async fn list(
                conn: &mut <$db as sqlx::Database>::Connection,
                text: sqlx::SqlStr,
                after: i64,
                limit: i64,
            ) -> sqlx::Result<Vec<$crate::backend::leases::Listed>> {
                let rows = sqlx::query(text)
                    .bind(after)
                    .bind(limit)
                    .persistent(false)
                    .fetch_all(conn)
                    .await?;
                rows.iter()
                    .map(|row| {
                        Ok($crate::backend::leases::Listed {
                            id: row.try_get(0)?,
                            consumer: row.try_get(1)?,
                            key: row.try_get(2)?,
                            state: row.try_get(3)?,
                            attempts: row.try_get(4)?,
                            lost_leases: row.try_get(5)?,
                            received_ms_ago: row.try_get(6)?,
                            last_error: row.try_get(7)?,
                            payload: row.try_get(8)?,
                        })
                    })
                    .collect()
            }
        }
    };
}
pub(crate) use leases;
