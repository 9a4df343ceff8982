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
