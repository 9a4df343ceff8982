//! PostgreSQL: the error report has fields for the constraint, its table and its schema.
//!
//! <https://www.postgresql.org/docs/current/protocol-error-fields.html>

use crate::TableName;

/// `unique_violation`.
pub(super) const UNIQUE_VIOLATION: &str = "23505";

/// PostgreSQL cuts longer names: `NAMEDATALEN - 1`.
const MAX_IDENTIFIER_BYTES: usize = 63;

/// Whether the fields name the index of the inbox; nothing if there is no constraint in them.
///
/// The schema is compared only when the inbox has one: without it, the search path decides where the table is.
pub(super) fn is_inbox(
    schema: Option<&str>,
    table: Option<&str>,
    constraint: Option<&str>,
    inbox: &TableName,
) -> Option<bool> {
    let constraint = constraint?;
    Some(
        constraint == inbox.index()
            && table == Some(inbox.table())
            && (inbox.schema().is_none() || schema == inbox.schema()),
    )
}

/// The name as PostgreSQL keeps it: cut after 63 bytes, but not inside a character.
pub(super) fn truncated(name: &str) -> &str {
    &name[..name.floor_char_boundary(MAX_IDENTIFIER_BYTES)]
}

/// The name that PostgreSQL generates for a constraint or an index that was given none.
///
/// Too long a name loses bytes at the end of the table or of the columns, whichever is longer, as in `makeObjectName`
/// of `src/backend/commands/indexcmds.c`.
pub(super) fn generated(table: &str, columns: Option<&str>, label: &str) -> String {
    let (mut table_bytes, mut column_bytes) = (table.len(), columns.map_or(0, str::len));
    let fixed = label.len() + 1 + usize::from(columns.is_some());
    while table_bytes + column_bytes + fixed > MAX_IDENTIFIER_BYTES {
        if table_bytes > column_bytes {
            table_bytes -= 1;
        } else {
            column_bytes -= 1;
        }
    }
    let table = &table[..table.floor_char_boundary(table_bytes)];
    match columns {
        Some(columns) => {
            let columns = &columns[..columns.floor_char_boundary(column_bytes)];
            format!("{table}_{columns}_{label}")
        }
        None => format!("{table}_{label}"),
    }
}
