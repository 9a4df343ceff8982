//! The statements of the two-phase mode: their conditions are those of `inbox_core::two_phase`.

use std::cell::Cell;

use super::{Dialect, LeaseStatements};
use crate::backend::sql::{Prepared, Settings, sql};

/// What is said of an attempt that nobody ended. What the attempt before it said is gone with that: it may have
/// been "nothing was sent", and whoever decides about the message must not believe it of this one.
pub(crate) const INTERRUPTED: &str = "the lease ran out, the outcome is unknown";

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
#[expect(
    clippy::too_many_lines,
    reason = "one statement after the other, each short"
)]
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
                "update {inbox} set \
                 last_error = case when state = 0 then '{INTERRUPTED}' else coalesce(last_error, {reason}) end, \
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
                 parked_at = null, last_error = null, state = 2 where {held} and state in (0, 1, 3)"
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
                 where id = {} and state in (0, 1, 3) and not (state = 0 and lease_until > {now})",
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
                 where id = {} and state in (0, 1, 3) and not (state = 0 and lease_until > {now})",
                v.next()
            ))
        },
        list: sql(list(dialect, &inbox, &Values::of(dialect), "state = 3")),
        list_stale: {
            let stale = format!("state = 0 and lease_until <= {now}");
            sql(list(dialect, &inbox, &Values::of(dialect), &stale))
        },
        list_due: {
            let v = Values::of(dialect);
            let due = format!(
                "state = 1 and (next_at is null or next_at <= {now}) \
                 and payload is not null and consumer = {}",
                v.next()
            );
            sql(list(dialect, &inbox, &v, &due))
        },
        table: settings.table.clone(),
        persistent: settings.prepared == Prepared::Named,
    }
}

/// Values: key, consumer, token, lease, `on_unknown`, `max_attempts`, horizon, payload.
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
         last_error = null, first_call_at = coalesce(i.first_call_at, {now}), on_unknown = excluded.on_unknown, \
         max_attempts = {greatest}(excluded.max_attempts, \
         case when {has_policy} then i.max_attempts else 0 end), \
         horizon_ms = excluded.horizon_ms, payload = coalesce(excluded.payload, i.payload) \
         where {free} and not {spent} returning id, fence, {attempts}"
    )
}

/// Values: token, lease, `max_attempts`, `on_unknown`, horizon, payload, key, consumer, `on_unknown`,
/// `max_attempts`, horizon.
fn take(dialect: &Dialect, inbox: &str) -> String {
    let v = Values::of(dialect);
    let (now, greatest) = (dialect.now, dialect.greatest);
    let row = Conditions { dialect, table: "" };
    let (lost_leases, has_policy) = (row.lost_leases(), row.has_policy());
    let set = format!(
        "lost_leases = {lost_leases}, fence = fence + 1, attempts = attempts + 1, token = {}, \
         lease_until = {}, next_at = null, last_error = null, \
         first_call_at = coalesce(first_call_at, {now}), \
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

/// Values: key, consumer.
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

/// Values: error, delay, id, fence, token.
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
         last_error = '{INTERRUPTED}', \
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

/// Values: those of `which`, after, limit.
fn list(dialect: &Dialect, inbox: &str, v: &Values<'_>, which: &str) -> String {
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
