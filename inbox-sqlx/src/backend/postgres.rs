//! PostgreSQL: the statements of an inbox, and what the server's answers mean.

mod catalog;
mod leases;
mod upkeep;

use std::time::Duration;

use inbox_core::{Consumer, Key, Violation};
use sqlx::{
    Pool, Row as _, SqlStr,
    postgres::{PgConnectOptions, PgConnection, PgDatabaseError, PgPoolOptions, Postgres},
};
use sqlx_core::transaction::TransactionManager;

use super::{
    Backend, Claimed, ForDatabase, FoundMarker, MarkerStatus, NewClaim, OwnMarker,
    driver::Driver,
    fault::Fault,
    sql::{IndexNames, Names, Settings, Statements, sql},
};
use crate::{connect, error::Error, schema::SchemaProblem};

const DDL: &str = include_str!("../../schema/postgres/1.sql");

/// How the inbox speaks to PostgreSQL.
#[derive(Debug)]
pub struct PostgresDriver;

impl ForDatabase for PostgresDriver {
    type Db = Postgres;
}

impl Backend for Postgres {
    type Driver = PostgresDriver;
}

impl Driver for PostgresDriver {
    const URL_EXAMPLE: &'static str = "postgres://user:password@host/database";

    async fn connect(url: &str, _claim_timeout: Duration) -> Result<Pool<Postgres>, Error> {
        let options: PgConnectOptions = connect::parse::<Self>(url)?;
        connect::open(PgPoolOptions::new(), options).await
    }

    fn check_pool(_pool: &Pool<Postgres>) -> Result<(), Error> {
        Ok(())
    }

    async fn keeper(_pool: &Pool<Postgres>) -> sqlx::Result<Option<PgConnection>> {
        Ok(None)
    }

    fn statements(settings: &Settings, canary: &str) -> Statements {
        let inbox = Names::new(&settings.table, '"').inbox();
        let wait = settings
            .claim_timeout
            .as_millis()
            .clamp(1, i32::MAX as u128);
        Statements {
            // One simple query, one flight. `lock_timeout` bounds the wait of the claim alone: the
            // claim's `returning` puts the application's own value back before the body runs. Both are
            // local to this transaction, which also makes them safe behind a transaction pooler.
            // READ COMMITTED is pinned because at higher levels the loser of a race gets 40001.
            // https://www.postgresql.org/docs/current/runtime-config-client.html#GUC-LOCK-TIMEOUT
            begin: sql(format!(
                "begin isolation level read committed; \
                 select set_config('inbox.lock_timeout', current_setting('lock_timeout'), true), \
                 set_config('lock_timeout', '{wait}', true); \
                 savepoint {canary}"
            )),
            // Waits for a concurrent claim of the same key to end. Inference by columns: fails when
            // no unique index on exactly these columns exists, and swallows nothing but a duplicate.
            // https://www.postgresql.org/docs/current/sql-insert.html#SQL-ON-CONFLICT
            claim: sql(format!(
                "insert into {inbox} (message_id, consumer, token) values ($1, $2, $3) \
                 on conflict (message_id, consumer) do nothing \
                 returning id, set_config('lock_timeout', current_setting('inbox.lock_timeout'), true)"
            )),
            look: sql(format!(
                "select id, state::bigint as state, coalesce(ceil(extract(epoch from greatest( \
                 case state when 0 then lease_until when 1 then next_at end - clock_timestamp(), \
                 interval '0')) * 1000), 0)::bigint as wait_ms \
                 from {inbox} where message_id = $1 and consumer = $2"
            )),
            // One flight. An error in one statement ends the string, so COMMIT is reached only by a living
            // transaction. The second savepoint is for a body that replaced the transaction: failing to
            // release the canary aborts what the body left open, and this takes that back.
            // `and chain` leaves an empty transaction for the driver's own ROLLBACK, which keeps its depth
            // count right without a warning in the server's log.
            // https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-MULTI-STATEMENT
            seal: sql(format!(
                "savepoint {canary}_end; release savepoint {canary}; commit and chain"
            )),
            undo_seal: Some(sql(format!("rollback to savepoint {canary}_end"))),
            probe: sql(format!("rollback to savepoint {canary}")),
            commit: sql("commit".into()),
            rollback: sql("rollback".into()),
            find_own: sql(format!(
                "select id from {inbox} \
                 where id = $1 and message_id = $2 and consumer = $3 and token = $4"
            )),
            delete_own: sql(format!(
                "delete from {inbox} \
                 where id = $1 and message_id = $2 and consumer = $3 and token = $4"
            )),
            status: sql(format!(
                "select id, state::bigint as state, attempts::bigint as attempts, \
                 (extract(epoch from clock_timestamp() - received_at) * 1000)::bigint as received_ms, \
                 (extract(epoch from clock_timestamp() - processed_at) * 1000)::bigint as processed_ms \
                 from {inbox} where message_id = $1 and consumer = $2"
            )),
            table: settings.table.clone(),
            prepared: settings.prepared,
        }
    }

