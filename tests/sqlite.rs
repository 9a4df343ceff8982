//! Everything the inbox promises, on SQLite.

#![expect(
    clippy::unwrap_used,
    reason = "in a test, an error nobody expects is a failure"
)]

mod contract;
#[path = "dialect/sqlite.rs"]
mod dialect;
mod only_sqlite;
#[path = "servers/sqlite.rs"]
mod servers;
mod support;

/// The database this binary tries; see `contract`.
pub(crate) type Db = sqlx::Sqlite;
pub(crate) type Conn = sqlx::SqliteConnection;

use support::process::roles;

roles! {
    "deliver" => contract::crashes::deliver,
    "drain" => contract::processes::drain,
    "send" => contract::two_phase::crashes::send,
}
