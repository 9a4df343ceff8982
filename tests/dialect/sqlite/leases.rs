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
