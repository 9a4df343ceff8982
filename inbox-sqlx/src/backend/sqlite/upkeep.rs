//! SQLite: pruning and counting.

use sqlx::{Row as _, sqlite::SqliteConnection};

use super::super::{
    sql::{Names, Settings, sql},
    upkeep::{StateCount, Upkeep, UpkeepStatements},
};
use super::{NOW, SqliteDriver};

impl Upkeep for SqliteDriver {
    /// Every batch holds the one write lock; at this size about 50 ms at most.
    const PRUNE_BATCH: i64 = 1000;

    fn upkeep_statements(settings: &Settings) -> UpkeepStatements {
        let inbox = Names::new(&settings.table, '"').inbox();
        UpkeepStatements {
            // Numbers, not texts: times of different formats do not compare by value.
            prune: sql(format!(
                "delete from {inbox} where id in (select id from {inbox} where state = 2 \
                 and processed_at < {NOW} - ?1 order by processed_at limit ?2)"
            )),
            prunable: sql(format!(
                "select count(*) from {inbox} where state = 2 and processed_at < {NOW} - ?1"
            )),
            clear_payloads: sql(format!(
                "update {inbox} set payload = null where id in (select id from {inbox} \
                 where state = 3 and payload is not null and parked_at < {NOW} - ?1 \
                 order by id limit ?2)"
            )),
            unfinished: sql(format!(
                "select state, count(*), {NOW} - min(received_at) \
                 from {inbox} where state <> 2 group by state order by state"
            )),
        }
    }

    async fn prune(
        conn: &mut SqliteConnection,
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
        conn: &mut SqliteConnection,
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
        conn: &mut SqliteConnection,
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
        conn: &mut SqliteConnection,
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
