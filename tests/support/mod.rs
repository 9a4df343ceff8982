//! What the tests stand on: throw-away databases, a proxy that breaks connections, and child processes to kill.
//!
//! A test asks its database's module for a [`TestDatabase`](database::TestDatabase) and gets a fresh one on a real
//! server: `let database = postgres::fresh_database().await;`. The server is started by the first test that needs it,
//! from installed binaries, and ends with the test process. A missing server fails the test and says how to get one;
//! no test is ever skipped for it.

#![allow(
    dead_code,
    reason = "every test binary compiles all of this and uses the part that its database needs"
)]

pub(crate) mod database;
pub(crate) mod process;
pub(crate) mod proxy;
mod server;

#[cfg(feature = "mysql")]
pub(crate) mod mysql;
#[cfg(feature = "postgres")]
pub(crate) mod postgres;
#[cfg(feature = "sqlite")]
pub(crate) mod sqlite;
