//! MySQL and MariaDB: the statements of an inbox, and what the server's answers mean.

mod catalog;
mod leases;
mod upkeep;

use std::time::Duration;

use inbox_core::{Consumer, Key, Verdict, Violation};
use sqlx::{
    Pool, Row as _, SqlStr,
    mysql::{MySql, MySqlConnectOptions, MySqlConnection, MySqlDatabaseError, MySqlPoolOptions},
};
use sqlx_core::transaction::TransactionManager;

use super::{
    Backend, Claimed, ForDatabase, FoundMarker, MarkerStatus, NewClaim, OwnMarker,
    driver::Driver,
    fault::Fault,
    sql::{IndexNames, Names, Settings, Statements, sql},
};
use crate::{
    connect,
    error::{ConfigError, Error},
    schema::SchemaProblem,
};

const DDL: &str = include_str!("../../schema/mysql/1.sql");

/// How the inbox speaks to MySQL and MariaDB.
#[derive(Debug)]
pub struct MySqlDriver;

impl ForDatabase for MySqlDriver {
    type Db = MySql;
}

impl Backend for MySql {
    type Driver = MySqlDriver;
}

impl Driver for MySqlDriver {
    const URL_EXAMPLE: &'static str = "mysql://user:password@host/database";

    async fn connect(url: &str, _claim_timeout: Duration) -> Result<Pool<MySql>, Error> {
        let options: MySqlConnectOptions = connect::parse::<Self>(url)?;
        // The server accepts that, and every statement would fail with "No database selected".
        if options.get_database().is_none_or(str::is_empty) {
            return Err(ConfigError::NoDatabase {
                example: Self::URL_EXAMPLE,
            }
            .into());
        }
        // In place of the ping, and as good as one: a body that switched autocommit off leaves that to the
        // next user of its connection, whose bare statements would be answered and never committed.
        let pool = MySqlPoolOptions::new()
            .test_before_acquire(false)
            .before_acquire(|connection, _| {
                Box::pin(async move {
                    let reset = SqlStr::from_static("set autocommit = 1");
                    Self::run(connection, reset).await?;
                    Ok(true)
                })
            });
        connect::open(pool, options).await
    }

    fn check_pool(_pool: &Pool<MySql>) -> Result<(), Error> {
        Ok(())
    }

    async fn keeper(_pool: &Pool<MySql>) -> sqlx::Result<Option<MySqlConnection>> {
        Ok(None)
    }

    fn statements(settings: &Settings, canary: &str) -> Statements {
        let inbox = Names::new(&settings.table, '`').inbox();
        // Whole seconds, and zero means "do not wait at all" to MariaDB.
        let wait = settings
            .claim_timeout
            .as_millis()
            .div_ceil(1000)
            .clamp(1, 1 << 30);
        Statements {
            // One flight. READ COMMITTED is pinned: at REPEATABLE READ gap locks of one claim block
            // claims of other keys.
            begin: sql(format!(
                "set transaction isolation level read committed; start transaction; \
                 savepoint {canary}"
            )),
            // Waits for a concurrent claim of the same key to end. The `M!` comment is code to MariaDB
            // and a comment to MySQL, which has no bound for one statement: there the server's own
            // `innodb_lock_wait_timeout` (50 s unless changed) bounds the wait.
            // Never `insert ignore`: it cuts long keys and swallows every other unique index.
            // https://mariadb.com/kb/en/set-statement/  https://mariadb.com/kb/en/comment-syntax/
            claim: sql(format!(
                "/*M!100100 set statement innodb_lock_wait_timeout = {wait} for */ \
                 insert into {inbox} (message_id, consumer, token) values (?, ?, ?)"
            )),
            look: sql(format!(
                "select id, cast(state as signed), cast(greatest(0, coalesce(timestampdiff( \
                 microsecond, utc_timestamp(6), \
                 case state when 0 then lease_until when 1 then next_at end), 0)) div 1000 as signed) \
                 from {inbox} where message_id = ? and consumer = ?"
            )),
            // One flight: an error in the first statement ends the string before COMMIT.
            seal: sql(format!("release savepoint {canary}; commit")),
            undo_seal: None,
            probe: sql(format!("rollback to savepoint {canary}")),
            commit: sql("commit".into()),
            rollback: sql("rollback".into()),
            find_own: sql(format!(
                "select id from {inbox} \
                 where id = ? and message_id = ? and consumer = ? and token = ?"
            )),
            delete_own: sql(format!(
                "delete from {inbox} \
                 where id = ? and message_id = ? and consumer = ? and token = ?"
            )),
            status: sql(format!(
                "select id, cast(state as signed), cast(attempts as signed), \
                 cast(timestampdiff(microsecond, received_at, utc_timestamp(6)) div 1000 as signed), \
                 cast(timestampdiff(microsecond, processed_at, utc_timestamp(6)) div 1000 as signed) \
                 from {inbox} where message_id = ? and consumer = ?"
            )),
            table: settings.table.clone(),
            prepared: settings.prepared,
        }
    }

