//! SQLite, to experiment on.

use sqlx::{Sqlite, SqliteConnection, error::DatabaseError};

use super::{Lab, Mishap, OnError, Writers};

impl Lab for Sqlite {
    const TITLE: &'static str = "SQLite";

    const CREATE: &'static str = "
        create table experiments_accounts (
            id integer primary key, balance integer not null default 0 check (balance >= 0)
        );
        create table experiments_ledger (
            message_id text not null, account integer not null, cents integer not null,
            foreign key (account) references experiments_accounts (id)
        );
        create table experiments_seen (message_id text not null);
        create table experiments_claims (
            message_id text not null, processed_at text,
            constraint experiments_claims_message_id_key unique (message_id)
        );
        insert into experiments_accounts (id) values (1);
    ";

    const DROP: &'static str = "
        drop table if exists experiments_ledger;
        drop table if exists experiments_seen;
        drop table if exists experiments_claims;
        drop table if exists experiments_accounts;
        drop table if exists experiments_inbox;
        drop table if exists experiments_inbox_schema_version;
    ";

    const NAMES_CONSTRAINTS: bool = false;

    // SQLite tells only the columns; this is what PostgreSQL would call the key on them.
    const PRIMARY_KEY: &'static str = "experiments_accounts_pkey";

    // IMMEDIATE takes the write lock now; without it, see run 4.
    const BEGIN: &'static str = "begin immediate";

    const ERROR: OnError = OnError::UndoesStatement;

    const MISHAP: Mishap = Mishap::StaleSnapshot;

    const WRITERS: Writers = Writers::One;

    const WAITING: Option<&'static str> = None;

    async fn execute(conn: &mut SqliteConnection, sql: &'static str) -> sqlx::Result<u64> {
        let done = sqlx::raw_sql(sql).execute(conn).await?;
        Ok(done.rows_affected())
    }

    async fn count(conn: &mut SqliteConnection, sql: &'static str) -> sqlx::Result<i64> {
        sqlx::query_scalar(sql).fetch_one(conn).await
    }

    async fn text(conn: &mut SqliteConnection, sql: &'static str) -> sqlx::Result<Option<String>> {
        sqlx::query_scalar(sql).fetch_optional(conn).await
    }

    fn number(error: &dyn DatabaseError) -> String {
        // An extended result code: https://www.sqlite.org/rescode.html
        error.code().unwrap_or_default().into_owned()
    }
}
