//! How the rows of the two-phase mode are written and read by hand on SQLite, and how all changes of theirs are logged.

/// The clock, in milliseconds since 1970.
pub(crate) const NOW: &str = "cast((julianday('now') - 2440587.5) * 86400000 as integer)";

/// A time of the table, from milliseconds since 1970.
pub(crate) fn from_millis(millis: i64) -> String {
    millis.to_string()
}

/// The other way round.
pub(crate) fn to_millis(column: &str) -> String {
    column.to_owned()
}

/// A column of any width as 64 bits.
pub(crate) fn integer(column: &str) -> String {
    column.to_owned()
}

/// Bytes, from hexadecimal digits.
pub(crate) fn from_hex(digits: &str) -> String {
    format!("x'{digits}'")
}

/// The other way round. Nothing would become the empty text.
pub(crate) fn to_hex(column: &str) -> String {
    format!("case when {column} is not null then lower(hex({column})) end")
}

/// A key column as text.
pub(crate) fn as_text(column: &str) -> String {
    column.to_owned()
}

/// Logs every change of a row into `inbox_log`, whoever makes it.
pub(crate) const AUDIT: &[&str] = &[
    "create table inbox_log (n integer primary key autoincrement, id integer not null, \
     old_state integer, new_state integer, old_fence integer, new_fence integer, old_attempts integer, \
     new_attempts integer, leased integer not null, retries integer not null)",
    "create trigger log_insert after insert on inbox begin \
     insert into inbox_log (id, new_state, new_fence, new_attempts, leased, retries) \
     values (new.id, new.state, new.fence, new.attempts, 0, 0); end",
    "create trigger log_update after update on inbox begin \
     insert into inbox_log (id, old_state, new_state, old_fence, new_fence, old_attempts, new_attempts, leased, retries) \
     values (new.id, old.state, new.state, old.fence, new.fence, old.attempts, new.attempts, \
     coalesce(old.state = 0 and old.lease_until > cast((julianday('now') - 2440587.5) * 86400000 as integer), 0), \
     coalesce(old.on_unknown = 1, 0)); end",
    "create trigger log_delete after delete on inbox begin \
     insert into inbox_log (id, old_state, old_fence, old_attempts, leased, retries) \
     values (old.id, old.state, old.fence, old.attempts, 0, coalesce(old.on_unknown = 1, 0)); end",
];

/// Empties inbox, log and ledger; ids begin with 1 again.
pub(crate) const CLEAR: &[&str] =
    &["delete from inbox; delete from inbox_log; delete from ledger; delete from sqlite_sequence"];
