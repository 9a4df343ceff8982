//! SQLite: the extended code says that it is a unique violation, the text lists the columns.
//!
//! The text is always in English. An index on plain columns is reported as its columns, in the order of the index
//! (`UNIQUE constraint failed: orders.shop, orders.number`); only an index with an expression in it is reported by name
//! (`UNIQUE constraint failed: index 'orders_lower_email'`). <https://www.sqlite.org/rescode.html#constraint_unique>

use crate::TableName;

/// `SQLITE_CONSTRAINT_PRIMARYKEY`.
pub(super) const PRIMARY_KEY: i32 = 1555;
/// `SQLITE_CONSTRAINT_UNIQUE`.
const UNIQUE: i32 = 2067;
/// `SQLITE_CONSTRAINT_ROWID`: the rowid of a table whose primary key is something else.
const ROWID: i32 = 2579;

/// Whether the extended code is that of a unique violation.
pub(super) fn is_unique(code: i32) -> bool {
    matches!(code, PRIMARY_KEY | UNIQUE | ROWID)
}

/// What SQLite says was violated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Violated<'a> {
    /// The name of an index with an expression.
    Index(&'a str),
    /// The columns of any other index, as printed: `orders.shop, orders.number`.
    Columns(&'a str),
}

/// Reads the text; nothing if it is not the one that SQLite writes.
pub(super) fn violated(message: &str) -> Option<Violated<'_>> {
    let violated = message.strip_prefix("UNIQUE constraint failed: ")?;
    let name = violated
        .strip_prefix("index '")
        .and_then(|rest| rest.strip_suffix('\''));
    match name.unwrap_or(violated) {
        "" => None,
        text if name.is_some() => Some(Violated::Index(text)),
        text => Some(Violated::Columns(text)),
    }
}

/// Whether the text names the index of the inbox, by its columns or by its name.
pub(super) fn is_inbox(message: &str, inbox: &TableName) -> Option<bool> {
    let table = inbox.table();
    Some(match violated(message)? {
        Violated::Index(name) => name == inbox.index(),
        Violated::Columns(list) => list == format!("{table}.message_id, {table}.consumer"),
    })
}

/// Takes a printed list apart: the table, and its columns.
///
/// SQLite does not quote, so a list in which a name contains a dot or a comma may be ambiguous. Nothing is returned
/// unless every entry begins with the table of the first.
pub(super) fn columns(list: &str) -> Option<(&str, Vec<&str>)> {
    let (table, _) = list.split_once('.')?;
    let columns = list
        .split(", ")
        .map(|column| column.strip_prefix(table)?.strip_prefix('.'))
        .collect::<Option<_>>()?;
    Some((table, columns))
}
