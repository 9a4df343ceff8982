//! Everything the inbox promises, on MariaDB, or on MySQL when `INBOX_TEST_MYSQL_URL` names one.

#![expect(
    clippy::unwrap_used,
    reason = "in a test, an error nobody expects is a failure"
)]

mod contract;
#[path = "dialect/mysql.rs"]
mod dialect;
mod network;
mod on_servers;
mod only_mysql;
#[path = "servers/mysql.rs"]
mod servers;
mod support;

/// The database this binary tries; see `contract`.
pub(crate) type Db = sqlx::MySql;
pub(crate) type Conn = sqlx::MySqlConnection;

use support::process::roles;

roles! {
    "deliver" => contract::crashes::deliver,
    "drain" => contract::processes::drain,
    "send" => contract::two_phase::crashes::send,
}
