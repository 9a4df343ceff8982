//! Longer texts: one page per question.

#[doc = include_str!("docs/two_phase.md")]
pub mod effects_outside_the_database {}

#[doc = include_str!("docs/retention.md")]
pub mod retention {}

/// # Least privilege
///
/// Three roles: one that owns the tables and runs [`Inbox::install`](crate::Inbox::install) or your
/// migrations, one for handlers, one for sweeper, pruner and people. A test runs the library under exactly
/// what is granted here.
///
/// PostgreSQL, `schema/postgres/grants.sql`:
///
/// ```sql
#[doc = include_str!("../schema/postgres/grants.sql")]
/// ```
///
/// MySQL and MariaDB, `schema/mysql/grants.sql`:
///
/// ```sql
#[doc = include_str!("../schema/mysql/grants.sql")]
/// ```
///
/// SQLite has no roles: who can write the file can do everything.
pub mod least_privilege {}