    fn ddl(settings: &Settings) -> String {
        Names::new(&settings.table, '`').fill(DDL, IndexNames::Plain)
    }

    async fn begin(conn: &mut MySqlConnection, sql: &Statements) -> sqlx::Result<()> {
        <MySql as sqlx::Database>::TransactionManager::begin(conn, Some(sql.begin.clone())).await
    }

    async fn claim(
        conn: &mut MySqlConnection,
        sql: &Statements,
        claim: &NewClaim<'_>,
    ) -> sqlx::Result<Claimed> {
        let done = sqlx::query(sql.claim.clone())
            .bind(claim.key.as_str())
            .bind(claim.consumer.as_str())
            .bind(claim.token.as_slice())
            .persistent(sql.persistent())
            .execute(conn)
            .await;
        match done {
            // A trigger of the application can change what `last_insert_id` says only within itself.
            Ok(done) if done.rows_affected() > 0 => Ok(Claimed::Inserted(
                i64::try_from(done.last_insert_id()).unwrap_or(i64::MAX),
            )),
            Ok(_) => Ok(Claimed::Refused),
            Err(error) => match super::violation(&error).map(|seen| seen.verdict(&sql.table)) {
                // In some languages the server's text does not end with the index name. Then, too, the
                // look that follows decides: only a marker that stands there is a duplicate.
                Some(Verdict::InboxIndex | Verdict::Unreadable) => Ok(Claimed::RefusedBy(error)),
                _ => Err(error),
            },
        }
    }

    async fn look(
        conn: &mut MySqlConnection,
        sql: &Statements,
        claim: &NewClaim<'_>,
    ) -> sqlx::Result<Option<FoundMarker>> {
        let row = sqlx::query(sql.look.clone())
            .bind(claim.key.as_str())
            .bind(claim.consumer.as_str())
            .persistent(sql.persistent())
            .fetch_optional(conn)
            .await?;
        row.map(|row| {
            let wait: i64 = row.try_get(2)?;
            Ok(FoundMarker {
                row: row.try_get(0)?,
                state: row.try_get(1)?,
                wait: Duration::from_millis(wait.unsigned_abs()),
            })
        })
        .transpose()
    }

    async fn seal_and_commit(conn: &mut MySqlConnection, sql: &Statements) -> sqlx::Result<()> {
        Self::run(conn, sql.seal.clone()).await?;
        // Keeps the driver's depth count right; queued, it travels with the ping that returns the
        // connection to its pool. Rolling back nothing is harmless and silent.
        <MySql as sqlx::Database>::TransactionManager::start_rollback(conn);
        Ok(())
    }

    async fn run(conn: &mut MySqlConnection, text: SqlStr) -> sqlx::Result<()> {
        sqlx::raw_sql(text).execute(conn).await.map(drop)
    }

