//! PostgreSQL: pruning and counting.

use sqlx::{Row as _, postgres::PgConnection};

use super::super::{
    sql::{Names, Settings, sql},
    upkeep::{StateCount, Upkeep, UpkeepStatements},
};
use super::PostgresDriver;

impl Upkeep for PostgresDriver {
    /// Deleting does not block claims here; the bound keeps transactions short for vacuum and replicas.
    const PRUNE_BATCH: i64 = 5000;

    fn upkeep_statements(settings: &Settings) -> UpkeepStatements {
        let inbox = Names::new(&settings.table, '"').inbox();
        UpkeepStatements {
            // `skip locked`: two pruners share the work instead of waiting for each other.
            // https://www.postgresql.org/docs/current/sql-select.html#SQL-FOR-UPDATE-SHARE
            prune: sql(format!(
                "delete from {inbox} where id in (select id from {inbox} where state = 2 \
                 and processed_at < clock_timestamp() - $1::float8 * interval '1 millisecond' \
                 order by processed_at limit $2 for update skip locked)"
            )),
            prunable: sql(format!(
                "select count(*) from {inbox} where state = 2 \
                 and processed_at < clock_timestamp() - $1::float8 * interval '1 millisecond'"
            )),
            clear_payloads: sql(format!(
                "update {inbox} set payload = null where id in (select id from {inbox} \
                 where state = 3 and payload is not null \
                 and parked_at < clock_timestamp() - $1::float8 * interval '1 millisecond' \
                 order by id limit $2 for update skip locked)"
            )),
            unfinished: sql(format!(
                "select state::bigint, count(*), \
                 (extract(epoch from clock_timestamp() - min(received_at)) * 1000)::bigint \
                 from {inbox} where state <> 2 group by state order by state"
            )),
        }
    }

    async fn prune(
        conn: &mut PgConnection,
        sql: &UpkeepStatements,
        window_ms: i64,
        limit: i64,
    ) -> sqlx::Result<u64> {
        let done = sqlx::query(sql.prune.clone())
            .bind(window_ms)
            .bind(limit)
            .persistent(false)
            .execute(conn)
            .await?;
        Ok(done.rows_affected())
    }

    async fn prunable(
        conn: &mut PgConnection,
        sql: &UpkeepStatements,
        window_ms: i64,
    ) -> sqlx::Result<i64> {
        sqlx::query_scalar(sql.prunable.clone())
            .bind(window_ms)
            .persistent(false)
            .fetch_one(conn)
            .await
    }

    async fn clear_payloads(
        conn: &mut PgConnection,
        sql: &UpkeepStatements,
        window_ms: i64,
        limit: i64,
    ) -> sqlx::Result<u64> {
        let done = sqlx::query(sql.clear_payloads.clone())
            .bind(window_ms)
            .bind(limit)
            .persistent(false)
            .execute(conn)
            .await?;
        Ok(done.rows_affected())
    }

    async fn unfinished(
        conn: &mut PgConnection,
        sql: &UpkeepStatements,
    ) -> sqlx::Result<Vec<StateCount>> {
        let rows = sqlx::query(sql.unfinished.clone())
            .persistent(false)
            .fetch_all(conn)
            .await?;
        rows.iter()
            .map(|row| {
                Ok(StateCount {
                    state: row.try_get(0)?,
                    count: row.try_get(1)?,
                    oldest_ms: row.try_get(2)?,
                })
            })
            .collect()
    }
}
