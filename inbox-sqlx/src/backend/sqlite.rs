//! SQLite: the statements of an inbox, and what the library's answers mean.

mod catalog;
mod leases;
mod upkeep;

use std::time::Duration;

use inbox_core::{Consumer, Key, Violation};
use sqlx::{
    ConnectOptions as _, Pool, Row as _, SqlStr,
    error::DatabaseError as _,
    sqlite::{
        Sqlite, SqliteConnectOptions, SqliteConnection, SqliteError, SqliteJournalMode,
        SqlitePoolOptions, SqliteSynchronous,
    },
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

const DDL: &str = include_str!("../../schema/sqlite/1.sql");

/// Milliseconds since 1970 by the database's clock, the form of every time in the table.
const NOW: &str = "cast((julianday('now') - 2440587.5) * 86400000 as integer)";

/// How the inbox speaks to SQLite.
#[derive(Debug)]
pub struct SqliteDriver;

impl ForDatabase for SqliteDriver {
    type Db = Sqlite;
}

impl Backend for Sqlite {
    type Driver = SqliteDriver;
}

impl Driver for SqliteDriver {
    const URL_EXAMPLE: &'static str = "sqlite://inbox.sqlite?mode=rwc";

    async fn connect(url: &str, claim_timeout: Duration) -> Result<Pool<Sqlite>, Error> {
        let options: SqliteConnectOptions = connect::parse::<Self>(url)?;
        let memory = is_memory(&options);
        // Writers take turns at `begin immediate`, so the busy timeout is what bounds a claim's wait.
        // https://www.sqlite.org/wal.html  https://www.sqlite.org/pragma.html#pragma_synchronous
        let mut options = options
            .busy_timeout(claim_timeout)
            .foreign_keys(true)
            .synchronous(SqliteSynchronous::Full);
        if !memory {
            options = options.journal_mode(SqliteJournalMode::Wal);
        }
        // One connection: SQLite has one writer anyway, and queueing for it in the pool is fair,
        // where the file lock is not. An in-memory database lives and dies with its connection.
        let pool = SqlitePoolOptions::new()
            .max_connections(1)
            .idle_timeout(None)
            .max_lifetime(None);
        connect::open(pool, options).await
    }

    fn check_pool(pool: &Pool<Sqlite>) -> Result<(), Error> {
        let options = pool.connect_options();
        if !is_memory(&options) {
            return Ok(());
        }
        if !is_shared_memory(&options) {
            return Err(ConfigError::PrivateMemoryDatabase.into());
        }
        match pool.options().get_max_connections() {
            0 | 1 => Ok(()),
            connections => {
                Err(ConfigError::MemoryDatabaseWithSeveralConnections { connections }.into())
            }
        }
    }

    async fn keeper(pool: &Pool<Sqlite>) -> sqlx::Result<Option<SqliteConnection>> {
        // An in-memory database is gone with its last connection, and the pool's only one is closed
        // after an unclean end, or for being idle.
        let options = pool.connect_options();
        if is_memory(&options) {
            return options.connect().await.map(Some);
        }
        Ok(None)
    }

    fn statements(settings: &Settings, canary: &str) -> Statements {
        let inbox = Names::new(&settings.table, '"').inbox();
        Statements {
            // IMMEDIATE takes the write lock now: a deferred transaction that reads first fails with
            // SQLITE_BUSY_SNAPSHOT as soon as another writer commits, whatever the busy timeout.
            // https://www.sqlite.org/lang_transaction.html
            begin: sql(format!("begin immediate; savepoint {canary}")),
            // https://www.sqlite.org/lang_upsert.html
            claim: sql(format!(
                "insert into {inbox} (message_id, consumer, token) values (?1, ?2, ?3) \
                 on conflict (message_id, consumer) do nothing returning id"
            )),
            look: sql(format!(
                "select id, state, max(0, coalesce( \
                 case state when 0 then lease_until when 1 then next_at end - {NOW}, 0)) \
                 from {inbox} where message_id = ?1 and consumer = ?2"
            )),
            // COMMIT goes through the driver, which counts the depth of its transactions itself.
            seal: sql(format!("release savepoint {canary}")),
            undo_seal: None,
            probe: sql(format!("rollback to savepoint {canary}")),
            commit: sql("commit".into()),
            rollback: sql("rollback".into()),
            find_own: sql(format!(
                "select id from {inbox} \
                 where id = ?1 and message_id = ?2 and consumer = ?3 and token = ?4"
            )),
            delete_own: sql(format!(
                "delete from {inbox} \
                 where id = ?1 and message_id = ?2 and consumer = ?3 and token = ?4"
            )),
            status: sql(format!(
                "select id, state, attempts, {NOW} - received_at, {NOW} - processed_at \
                 from {inbox} where message_id = ?1 and consumer = ?2"
            )),
            table: settings.table.clone(),
            prepared: settings.prepared,
        }
    }

    fn ddl(settings: &Settings) -> String {
        Names::new(&settings.table, '"').fill(DDL, IndexNames::Qualified)
    }

    async fn begin(conn: &mut SqliteConnection, sql: &Statements) -> sqlx::Result<()> {
        <Sqlite as sqlx::Database>::TransactionManager::begin(conn, Some(sql.begin.clone())).await
    }

    async fn claim(
        conn: &mut SqliteConnection,
        sql: &Statements,
        claim: &NewClaim<'_>,
    ) -> sqlx::Result<Claimed> {
        let row = sqlx::query(sql.claim.clone())
            .bind(claim.key.as_str())
            .bind(claim.consumer.as_str())
            .bind(claim.token.as_slice())
            .persistent(sql.persistent())
            .fetch_optional(conn)
            .await?;
        match row {
            Some(row) => Ok(Claimed::Inserted(row.try_get(0)?)),
            None => Ok(Claimed::Refused),
        }
    }

    async fn look(
        conn: &mut SqliteConnection,
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

    async fn seal_and_commit(conn: &mut SqliteConnection, sql: &Statements) -> sqlx::Result<()> {
        Self::run(conn, sql.seal.clone()).await?;
        // The seal has also ended a nested transaction that the body left open; the driver still counts
        // it, and would release its savepoint instead of committing.
        if <Sqlite as sqlx::Database>::TransactionManager::get_transaction_depth(conn) > 1 {
            return Self::run(conn, sql.commit.clone()).await;
        }
        <Sqlite as sqlx::Database>::TransactionManager::commit(conn).await
    }

    async fn run(conn: &mut SqliteConnection, text: SqlStr) -> sqlx::Result<()> {
        sqlx::raw_sql(text).execute(conn).await.map(drop)
    }

    async fn find_own(
        conn: &mut SqliteConnection,
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
        conn: &mut SqliteConnection,
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
        conn: &mut SqliteConnection,
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

    async fn install(conn: &mut SqliteConnection, settings: &Settings) -> sqlx::Result<()> {
        // IMMEDIATE: instances take turns at the file's write lock.
        let begin = SqlStr::from_static("begin immediate");
        <Sqlite as sqlx::Database>::TransactionManager::begin(conn, Some(begin)).await?;
        Self::run(conn, sql(Self::ddl(settings))).await?;
        <Sqlite as sqlx::Database>::TransactionManager::commit(conn).await
    }

    async fn verify(
        conn: &mut SqliteConnection,
        settings: &Settings,
    ) -> sqlx::Result<Vec<SchemaProblem>> {
        catalog::verify(conn, &settings.table).await
    }
}

/// Whether a second connection made from these options sees the same in-memory database: the URL
/// `sqlite::memory:` gives it a name of its own and a shared cache.
fn is_shared_memory(options: &SqliteConnectOptions) -> bool {
    let name = options.get_filename().to_string_lossy();
    // The first is private whatever the cache, and the second one per connection.
    name != ":memory:" && !name.is_empty() && asks_for(options, "cache", "shared")
}

/// Whether the database lives in memory, and dies with its last connection.
fn is_memory(options: &SqliteConnectOptions) -> bool {
    let name = options.get_filename().to_string_lossy();
    // An empty name is a temporary file of each connection.
    name.is_empty() || name == ":memory:" || asks_for(options, "mode", "memory")
}

/// The options have no other way to tell than the URL that would make them, without the name of the file: with
/// a colon in it the driver panics.
fn asks_for(options: &SqliteConnectOptions, parameter: &str, value: &str) -> bool {
    options
        .clone()
        .filename("x")
        .to_url_lossy()
        .query_pairs()
        .any(|(name, found)| name == parameter && found == value)
}

/// SQLite's texts are always English and never localized.
pub(super) fn violation(error: &SqliteError) -> Option<Violation<'_>> {
    let code = error.code()?.parse().ok()?;
    Some(Violation::Sqlite {
        code,
        message: error.message(),
    })
}

/// <https://www.sqlite.org/rescode.html>; the low byte of an extended code is the primary one.
pub(super) fn fault(error: &SqliteError) -> Fault {
    let code: i32 = error
        .code()
        .and_then(|code| code.parse().ok())
        .unwrap_or_default();
    let text = error.message();
    match code & 0xff {
        1 if text.starts_with("no such savepoint") => Fault::SavepointMissing,
        1 if text.contains("within a transaction") => Fault::AlreadyOpen,
        1 if text.contains("no transaction is active") => Fault::NothingOpen,
        1 if text.starts_with("no such table")
            || text.starts_with("no such column")
            || text.contains("has no column named") =>
        {
            Fault::TableMissing
        }
        1 if text.starts_with("unknown database") => Fault::SchemaMissing,
        1 if text.contains("ON CONFLICT clause does not match") => Fault::IndexMissing,
        1 if text.starts_with("cannot modify") => Fault::Intercepted,
        // BUSY and LOCKED, whichever of their extended codes
        5 | 6 => Fault::LockWait,
        3 => Fault::Forbidden,
        8 => Fault::ReadOnly,
        // IOERR and FULL: at commit nobody can say what reached the disk
        10 | 13 => Fault::Ambiguous,
        14 => Fault::Unavailable,
        _ => Fault::Other,
    }
}
