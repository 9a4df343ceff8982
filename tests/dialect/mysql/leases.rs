//! How the rows of the two-phase mode are written and read by hand on MariaDB and MySQL, and how all changes of theirs
//! are logged.

/// The clock, in milliseconds since 1970.
pub(crate) const NOW: &str =
    "cast(timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) div 1000 as signed)";

/// A time of the table, from milliseconds since 1970.
pub(crate) fn from_millis(millis: i64) -> String {
    format!("timestampadd(microsecond, {millis} * 1000, '1970-01-01')")
}

/// The other way round.
pub(crate) fn to_millis(column: &str) -> String {
    format!("cast(timestampdiff(microsecond, '1970-01-01', {column}) div 1000 as signed)")
}

/// A column of any width as 64 bits.
pub(crate) fn integer(column: &str) -> String {
    format!("cast({column} as signed)")
}

/// Bytes, from hexadecimal digits.
pub(crate) fn from_hex(digits: &str) -> String {
    format!("x'{digits}'")
}

/// The other way round.
pub(crate) fn to_hex(column: &str) -> String {
    format!("cast(lower(hex({column})) as char)")
}

/// A key column as text.
pub(crate) fn as_text(column: &str) -> String {
    format!("cast({column} as char character set utf8mb4)")
}

/// Logs every change of a row into `inbox_log`, whoever makes it.
pub(crate) const AUDIT: &[&str] = &[
    "create table inbox_log (n bigint auto_increment primary key, id bigint not null, \
     old_state bigint, new_state bigint, old_fence bigint, new_fence bigint, old_attempts bigint, new_attempts bigint, \
     leased boolean not null, retries boolean not null)",
    "create trigger log_insert after insert on inbox for each row \
     insert into inbox_log (id, new_state, new_fence, new_attempts, leased, retries) \
     values (new.id, new.state, new.fence, new.attempts, false, false)",
    "create trigger log_update after update on inbox for each row \
     insert into inbox_log (id, old_state, new_state, old_fence, new_fence, old_attempts, new_attempts, leased, retries) \
     values (new.id, old.state, new.state, old.fence, new.fence, old.attempts, new.attempts, \
     coalesce(old.state = 0 and old.lease_until > utc_timestamp(6), false), coalesce(old.on_unknown = 1, false))",
    "create trigger log_delete after delete on inbox for each row \
     insert into inbox_log (id, old_state, old_fence, old_attempts, leased, retries) \
     values (old.id, old.state, old.fence, old.attempts, false, coalesce(old.on_unknown = 1, false))",
];

/// How id 1, fence 1 and the beginning of a token travel to the server, the last with its length: the values of a record, a release or a
/// parking, which carry no text that is known beforehand.
pub(crate) const FIRST_CLAIM_OF_ROW_1: &str = "\u{1}\0\0\0\0\0\0\0\u{1}\0\0\0\0\0\0\0\u{10}";

/// Empties inbox, log and ledger; ids begin with 1 again.
pub(crate) const CLEAR: &[&str] = &[
    "truncate table inbox",
    "truncate table inbox_log",
    "truncate table ledger",
];

/// Lets a session live elsewhere.
pub(crate) const IN_TOKYO: &[&str] = &["set time_zone = '+09:00'"];