    fn ddl(settings: &Settings) -> String {
        Names::new(&settings.table, '"').fill(DDL, IndexNames::Plain)
    }

    async fn begin(conn: &mut PgConnection, sql: &Statements) -> sqlx::Result<()> {
        <Postgres as sqlx::Database>::TransactionManager::begin(conn, Some(sql.begin.clone())).await
    }

    async fn claim(
        conn: &mut PgConnection,
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
        conn: &mut PgConnection,
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

    async fn seal_and_commit(conn: &mut PgConnection, sql: &Statements) -> sqlx::Result<()> {
        Self::run(conn, sql.seal.clone()).await?;
        // Queued, not awaited: it travels with the ping that returns the connection to its pool.
        <Postgres as sqlx::Database>::TransactionManager::start_rollback(conn);
        Ok(())
    }

    async fn run(conn: &mut PgConnection, text: SqlStr) -> sqlx::Result<()> {
        sqlx::raw_sql(text).execute(conn).await.map(drop)
    }

    async fn find_own(
        conn: &mut PgConnection,
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
        conn: &mut PgConnection,
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
        conn: &mut PgConnection,
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

    async fn install(conn: &mut PgConnection, settings: &Settings) -> sqlx::Result<()> {
        // `if not exists` alone races in the catalog; the lock makes instances take turns and ends
        // with the transaction, so it is safe behind a transaction pooler and after a crash.
        let lock = format!("inbox install {}", settings.table);
        <Postgres as sqlx::Database>::TransactionManager::begin(conn, None).await?;
        // "already exists, skipping" at every start is noise.
        let quiet = SqlStr::from_static("set local client_min_messages = warning");
        Self::run(conn, quiet).await?;
        sqlx::query("select pg_advisory_xact_lock(hashtextextended($1, 0))")
            .bind(lock)
            .persistent(false)
            .execute(&mut *conn)
            .await?;
        Self::run(conn, sql(Self::ddl(settings))).await?;
        <Postgres as sqlx::Database>::TransactionManager::commit(conn).await
    }

    async fn verify(
        conn: &mut PgConnection,
        settings: &Settings,
    ) -> sqlx::Result<Vec<SchemaProblem>> {
        catalog::verify(conn, &settings.table).await
    }
}

/// The structured fields of a violation; PostgreSQL's text may be in any language and is not read.
pub(super) fn violation(error: &PgDatabaseError) -> Violation<'_> {
    Violation::Postgres {
        sqlstate: error.code(),
        schema: error.schema(),
        table: error.table(),
        constraint: error.constraint(),
    }
}

/// <https://www.postgresql.org/docs/current/errcodes-appendix.html>
pub(super) fn fault(error: &PgDatabaseError) -> Fault {
    match error.code() {
        "55P03" => Fault::LockWait,
        "40001" | "40P01" => Fault::Conflict,
        "3B001" | "25P01" => Fault::SavepointMissing,
        "25P02" => Fault::Aborted,
        "25001" => Fault::AlreadyOpen,
        "42P01" | "42703" => Fault::TableMissing,
        "3F000" => Fault::SchemaMissing,
        "42P10" | "55000" => Fault::IndexMissing,
        // a rule on the table cannot be combined with `on conflict` or `returning`
        "0A000" => Fault::Intercepted,
        "42501" => Fault::Forbidden,
        "25006" => Fault::ReadOnly,
        // cancelled by statement_timeout, an administrator, a restart, or idle_in_transaction timeout
        "57014" | "57P01" | "57P02" | "57P03" | "57P05" | "25P03" => Fault::Ambiguous,
        code if code.starts_with("08") || code.starts_with("53") => Fault::Unavailable,
        code if code.starts_with("40") => Fault::Conflict,
        _ => Fault::Other,
    }
}
