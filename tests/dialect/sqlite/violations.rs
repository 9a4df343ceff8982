//! What bodies violate on SQLite. It tells the columns of an index, and its name only if it is on expressions.

use sqlx::error::ErrorKind::{
    CheckViolation, ForeignKeyViolation, NotNullViolation, UniqueViolation,
};

use crate::contract::violations::{Refused, refused};

/// The name by which a violation of the inbox's own index is found.
pub(crate) const INBOX_INDEX: &str = "inbox_message_id_consumer_idx";

pub(crate) const PRIMARY_KEY: &str = "orders_pkey";

pub(crate) const VIOLATIONS: &[Refused] = &[
    refused(
        "insert into orders values (2, 'A-1', null)",
        UniqueViolation,
        Some("orders_number_key"),
    ),
    refused(
        "insert into orders values (1, 'A-2', null)",
        UniqueViolation,
        Some("orders_pkey"),
    ),
    refused(
        "insert into orders values (1, 'A-1', 99)",
        UniqueViolation,
        Some("orders_pkey"),
    ),
    refused(
        "insert into orders values (2, 'A-2', 99)",
        ForeignKeyViolation,
        None,
    ),
    refused(
        "delete from accounts where id = 1",
        ForeignKeyViolation,
        None,
    ),
    refused(
        "insert into orders values (2, null, null)",
        NotNullViolation,
        None,
    ),
    refused(
        "insert into orders values (-1, 'A-2', null)",
        CheckViolation,
        None,
    ),
];

pub(crate) const LOOKALIKE_TABLES: &[&str] = &[
    "create table ix_inbox_message_id_consumer_audit (id integer primary key, note text not null, \
     constraint biz_ix_inbox_message_id_consumer_copy unique (note))",
    "insert into ix_inbox_message_id_consumer_audit values (1, 'a')",
    "create table inbox_2 (message_id text, consumer text)",
    "create unique index ix_inbox_message_id_consumer_2 on inbox_2 (message_id, consumer)",
    "insert into inbox_2 values ('m', 'c')",
    "create table \"inbox.message_id, inbox\" (consumer text unique)",
    "insert into \"inbox.message_id, inbox\" values ('c')",
    "create table folded (note text)",
    "create unique index ix_inbox_message_id_consumer_expression on folded (lower(note))",
    "insert into folded values ('a')",
];

pub(crate) const LOOKALIKES: &[Refused] = &[
    refused(
        "insert into ix_inbox_message_id_consumer_audit values (2, 'a')",
        UniqueViolation,
        Some("ix_inbox_message_id_consumer_audit_note_key"),
    ),
    refused(
        "insert into ix_inbox_message_id_consumer_audit values (1, 'b')",
        UniqueViolation,
        Some("ix_inbox_message_id_consumer_audit_pkey"),
    ),
    refused(
        "insert into inbox_2 values ('m', 'c')",
        UniqueViolation,
        Some("inbox_2_message_id_consumer_idx"),
    ),
    // A table whose column is printed exactly as our two are.
    refused(
        "insert into \"inbox.message_id, inbox\" values ('c')",
        UniqueViolation,
        Some("inbox.message_id, inbox.consumer"),
    ),
    refused(
        "insert into folded values ('A')",
        UniqueViolation,
        Some("ix_inbox_message_id_consumer_expression"),
    ),
];

pub(crate) const DROP_SECOND_INDEX: &str = "drop index one_message_per_consumer";
