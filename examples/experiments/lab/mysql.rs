//! MySQL/MariaDB, to experiment on.

use sqlx::{MySql, MySqlConnection, error::DatabaseError, mysql::MySqlDatabaseError};

use super::{AfterDeadlock, Lab, Mishap, OnError, Writers};

impl Lab for MySql {
    const TITLE: &'static str = "MySQL/MariaDB";

    const CREATE: &'static str = "
        create table experiments_accounts (
            id bigint primary key, balance bigint not null default 0 check (balance >= 0)
        ) engine = innodb;
        create table experiments_ledger (
            message_id varbinary(255) not null, account bigint not null, cents bigint not null,
            foreign key (account) references experiments_accounts (id)
        ) engine = innodb;
        create table experiments_seen (message_id varbinary(255) not null) engine = innodb;
        create table experiments_claims (
            message_id varbinary(255) not null, processed_at datetime null,
            constraint experiments_claims_message_id_key unique (message_id)
        ) engine = innodb;
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

    const PRIMARY_KEY: &'static str = "PRIMARY";

    const BEGIN: &'static str = "set transaction isolation level read committed; start transaction";

    const ERROR: OnError = OnError::UndoesStatement;

    const MISHAP: Mishap = Mishap::Deadlock(AfterDeadlock::Gone);

    const WRITERS: Writers = Writers::Many;

    // https://mariadb.com/kb/en/information-schema-innodb_trx-table/
    const WAITING: Option<&'static str> = Some(
        "select cast(concat('B is in state ', trx_state, ' in: insert into', \
         left(substring_index(trx_query, 'insert into', -1), 20), '...') as char) \
         from information_schema.innodb_trx where trx_state = 'LOCK WAIT' limit 1",
    );

    async fn execute(conn: &mut MySqlConnection, sql: &'static str) -> sqlx::Result<u64> {
        let done = sqlx::raw_sql(sql).execute(conn).await?;
        Ok(done.rows_affected())
    }

    async fn count(conn: &mut MySqlConnection, sql: &'static str) -> sqlx::Result<i64> {
        sqlx::query_scalar(sql).fetch_one(conn).await
    }

    async fn text(conn: &mut MySqlConnection, sql: &'static str) -> sqlx::Result<Option<String>> {
        sqlx::query_scalar(sql).fetch_optional(conn).await
    }

    fn number(error: &dyn DatabaseError) -> String {
        // `code()` is the SQLSTATE, the same for many errors: https://mariadb.com/kb/en/mariadb-error-codes/
        error
            .try_downcast_ref::<MySqlDatabaseError>()
            .map_or_else(String::new, |error| error.number().to_string())
    }
}
