//! How the rows of the two-phase mode are written and read by hand on PostgreSQL, and how all changes of theirs are
//! logged.

/// The clock, in milliseconds since 1970.
pub(crate) const NOW: &str = "floor(extract(epoch from clock_timestamp()) * 1000)::bigint";

/// A time of the table, from milliseconds since 1970.
pub(crate) fn from_millis(millis: i64) -> String {
    format!("timestamptz 'epoch' + {millis} * interval '1 millisecond'")
}

/// The other way round.
pub(crate) fn to_millis(column: &str) -> String {
    format!("floor(extract(epoch from {column}) * 1000)::bigint")
}

/// A column of any width as 64 bits.
pub(crate) fn integer(column: &str) -> String {
    format!("{column}::bigint")
}

/// Bytes, from hexadecimal digits.
pub(crate) fn from_hex(digits: &str) -> String {
    format!("decode('{digits}', 'hex')")
}

/// The other way round.
pub(crate) fn to_hex(column: &str) -> String {
    format!("encode({column}, 'hex')")
}

/// A key column as text.
pub(crate) fn as_text(column: &str) -> String {
    column.to_owned()
}

/// Logs every change of a row into `inbox_log`, whoever makes it.
pub(crate) const AUDIT: &[&str] = &[
    "create table inbox_log (n bigint generated always as identity primary key, id bigint not null, \
     old_state bigint, new_state bigint, old_fence bigint, new_fence bigint, old_attempts bigint, new_attempts bigint, \
     leased boolean not null, retries boolean not null)",
    "create function log_inbox() returns trigger language plpgsql security definer set search_path = public as $$ begin \
     insert into inbox_log (id, old_state, new_state, old_fence, new_fence, old_attempts, new_attempts, leased, retries) \
     values (coalesce(new.id, old.id), old.state, new.state, old.fence, new.fence, old.attempts, new.attempts, \
     coalesce(old.state = 0 and old.lease_until > clock_timestamp(), false), coalesce(old.on_unknown = 1, false)); \
     return null; end $$",
    "create trigger log_inbox after insert or update or delete on inbox for each row execute function log_inbox()",
];

/// How id 1, fence 1 and the beginning of a token travel to the server, each with its length: the values of a record, a release or a
/// parking, which carry no text that is known beforehand.
pub(crate) const FIRST_CLAIM_OF_ROW_1: &str =
    "\0\0\0\u{8}\0\0\0\0\0\0\0\u{1}\0\0\0\u{8}\0\0\0\0\0\0\0\u{1}\0\0\0\u{10}";

/// Empties inbox, log and ledger; ids begin with 1 again.
pub(crate) const CLEAR: &[&str] = &["truncate inbox, inbox_log, ledger restart identity"];

/// Lets a session live elsewhere.
pub(crate) const IN_TOKYO: &[&str] = &["set time zone 'Asia/Tokyo'"];
