//! What the cases must say differently to PostgreSQL. The same items are in each file of this folder.

#[path = "postgres/bodies.rs"]
pub(crate) mod bodies;
#[path = "postgres/faults.rs"]
pub(crate) mod faults;
#[path = "postgres/leases.rs"]
pub(crate) mod leases;
#[path = "postgres/schema.rs"]
pub(crate) mod schema;
#[path = "postgres/servers.rs"]
pub(crate) mod servers;
#[path = "postgres/unreachable.rs"]
pub(crate) mod unreachable;
#[path = "postgres/violations.rs"]
pub(crate) mod violations;
#[path = "postgres/writes.rs"]
pub(crate) mod writes;

use std::time::Duration;

use sqlx::{Pool, Postgres, SqlStr, postgres::PgPoolOptions};

use crate::contract::bench::text;
pub(crate) use crate::support::postgres::fresh_database;

/// The Cargo feature of this database.
pub(crate) const FEATURE: &str = "postgres";

/// `accounts` 1 and 2; `ledger` without a unique key on the message; `orders` with every kind of constraint.
pub(crate) const BUSINESS_TABLES: &[&str] = &[
    "create table accounts (id bigint primary key, balance bigint not null)",
    "insert into accounts values (1, 0), (2, 0)",
    "create table ledger (id bigint generated always as identity primary key, message text not null, amount bigint not null)",
    "create table orders (id bigint not null primary key check (id > 0), number text not null, account bigint references accounts (id), \
     constraint orders_number_key unique (number))",
    "insert into orders values (1, 'A-1', 1)",
    "create table plain (note text)",
    "grant all on all tables in schema public to public",
    "grant all on all sequences in schema public to public",
];

/// A pool as an application would make it by itself.
pub(crate) async fn pool(url: &str, connections: u32) -> Pool<Postgres> {
    PgPoolOptions::new()
        .max_connections(connections)
        .connect(url)
        .await
        .unwrap()
}

/// A pool that gives up soon when it has no connection left.
pub(crate) async fn impatient_pool(url: &str, connections: u32) -> Pool<Postgres> {
    PgPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(IMPATIENT)
        .connect(url)
        .await
        .unwrap()
}

const IMPATIENT: Duration = Duration::from_millis(500);

/// A pool of the application's own, whose sessions begin with these statements.
pub(crate) async fn pool_with(
    url: &str,
    connections: u32,
    statements: &'static [&'static str],
) -> Pool<Postgres> {
    PgPoolOptions::new()
        .max_connections(connections)
        .after_connect(move |connection, _| {
            Box::pin(async move {
                for statement in statements {
                    sqlx::raw_sql(*statement).execute(&mut *connection).await?;
                }
                Ok(())
            })
        })
        .connect(url)
        .await
        .unwrap()
}

/// A pool on which nothing will ever answer.
pub(crate) fn unreachable_pool() -> Pool<Postgres> {
    PgPoolOptions::new()
        .acquire_timeout(IMPATIENT)
        .connect_lazy("postgres://nobody@127.0.0.1:1/nothing")
        .unwrap()
}

/// A time that many seconds from now, for a column of the inbox table.
pub(crate) fn in_seconds(seconds: i64) -> String {
    format!("clock_timestamp() + interval '{seconds} seconds'")
}

/// Lets a marker have a state that this version does not know.
pub(crate) const ALLOW_ANY_STATE: &[&str] =
    &["alter table inbox drop constraint inbox_state_check"];

/// `$1`, `$2`, … for each `?`.
pub(crate) fn placeholders(template: &'static str) -> SqlStr {
    let mut parts = template.split('?');
    let mut result = parts.next().unwrap_or_default().to_owned();
    for (position, part) in parts.enumerate() {
        result += "$";
        result += &(position + 1).to_string();
        result += part;
    }
    text(result)
}

/// Sessions of this database, other than the one that asks, inside a transaction and doing nothing.
pub(crate) async fn open_transactions(observer: &Pool<Postgres>) -> i64 {
    sqlx::query_scalar(
        "select count(*) from pg_stat_activity where datname = current_database() \
         and pid <> pg_backend_pid() and state like 'idle in transaction%'",
    )
    .fetch_one(observer)
    .await
    .unwrap()
}
