//! SQLite: the two-phase mode.

use std::time::Duration;

use sqlx::{
    Row as _,
    sqlite::{SqliteConnection, SqliteRow},
};

use super::super::{
    leases::{Dialect, Granted, LeaseClaim, LeaseStatements, Swept, Take, leases, millis},
    sql::Names,
};
use super::{NOW, SqliteDriver};

leases!(SqliteDriver, DIALECT);

const DIALECT: Dialect = Dialect {
    value: |_| "?".into(),
    now: NOW,
    shifted: |sign, ms| format!("({NOW} {sign} {ms})"),
    integer: ToString::to_string,
    // Times are milliseconds since 1970 already.
    epoch: ToString::to_string,
    text: ToString::to_string,
    alias: " as i",
    greatest: "max",
    // The one writer of a file needs no locks on rows.
    sweep_lock: Some(""),
    inbox: |settings| Names::new(&settings.table, '"').inbox(),
};

impl Take for SqliteDriver {
    const TAKES_SEPARATELY: bool = false;

    async fn claim_lease(
        conn: &mut SqliteConnection,
        sql: &LeaseStatements,
        claim: &LeaseClaim<'_>,
    ) -> sqlx::Result<Option<Granted>> {
        let (on_unknown, max_attempts, horizon_ms) = claim.policy.columns();
        let row = sqlx::query(sql.claim.clone())
            .bind(claim.key.as_str())
            .bind(claim.consumer.as_str())
            .bind(claim.token.0.as_slice())
            .bind(millis(claim.lease))
            .bind(on_unknown)
            .bind(max_attempts)
            .bind(horizon_ms)
            .bind(claim.payload)
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

    async fn take_lease(
        _conn: &mut SqliteConnection,
        _sql: &LeaseStatements,
        _claim: &LeaseClaim<'_>,
    ) -> sqlx::Result<Option<Granted>> {
        Ok(None)
    }

    async fn sweep(
        conn: &mut SqliteConnection,
        sql: &LeaseStatements,
        grace: Duration,
        limit: i64,
    ) -> sqlx::Result<Vec<Swept>> {
        let rows = sqlx::query(sql.sweep.clone())
            .bind(millis(grace))
            .bind(limit)
            .persistent(sql.persistent)
            .fetch_all(conn)
            .await?;
        rows.iter().map(swept).collect()
    }
}

fn swept(row: &SqliteRow) -> sqlx::Result<Swept> {
    Ok(Swept {
        id: row.try_get(0)?,
        consumer: row.try_get(1)?,
        key: row.try_get(2)?,
        state: row.try_get(3)?,
        attempts: row.try_get(4)?,
    })
}
