//! What the cases must say differently to MariaDB and MySQL. The same items are in each file of this folder.

#[path = "mysql/bodies.rs"]
pub(crate) mod bodies;
#[path = "mysql/faults.rs"]
pub(crate) mod faults;
#[path = "mysql/leases.rs"]
pub(crate) mod leases;
#[path = "mysql/schema.rs"]
pub(crate) mod schema;
#[path = "mysql/servers.rs"]
pub(crate) mod servers;
#[path = "mysql/unreachable.rs"]
pub(crate) mod unreachable;
#[path = "mysql/violations.rs"]
pub(crate) mod violations;
#[path = "mysql/writes.rs"]
pub(crate) mod writes;

use std::time::Duration;

use sqlx::{MySql, Pool, Row as _, SqlStr, mysql::MySqlPoolOptions};

pub(crate) use crate::support::mysql::fresh_database;

/// The Cargo feature of this database.
pub(crate) const FEATURE: &str = "mysql";

/// `accounts` 1 and 2; `ledger` without a unique key on the message; `orders` with every kind of constraint.
pub(crate) const BUSINESS_TABLES: &[&str] = &[
    "create table accounts (id bigint primary key, balance bigint not null)",
    "insert into accounts values (1, 0), (2, 0)",
    "create table ledger (id bigint auto_increment primary key, message varbinary(300) not null, amount bigint not null)",
    "create table orders (id bigint not null primary key check (id > 0), number varchar(40) not null, account bigint null, \
     constraint orders_number_key unique (number), foreign key (account) references accounts (id))",
    "insert into orders values (1, 'A-1', 1)",
    "create table plain (note varchar(10))",
];

/// A pool as an application would make it by itself.
pub(crate) async fn pool(url: &str, connections: u32) -> Pool<MySql> {
    MySqlPoolOptions::new()
        .max_connections(connections)
        .connect(url)
        .await
        .unwrap()
}

/// A pool that gives up soon when it has no connection left.
pub(crate) async fn impatient_pool(url: &str, connections: u32) -> Pool<MySql> {
    MySqlPoolOptions::new()
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
) -> Pool<MySql> {
    MySqlPoolOptions::new()
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
pub(crate) fn unreachable_pool() -> Pool<MySql> {
    MySqlPoolOptions::new()
        .acquire_timeout(IMPATIENT)
        .connect_lazy("mysql://nobody@127.0.0.1:1/nothing")
        .unwrap()
}

/// A time that many seconds from now, for a column of the inbox table.
pub(crate) fn in_seconds(seconds: i64) -> String {
    format!("utc_timestamp(6) + interval {seconds} second")
}

/// Lets a marker have a state that this version does not know.
pub(crate) const ALLOW_ANY_STATE: &[&str] =
    &["alter table inbox modify state tinyint not null default 2"];

/// `?` is MySQL's own.
pub(crate) fn placeholders(text: &'static str) -> SqlStr {
    SqlStr::from_static(text)
}

/// Transactions of this database's sessions that are open and not running a statement.
///
/// Read from the text for people: `information_schema.innodb_trx` shows a copy that is renewed only when nobody has
/// looked at it for 100 ms, so that those who poll it, or whose neighbours do, may see the same for ever.
pub(crate) async fn open_transactions(observer: &Pool<MySql>) -> i64 {
    let idle: Vec<i64> = sqlx::query_scalar(
        "select cast(id as signed) from information_schema.processlist \
         where db = database() and id <> connection_id() and command = 'Sleep'",
    )
    .fetch_all(observer)
    .await
    .unwrap();
    let status: String = sqlx::raw_sql("show engine innodb status")
        .fetch_one(observer)
        .await
        .unwrap()
        .get(2);
    let mut active = false;
    let mut open = 0;
    for line in status.lines() {
        if line.starts_with("---TRANSACTION") {
            active = line.contains(", ACTIVE");
        } else if let Some((_, rest)) = line.split_once(" thread id ")
            && let Some((session, _)) = rest.split_once(',')
        {
            open += i64::from(active && idle.contains(&session.parse().unwrap()));
        }
    }
    open
}