    async fn find_own(
        conn: &mut MySqlConnection,
        sql: &Statements,
        own: &OwnMarker<'_>,
    ) -> sqlx::Result<bool> {
        let row = sqlx::query(sql.find_own.clone())
            .bind(own.row)
            .bind(own.claim.key.as_str())
            .bind(own.claim.consumer.as_str())
            .bind(own.claim.token.as_slice())
            .persistent(sql.persistent())
            .fetch_optional(conn)
            .await?;
        Ok(row.is_some())
    }

    async fn delete_own(
        conn: &mut MySqlConnection,
        sql: &Statements,
        own: &OwnMarker<'_>,
    ) -> sqlx::Result<bool> {
        let done = sqlx::query(sql.delete_own.clone())
            .bind(own.row)
            .bind(own.claim.key.as_str())
            .bind(own.claim.consumer.as_str())
            .bind(own.claim.token.as_slice())
            .persistent(sql.persistent())
            .execute(conn)
            .await?;
        Ok(done.rows_affected() > 0)
    }

    async fn status(
        conn: &mut MySqlConnection,
        sql: &Statements,
        (consumer, key): (&Consumer, &Key),
    ) -> sqlx::Result<Option<MarkerStatus>> {
        let row = sqlx::query(sql.status.clone())
            .bind(key.as_str())
            .bind(consumer.as_str())
            .persistent(sql.persistent())
            .fetch_optional(conn)
            .await?;
        row.map(|row| {
            Ok(MarkerStatus {
                row: row.try_get(0)?,
                state: row.try_get(1)?,
                attempts: row.try_get(2)?,
                received_ms_ago: row.try_get(3)?,
                processed_ms_ago: row.try_get(4)?,
            })
        })
        .transpose()
    }

    async fn install(conn: &mut MySqlConnection, settings: &Settings) -> sqlx::Result<()> {
        // DDL commits by itself here, so there is no transaction to hold: a named lock of the session
        // makes instances take turns, and ends with the session at the latest. At most 64 characters.
        // https://mariadb.com/kb/en/get_lock/
        let lock = format!("inbox install {}", settings.table.table());
        let granted: Option<i64> = sqlx::query_scalar("select cast(get_lock(?, 60) as signed)")
            .bind(&lock)
            .persistent(false)
            .fetch_one(&mut *conn)
            .await?;
        if granted != Some(1) {
            return Err(sqlx::Error::PoolTimedOut);
        }
        Self::run(conn, sql(Self::ddl(settings))).await?;
        sqlx::query("do release_lock(?)")
            .bind(&lock)
            .persistent(false)
            .execute(conn)
            .await
            .map(drop)
    }

    async fn verify(
        conn: &mut MySqlConnection,
        settings: &Settings,
    ) -> sqlx::Result<Vec<SchemaProblem>> {
        catalog::verify(conn, &settings.table).await
    }
}

/// The number decides that it is a unique violation; only the end of the text tells which index.
pub(super) fn violation(error: &MySqlDatabaseError) -> Violation<'_> {
    Violation::MySql {
        number: error.number(),
        message: error.message(),
    }
}

/// <https://mariadb.com/kb/en/mariadb-error-code-reference/>,
/// <https://dev.mysql.com/doc/mysql-errors/8.0/en/server-error-reference.html>
pub(super) fn fault(error: &MySqlDatabaseError) -> Fault {
    match error.number() {
        1205 | 3572 => Fault::LockWait,
        // deadlock, "record has changed since last read" (innodb_snapshot_isolation), certification
        1213 | 1020 | 3101 => Fault::Conflict,
        1305 => Fault::SavepointMissing,
        1568 => Fault::AlreadyOpen,
        1146 | 1054 => Fault::TableMissing,
        1049 => Fault::SchemaMissing,
        1044 | 1142 | 1143 | 1227 => Fault::Forbidden,
        1290 | 1792 | 1836 => Fault::ReadOnly,
        1665 => Fault::BinlogFormat,
        // error during commit, interrupted, shutting down, killed
        1180 | 1317 | 1053 | 1927 => Fault::Ambiguous,
        1040 | 1203 | 1158..=1161 => Fault::Unavailable,
        _ => Fault::Other,
    }
}
