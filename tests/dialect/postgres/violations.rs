//! What bodies violate on PostgreSQL. It reports the exact name of index and schema.

use sqlx::error::ErrorKind::{
    CheckViolation, ForeignKeyViolation, NotNullViolation, UniqueViolation,
};

use crate::contract::violations::{Refused, refused};

/// The name by which a violation of the inbox's own index is found.
pub(crate) const INBOX_INDEX: &str = "ix_inbox_message_id_consumer";

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
    "create table ix_inbox_message_id_consumer_audit (id bigint primary key, note text not null, \
     constraint biz_ix_inbox_message_id_consumer_copy unique (note))",
    "insert into ix_inbox_message_id_consumer_audit values (1, 'a')",
    "create table inbox_2 (message_id text, consumer text, \
     constraint ix_inbox_message_id_consumer_2 unique (message_id, consumer))",
    "insert into inbox_2 values ('m', 'c')",
    "create schema other",
    // The same names in another schema.
    "create table other.inbox (message_id text, consumer text, \
     constraint ix_inbox_message_id_consumer unique (message_id, consumer))",
    "insert into other.inbox values ('m', 'c')",
];

pub(crate) const LOOKALIKES: &[Refused] = &[
    refused(
        "insert into ix_inbox_message_id_consumer_audit values (2, 'a')",
        UniqueViolation,
        Some("biz_ix_inbox_message_id_consumer_copy"),
    ),
    refused(
        "insert into ix_inbox_message_id_consumer_audit values (1, 'b')",
        UniqueViolation,
        Some("ix_inbox_message_id_consumer_audit_pkey"),
    ),
    refused(
        "insert into inbox_2 values ('m', 'c')",
        UniqueViolation,
        Some("ix_inbox_message_id_consumer_2"),
    ),
    refused(
        "insert into other.inbox values ('m', 'c')",
        UniqueViolation,
        Some("ix_inbox_message_id_consumer"),
    ),
];

pub(crate) const DROP_SECOND_INDEX: &str = "drop index one_message_per_consumer";
