//! Locks, roles and sessions of PostgreSQL.

use crate::contract::bodies::{Said::Aborted, Verdict, verdict};

/// Who waits longest is the victim: the opponent looks for deadlocks later than we do.
pub(crate) const GOES_FIRST: &[&str] = &["set deadlock_timeout = '20s'"];
pub(crate) const GROW: &[&str] = &[];

pub(crate) const SHORT_LOCK_WAIT: &str = "set local lock_timeout = '50ms'";

pub(crate) const DEADLOCK: &str = "40P01";
pub(crate) const LOCK_WAIT: &str = "55P03";

/// Any error aborts the transaction.
pub(crate) const SWALLOWED_DEADLOCK: Verdict = verdict(Aborted, 0, 0, 0);
pub(crate) const SWALLOWED_LOCK_WAIT: Verdict = verdict(Aborted, 0, 0, 0);

pub(crate) fn code(error: &sqlx::Error) -> String {
    error
        .as_database_error()
        .unwrap()
        .code()
        .unwrap()
        .into_owned()
}

/// Raises each of these, and whether the same delivery can succeed later.
pub(crate) const RAISED: &[(&str, &str, bool)] = &[
    ("40001", "do $$ begin raise sqlstate '40001'; end $$", true),
    ("40P01", "do $$ begin raise sqlstate '40P01'; end $$", true),
    ("55P03", "do $$ begin raise sqlstate '55P03'; end $$", true),
    ("57014", "do $$ begin raise sqlstate '57014'; end $$", true),
    ("57P01", "do $$ begin raise sqlstate '57P01'; end $$", true),
    ("53300", "do $$ begin raise sqlstate '53300'; end $$", true),
    ("08006", "do $$ begin raise sqlstate '08006'; end $$", true),
    ("25006", "do $$ begin raise sqlstate '25006'; end $$", true),
    ("23505", "do $$ begin raise sqlstate '23505'; end $$", false),
    ("23503", "do $$ begin raise sqlstate '23503'; end $$", false),
    ("22001", "do $$ begin raise sqlstate '22001'; end $$", false),
    ("42601", "selekt", false),
];

/// Sessions of applications that chose a higher level for themselves.
pub(crate) const HIGHER_LEVELS: &[&[&str]] = &[
    &["set default_transaction_isolation = 'repeatable read'"],
    &["set default_transaction_isolation = 'serializable'"],
];

/// A role that may do so much and no more.
pub(crate) const READS_AND_INSERTS: &[&str] = &[
    "create role {role} login",
    "revoke all on inbox from public",
    "grant usage on schema public to {role}",
    "grant select, insert on inbox to {role}",
    "grant all on ledger, accounts, orders, plain to {role}",
];
pub(crate) const INSERTS_ONLY: &[&str] = &[
    "create role {role} login",
    "revoke all on inbox from public",
    "grant usage on schema public to {role}",
    "grant insert on inbox to {role}",
    "grant all on ledger, accounts, orders, plain to {role}",
];
pub(crate) const NOTHING: &[&str] = &[
    "create role {role} login",
    "revoke all on inbox from public",
];
pub(crate) const DROP_ROLE: &[&str] = &["drop owned by {role}", "drop role {role}"];

/// What the library says that its roles need, and a role that has nothing yet.
pub(crate) const GRANTS: &str = include_str!("../../../inbox-sqlx/schema/postgres/grants.sql");
pub(crate) const NEW_ROLE: &[&str] = &[
    "create role {role} login",
    "revoke all on inbox from public",
    "grant usage on schema public to {role}",
];

/// How a grant names a role.
pub(crate) fn grantee(role: &str) -> String {
    role.to_owned()
}

/// With only `insert`: the claim reads back what it wrote, and on conflict what stands there.
pub(crate) const INSERTS_ONLY_CAN_CLAIM: bool = false;

pub(crate) const LANGUAGES: &[(&str, crate::contract::violations::Names)] =
    &[("de_DE", crate::contract::violations::Names::Readable)];

/// A pool whose sessions speak that language.
pub(crate) async fn foreign_pool(
    database: &crate::support::database::TestDatabase,
    _language: &str,
) -> sqlx::PgPool {
    crate::support::postgres::german_pool(database).await
}
