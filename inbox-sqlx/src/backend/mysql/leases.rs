//! MySQL and MariaDB: the two-phase mode.

use std::time::Duration;

use inbox_core::Verdict;
use sqlx::{Row as _, mysql::MySqlConnection};

use super::super::{
    leases::{
        Dialect, Granted, LeaseClaim, LeaseStatements, Leases as _, Swept, Take, leases, millis,
    },
    sql::Names,
    violation,
};
use super::MySqlDriver;

leases!(MySqlDriver, DIALECT);

const DIALECT: Dialect = Dialect {
    value: |_| "?".into(),
    now: "utc_timestamp(6)",
    shifted: |sign, ms| format!("(utc_timestamp(6) {sign} interval {ms} * 1000 microsecond)"),
    integer: |column| format!("cast({column} as signed)"),
    epoch: |time| {
        format!("cast(timestampdiff(microsecond, '1970-01-01', {time}) div 1000 as signed)")
    },
    text: |column| format!("cast({column} as char character set utf8mb4)"),
    // An upsert here carries no condition and fires on any unique key, so a claim is two statements.
    alias: "",
    greatest: "greatest",
    sweep_lock: None,
    inbox: |settings| Names::new(&settings.table, '`').inbox(),
};

impl Take for MySqlDriver {
    const TAKES_SEPARATELY: bool = true;

    async fn claim_lease(
        conn: &mut MySqlConnection,
        sql: &LeaseStatements,
        claim: &LeaseClaim<'_>,
    ) -> sqlx::Result<Option<Granted>> {
        let (on_unknown, max_attempts, horizon_ms) = claim.policy.columns();
        let inserted = sqlx::query(sql.claim.clone())
            .bind(claim.key.as_str())
            .bind(claim.consumer.as_str())
            .bind(claim.token.0.as_slice())
            .bind(millis(claim.lease))
            .bind(on_unknown)
            .bind(max_attempts)
            .bind(horizon_ms)
            .bind(claim.payload)
            .persistent(sql.persistent)
            .execute(conn)
            .await;
        match inserted {
            Ok(done) => Ok(Some(Granted {
                row: i64::try_from(done.last_insert_id()).unwrap_or(i64::MAX),
                fence: 1,
                attempt: 1,
            })),
            // What stands there decides; see `take_lease` and the look that follows it.
            Err(error) => match violation(&error).map(|seen| seen.verdict(&sql.table)) {
                Some(Verdict::InboxIndex | Verdict::Unreadable) => Ok(None),
                _ => Err(error),
            },
        }
    }

    async fn take_lease(
        conn: &mut MySqlConnection,
        sql: &LeaseStatements,
        claim: &LeaseClaim<'_>,
    ) -> sqlx::Result<Option<Granted>> {
        let (on_unknown, max_attempts, horizon_ms) = claim.policy.columns();
        let done = sqlx::query(sql.take.clone())
            .bind(claim.token.0.as_slice())
            .bind(millis(claim.lease))
            .bind(max_attempts)
            .bind(on_unknown)
            .bind(horizon_ms)
            .bind(claim.payload)
            .bind(claim.key.as_str())
            .bind(claim.consumer.as_str())
            .bind(on_unknown)
            .bind(max_attempts)
            .bind(horizon_ms)
            .persistent(sql.persistent)
            .execute(&mut *conn)
            .await?;
        if done.rows_affected() == 0 {
            return Ok(None);
        }
        // The token is ours alone, so this finds what the update wrote, or nothing any more.
        let row = sqlx::query(sql.taken.clone())
            .bind(claim.key.as_str())
            .bind(claim.consumer.as_str())
            .bind(claim.token.0.as_slice())
            .persistent(sql.persistent)
            .fetch_optional(conn)
            .await?;
        row.map(|row| {
            Ok(Granted {
                row: row.try_get(0)?,
                fence: row.try_get(1)?,
                attempt: u32::try_from(row.try_get::<i64, _>(2)?).unwrap_or(u32::MAX),
            })
        })
        .transpose()
    }

    async fn sweep(
        conn: &mut MySqlConnection,
        sql: &LeaseStatements,
        grace: Duration,
        limit: i64,
    ) -> sqlx::Result<Vec<Swept>> {
        let picked: Vec<i64> = sqlx::query_scalar(sql.sweep_pick.clone())
            .bind(millis(grace))
            .bind(limit)
            .persistent(sql.persistent)
            .fetch_all(&mut *conn)
            .await?;
        let mut swept = Vec::with_capacity(picked.len());
        for id in picked {
            sqlx::query(sql.sweep.clone())
                .bind(id)
                .persistent(sql.persistent)
                .execute(&mut *conn)
                .await?;
            swept.extend(Self::find(&mut *conn, sql, id).await?);
        }
        Ok(swept)
    }
}
