//! Locks, roles and sessions of MariaDB and MySQL.

use crate::contract::{
    bodies::{
        Said::{EndedNotFound, Processed},
        Verdict, verdict,
    },
    violations::Names::{self, Readable, Unreadable},
};

pub(crate) const GOES_FIRST: &[&str] = &[];
/// Who has changed least is the victim.
pub(crate) const GROW: &[&str] = &[
    "insert into plain values ('1'), ('2'), ('3'), ('4'), ('5'), ('6'), ('7'), ('8'), ('9'), ('10')",
    "insert into plain select * from plain",
    "insert into plain select * from plain",
];

/// Whole seconds here.
pub(crate) const SHORT_LOCK_WAIT: &str = "set innodb_lock_wait_timeout = 1";

pub(crate) const DEADLOCK: &str = "1213";
pub(crate) const LOCK_WAIT: &str = "1205";

/// The transaction is gone, and what came later was committed by itself.
pub(crate) const SWALLOWED_DEADLOCK: Verdict = verdict(EndedNotFound, 0, 0, 1);
/// Only the statement is undone.
pub(crate) const SWALLOWED_LOCK_WAIT: Verdict = verdict(Processed, 1, 1, 1);

pub(crate) fn code(error: &sqlx::Error) -> String {
    let error = error.as_database_error().unwrap();
    error
        .downcast_ref::<sqlx::mysql::MySqlDatabaseError>()
        .number()
        .to_string()
}

/// Raises each of these, and whether the same delivery can succeed later.
pub(crate) const RAISED: &[(&str, &str, bool)] = &[
    (
        "1213",
        "signal sqlstate '40001' set mysql_errno = 1213",
        true,
    ),
    (
        "1205",
        "signal sqlstate 'HY000' set mysql_errno = 1205",
        true,
    ),
    (
        "1020",
        "signal sqlstate 'HY000' set mysql_errno = 1020",
        true,
    ),
    (
        "1290",
        "signal sqlstate 'HY000' set mysql_errno = 1290",
        true,
    ),
    (
        "1040",
        "signal sqlstate '08004' set mysql_errno = 1040",
        true,
    ),
    (
        "1927",
        "signal sqlstate '70100' set mysql_errno = 1927",
        true,
    ),
    (
        "1062",
        "signal sqlstate '23000' set mysql_errno = 1062",
        false,
    ),
    (
        "1452",
        "signal sqlstate '23000' set mysql_errno = 1452",
        false,
    ),
    (
        "1406",
        "signal sqlstate '22001' set mysql_errno = 1406",
        false,
    ),
    ("1064", "selekt", false),
];

/// Sessions of applications that chose a higher level for themselves. REPEATABLE READ is what everybody has.
pub(crate) const HIGHER_LEVELS: &[&[&str]] = &[
    &["set session transaction isolation level repeatable read"],
    &["set session transaction isolation level serializable"],
    // What newer versions of MariaDB have by default; unknown to older ones and to MySQL.
    &[
        "set session transaction isolation level repeatable read",
        "/*M!100618 set session innodb_snapshot_isolation = on */",
    ],
];

/// A role that may do so much and no more.
pub(crate) const READS_AND_INSERTS: &[&str] = &[
    "create user {role}@'%'",
    "grant select, insert on inbox to {role}@'%'",
    "grant all on ledger to {role}@'%'",
    "grant all on accounts to {role}@'%'",
    "grant all on orders to {role}@'%'",
    "grant all on plain to {role}@'%'",
];
pub(crate) const INSERTS_ONLY: &[&str] = &[
    "create user {role}@'%'",
    "grant insert on inbox to {role}@'%'",
    "grant all on ledger to {role}@'%'",
    "grant all on accounts to {role}@'%'",
    "grant all on orders to {role}@'%'",
    "grant all on plain to {role}@'%'",
];
pub(crate) const NOTHING: &[&str] = &[
    "create user {role}@'%'",
    "grant select on plain to {role}@'%'",
];
pub(crate) const DROP_ROLE: &[&str] = &["drop user {role}@'%'"];

/// What the library says that its roles need, and a role that has nothing yet.
pub(crate) const GRANTS: &str = include_str!("../../../inbox-sqlx/schema/mysql/grants.sql");
pub(crate) const NEW_ROLE: &[&str] = &[
    "create user {role}@'%'",
    // To have a database to connect to.
    "grant select on plain to {role}@'%'",
    "grant all on ledger to {role}@'%'",
    "grant all on accounts to {role}@'%'",
];

/// How a grant names a role.
pub(crate) fn grantee(role: &str) -> String {
    format!("{role}@'%'")
}

/// With only `insert`: nothing is read back until a message comes again.
pub(crate) const INSERTS_ONLY_CAN_CLAIM: bool = true;

/// In some languages the text does not end with the name of the index.
pub(crate) const LANGUAGES: &[(&str, Names)] = &[
    ("de_DE", Readable),
    ("ru_RU", Readable),
    ("fr_FR", Readable),
    ("hu_HU", Unreadable),
    ("ja_JP", Unreadable),
    ("cs_CZ", Unreadable),
    ("sk_SK", Unreadable),
];

/// A pool whose sessions speak that language.
pub(crate) async fn foreign_pool(
    database: &crate::support::database::TestDatabase,
    language: &'static str,
) -> sqlx::MySqlPool {
    sqlx::mysql::MySqlPoolOptions::new()
        .after_connect(move |connection, _| {
            Box::pin(async move {
                sqlx::query("set lc_messages = ?")
                    .bind(language)
                    .execute(connection)
                    .await?;
                Ok(())
            })
        })
        .connect(database.url())
        .await
        .unwrap()
}
