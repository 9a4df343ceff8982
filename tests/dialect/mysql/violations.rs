//! What bodies violate on MariaDB and MySQL. They tell the name of an index at the end of a text.

use sqlx::error::ErrorKind::{
    CheckViolation, ForeignKeyViolation, NotNullViolation, UniqueViolation,
};

use crate::contract::violations::{Refused, refused};

/// The name by which a violation of the inbox's own index is found.
pub(crate) const INBOX_INDEX: &str = "ix_inbox_message_id_consumer";

pub(crate) const PRIMARY_KEY: &str = "PRIMARY";

pub(crate) const VIOLATIONS: &[Refused] = &[
    refused(
        "insert into orders values (2, 'A-1', null)",
        UniqueViolation,
        Some("orders_number_key"),
    ),
    refused(
        "insert into orders values (1, 'A-2', null)",
        UniqueViolation,
        Some("PRIMARY"),
    ),
    refused(
        "insert into orders values (1, 'A-1', 99)",
        UniqueViolation,
        Some("PRIMARY"),
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
    // An index name belongs to its table here, so that another table can have one of exactly that name.
    "create table ix_inbox_message_id_consumer (id bigint primary key, note varchar(40) not null, \
     unique key ix_inbox_message_id_consumer (note))",
    "insert into ix_inbox_message_id_consumer values (1, 'a')",
    "create table ix_inbox_message_id_consumer_audit (note varchar(40) not null, \
     unique key biz_ix_inbox_message_id_consumer_copy (note))",
    "insert into ix_inbox_message_id_consumer_audit values ('a')",
    "create table inbox_2 (message_id varchar(40), consumer varchar(40), \
     unique key ix_inbox_message_id_consumer_2 (message_id, consumer))",
    "insert into inbox_2 values ('m', 'c')",
];

pub(crate) const LOOKALIKES: &[Refused] = &[
    refused(
        "insert into ix_inbox_message_id_consumer values (2, 'a')",
        UniqueViolation,
        Some("ix_inbox_message_id_consumer"),
    ),
    refused(
        "insert into ix_inbox_message_id_consumer values (1, 'b')",
        UniqueViolation,
        Some("PRIMARY"),
    ),
    refused(
        "insert into ix_inbox_message_id_consumer_audit values ('a')",
        UniqueViolation,
        Some("biz_ix_inbox_message_id_consumer_copy"),
    ),
    refused(
        "insert into inbox_2 values ('m', 'c')",
        UniqueViolation,
        Some("ix_inbox_message_id_consumer_2"),
    ),
];

pub(crate) const DROP_SECOND_INDEX: &str = "drop index one_message_per_consumer on inbox";
