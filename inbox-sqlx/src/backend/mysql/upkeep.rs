//! MySQL and MariaDB: pruning and counting.

use sqlx::{Row as _, mysql::MySqlConnection};

use super::super::{
    sql::{Names, Settings, sql},
    upkeep::{StateCount, Upkeep, UpkeepStatements},
};
use super::MySqlDriver;

impl Upkeep for MySqlDriver {
    /// About 16 ms with the index; a claim of a key that is being deleted waits that long.
    const PRUNE_BATCH: i64 = 5000;

    fn upkeep_statements(settings: &Settings) -> UpkeepStatements {
        let inbox = Names::new(&settings.table, '`').inbox();
        UpkeepStatements {
            // Two pruners wait for each other's batch, which is short. The index on (state, processed_at)
            // is what keeps the scan off the rows of fresh claims.
            // https://mariadb.com/kb/en/delete/
            prune: sql(format!(
                "delete from {inbox} where state = 2 \
                 and processed_at < utc_timestamp(6) - interval ? * 1000 microsecond \
                 order by processed_at limit ?"
            )),
            prunable: sql(format!(
                "select count(*) from {inbox} where state = 2 \
                 and processed_at < utc_timestamp(6) - interval ? * 1000 microsecond"
            )),
            clear_payloads: sql(format!(
                "update {inbox} set payload = null where state = 3 and payload is not null \
                 and parked_at < utc_timestamp(6) - interval ? * 1000 microsecond \
                 order by id limit ?"
            )),
            unfinished: sql(format!(
                "select cast(state as signed), count(*), cast(timestampdiff( \
                 microsecond, min(received_at), utc_timestamp(6)) div 1000 as signed) \
                 from {inbox} where state in (0, 1, 3) group by state order by state"
            )),
        }
    }

    async fn prune(
        conn: &mut MySqlConnection,
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
        conn: &mut MySqlConnection,
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
        conn: &mut MySqlConnection,
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
        conn: &mut MySqlConnection,
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
