//! What the cases must say differently to MariaDB and MySQL. The same items are in each file of this folder.

#[path = "mysql/bodies.rs"]
pub(crate) mod bodies;

use sqlx::{MySql, Pool, SqlStr, mysql::MySqlPoolOptions};

pub(crate) use crate::support::mysql::fresh_database;

/// The Cargo feature of this database.
pub(crate) const FEATURE: &str = "mysql";

/// `accounts` 1 and 2; `ledger` without a unique key on the message; `orders` with every kind of constraint.
pub(crate) const BUSINESS_TABLES: &[&str] = &[
    "create table accounts (id bigint primary key, balance bigint not null)",
    "insert into accounts values (1, 0), (2, 0)",
    "create table ledger (id bigint auto_increment primary key, message varbinary(300) not null, amount bigint not null)",
    "create table orders (id bigint not null primary key, number varchar(40) not null, account bigint null, \
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

/// `?` is MySQL's own.
pub(crate) fn placeholders(text: &'static str) -> SqlStr {
    SqlStr::from_static(text)
}

/// Transactions of this database's sessions that are open and not running a statement.
pub(crate) async fn open_transactions(observer: &Pool<MySql>) -> i64 {
    sqlx::query_scalar(
        "select count(*) from information_schema.innodb_trx t \
         join information_schema.processlist p on p.id = t.trx_mysql_thread_id \
         where p.db = database() and p.id <> connection_id() and p.command = 'Sleep'",
    )
    .fetch_one(observer)
    .await
    .unwrap()
}
