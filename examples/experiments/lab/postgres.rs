//! PostgreSQL, to experiment on.

use sqlx::{PgConnection, Postgres, error::DatabaseError};

use super::{AfterDeadlock, Lab, Mishap, OnError, Writers};

impl Lab for Postgres {
    const TITLE: &'static str = "PostgreSQL";

    const CREATE: &'static str = "
        create table experiments_accounts (
            id bigint primary key, balance bigint not null default 0 check (balance >= 0)
        );
        create table experiments_ledger (
            message_id text not null, account bigint not null, cents bigint not null,
            foreign key (account) references experiments_accounts (id)
        );
        create table experiments_seen (message_id text not null);
        create table experiments_claims (
            message_id text not null, processed_at timestamptz,
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

    const NAMES_CONSTRAINTS: bool = true;

    const PRIMARY_KEY: &'static str = "experiments_accounts_pkey";

    const BEGIN: &'static str = "begin isolation level read committed";

    const ERROR: OnError = OnError::AbortsTransaction;

    const MISHAP: Mishap = Mishap::Deadlock(AfterDeadlock::Aborted);

    const WRITERS: Writers = Writers::Many;

    // https://www.postgresql.org/docs/current/monitoring-stats.html#WAIT-EVENT-LOCK-TABLE
    const WAITING: Option<&'static str> = Some(
        "select 'B waits for a ' || wait_event || ' in: ' || left(query, 31) || '...' \
         from pg_stat_activity \
         where datname = current_database() and wait_event_type = 'Lock' limit 1",
    );

    async fn execute(conn: &mut PgConnection, sql: &'static str) -> sqlx::Result<u64> {
        let done = sqlx::raw_sql(sql).execute(conn).await?;
        Ok(done.rows_affected())
    }

    async fn count(conn: &mut PgConnection, sql: &'static str) -> sqlx::Result<i64> {
        sqlx::query_scalar(sql).fetch_one(conn).await
    }

    async fn text(conn: &mut PgConnection, sql: &'static str) -> sqlx::Result<Option<String>> {
        sqlx::query_scalar(sql).fetch_optional(conn).await
    }

    fn number(error: &dyn DatabaseError) -> String {
        // A SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html
        error.code().unwrap_or_default().into_owned()
    }
}
