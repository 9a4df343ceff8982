//! What the cases must say differently to SQLite. The same items are in each file of this folder.

#[path = "sqlite/bodies.rs"]
pub(crate) mod bodies;
#[path = "sqlite/faults.rs"]
pub(crate) mod faults;
#[path = "sqlite/leases.rs"]
pub(crate) mod leases;
#[path = "sqlite/schema.rs"]
pub(crate) mod schema;
#[path = "sqlite/unreachable.rs"]
pub(crate) mod unreachable;
#[path = "sqlite/violations.rs"]
pub(crate) mod violations;
#[path = "sqlite/writes.rs"]
pub(crate) mod writes;

use std::{str::FromStr as _, time::Duration};

use sqlx::{
    Pool, SqlStr, Sqlite,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions},
};

pub(crate) use crate::support::sqlite::fresh_database;

/// The Cargo feature of this database.
pub(crate) const FEATURE: &str = "sqlite";

/// `accounts` 1 and 2; `ledger` without a unique key on the message; `orders` with every kind of constraint.
pub(crate) const BUSINESS_TABLES: &[&str] = &[
    "create table accounts (id integer primary key, balance integer not null)",
    "insert into accounts values (1, 0), (2, 0)",
    "create table ledger (id integer primary key autoincrement, message text not null, amount integer not null)",
    "create table orders (id integer not null primary key check (id > 0), number text not null, account integer references accounts (id), \
     constraint orders_number_key unique (number))",
    "insert into orders values (1, 'A-1', 1)",
    "create table plain (note text)",
];

/// A pool as an application would make it by itself.
pub(crate) async fn pool(url: &str, connections: u32) -> Pool<Sqlite> {
    let options = SqliteConnectOptions::from_str(url)
        .unwrap()
        .busy_timeout(Duration::from_secs(10));
    SqlitePoolOptions::new()
        .max_connections(connections)
        .connect_with(options)
        .await
        .unwrap()
}

/// A pool that gives up soon when it has no connection left, or when another writer is busy.
pub(crate) async fn impatient_pool(url: &str, connections: u32) -> Pool<Sqlite> {
    let options = SqliteConnectOptions::from_str(url)
        .unwrap()
        .busy_timeout(IMPATIENT);
    SqlitePoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(IMPATIENT)
        .connect_with(options)
        .await
        .unwrap()
}

const IMPATIENT: Duration = Duration::from_millis(500);

/// A pool on which nothing will ever answer.
pub(crate) fn unreachable_pool() -> Pool<Sqlite> {
    SqlitePoolOptions::new()
        .acquire_timeout(IMPATIENT)
        .connect_lazy("sqlite:///nowhere/nothing.sqlite")
        .unwrap()
}

/// A time that many seconds from now, for a column of the inbox table.
pub(crate) fn in_seconds(seconds: i64) -> String {
    format!(
        "cast((julianday('now') - 2440587.5) * 86400000 as integer) + {}",
        seconds * 1000
    )
}

/// Lets a marker have a state that this version does not know.
pub(crate) const ALLOW_ANY_STATE: &[&str] = &["pragma writable_schema = on; \
     update sqlite_master set sql = replace(sql, 'check (state between 0 and 3)', '') where name = 'inbox'; \
     pragma writable_schema = reset; create table bump (i); drop table bump"];

/// `?` is SQLite's own.
pub(crate) fn placeholders(text: &'static str) -> SqlStr {
    SqlStr::from_static(text)
}

/// SQLite has no list of sessions; an open write transaction shows by the lock it holds.
pub(crate) async fn open_transactions(observer: &Pool<Sqlite>) -> i64 {
    let mut connection = observer.acquire().await.unwrap();
    sqlx::raw_sql("pragma busy_timeout = 0")
        .execute(&mut *connection)
        .await
        .unwrap();
    let free = sqlx::raw_sql("begin immediate; rollback")
        .execute(&mut *connection)
        .await
        .is_ok();
    sqlx::raw_sql("pragma busy_timeout = 10000")
        .execute(&mut *connection)
        .await
        .unwrap();
    i64::from(!free)
}
