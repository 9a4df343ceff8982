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

#[cfg(test)]
mod tests {
    use super::{generated, truncated};

    /// The right-hand sides were read from `pg_class` of PostgreSQL 15.
    #[test]
    fn names_are_generated_as_postgresql_does() {
        let long = "a_very_long_table_name_that_goes_on_and_on";
        for (table, columns, label, name) in [
            ("orders", Some("number"), "key", "orders_number_key"),
            (
                "orders",
                Some("shop_number"),
                "key",
                "orders_shop_number_key",
            ),
            ("orders", None, "pkey", "orders_pkey"),
            ("öö", Some("a"), "idx", "öö_a_idx"),
            (
                long,
                None,
                "pkey",
                "a_very_long_table_name_that_goes_on_and_on_pkey",
            ),
            (
                long,
                Some("a_very_long_column_name_that_goes_on_second_column_name"),
                "key",
                "a_very_long_table_name_that_g_a_very_long_column_name_that__key",
            ),
            (
                "t123456789012345678901234567890123456789012345678901234567890ab",
                None,
                "pkey",
                "t123456789012345678901234567890123456789012345678901234567_pkey",
            ),
            (
                "t123456789012345678901234567890123456789012345678901234567890ab",
                Some("c"),
                "key",
                "t12345678901234567890123456789012345678901234567890123456_c_key",
            ),
            (
                "short",
                Some("c123456789012345678901234567890123456789012345678901234567890ab_and_more"),
                "key",
                "short_c1234567890123456789012345678901234567890123456789012_key",
            ),
            (
                "ééééééééééééééééééééééééé",
                Some("üüüüüüüüüüüüüüü"),
                "key",
                "éééééééééééééé_üüüüüüüüüüüüüü_key",
            ),
            (
                "aéééééééééééééééééééééééé",
                Some("üüüüüüüüüüüüüüü"),
                "key",
                "aéééééééééééééé_üüüüüüüüüüüüüü_key",
            ),
        ] {
            assert_eq!(generated(table, columns, label), name);
        }
    }

    #[test]
    fn a_name_is_not_cut_inside_a_character() {
        assert_eq!(truncated("orders_number_key"), "orders_number_key");
        assert_eq!(truncated(&"k".repeat(80)), "k".repeat(63));
        assert_eq!(truncated(&"é".repeat(40)), "é".repeat(31));
    }
}
