//! The classification as tables: texts as servers write them, and the verdict. One file per database.

use super::Verdict::{InboxIndex, OtherIndex};
use super::{Verdict, ViolatedIndex, Violation};
use crate::TableName;

mod mysql;
mod names;
mod postgres;
mod sqlite;

fn inbox() -> TableName {
    TableName::default()
}

fn app_inbox() -> TableName {
    TableName::new("app.inbox").expect("a valid name")
}

fn mysql(number: u16, message: &str) -> Violation<'_> {
    Violation::MySql { number, message }
}

fn sqlite(code: i32, message: &str) -> Violation<'_> {
    Violation::Sqlite { code, message }
}

/// `23505` with the three names, in the order schema, table, constraint.
fn unique<'a>(schema: &'a str, table: &'a str, constraint: &'a str) -> Violation<'a> {
    Violation::Postgres {
        sqlstate: "23505",
        schema: Some(schema),
        table: Some(table),
        constraint: Some(constraint),
    }
}

/// The name of the table is part of the name of the index.
#[test]
fn another_table_name_has_another_index() {
    let table = TableName::new("app.messages_seen").expect("a valid name");
    let verdicts: [(Violation<'_>, Verdict); 6] = [
        (
            unique(
                "app",
                "messages_seen",
                "ix_messages_seen_message_id_consumer",
            ),
            InboxIndex,
        ),
        (
            unique("app", "inbox", "ix_inbox_message_id_consumer"),
            OtherIndex,
        ),
        (
            mysql(
                1062,
                "Duplicate entry 'm' for key 'messages_seen.ix_messages_seen_message_id_consumer'",
            ),
            InboxIndex,
        ),
        (
            mysql(
                1062,
                "Duplicate entry 'm' for key 'ix_inbox_message_id_consumer'",
            ),
            OtherIndex,
        ),
        (
            sqlite(
                2067,
                "UNIQUE constraint failed: messages_seen.message_id, messages_seen.consumer",
            ),
            InboxIndex,
        ),
        (
            sqlite(
                2067,
                "UNIQUE constraint failed: inbox.message_id, inbox.consumer",
            ),
            OtherIndex,
        ),
    ];
    for (violation, verdict) in verdicts {
        assert_eq!(violation.verdict(&table), verdict, "{violation:?}");
    }
}

/// Used by the tests of names: the index of a unique violation that is readable.
#[track_caller]
fn index(violation: Violation<'_>) -> ViolatedIndex {
    violation.index().expect("a readable unique violation")
}
