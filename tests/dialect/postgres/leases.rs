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
