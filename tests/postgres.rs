//! Everything the inbox promises, on PostgreSQL.

#![expect(
    clippy::unwrap_used,
    reason = "in a test, an error nobody expects is a failure"
)]

mod contract;
#[path = "dialect/postgres.rs"]
mod dialect;
mod network;
mod on_servers;
mod only_postgres;
#[path = "servers/postgres.rs"]
mod servers;
mod support;

/// The database this binary tries; see `contract`.
pub(crate) type Db = sqlx::Postgres;
pub(crate) type Conn = sqlx::PgConnection;

use support::process::roles;

roles! {
    "deliver" => contract::crashes::deliver,
    "drain" => contract::processes::drain,
    "send" => contract::two_phase::crashes::send,
}
