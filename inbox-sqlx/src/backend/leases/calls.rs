//! The calls of the two-phase mode, the same on each database's own types.

use inbox_core::two_phase::{DbTime, Policy, Row, State, Token};

/// Raw values of [`LeaseStatements::inspect`], as a row. A state that a newer version wrote is nobody's to
/// decide about, and is read as claimed for ever.
#[derive(Debug)]
pub(crate) struct RawRow {
    pub(crate) state: i64,
    pub(crate) fence: i64,
    pub(crate) token: Option<Vec<u8>>,
    pub(crate) attempts: i64,
    pub(crate) lost_leases: i64,
    pub(crate) lease_until: Option<i64>,
    pub(crate) next_at: Option<i64>,
    pub(crate) first_call_at: Option<i64>,
    pub(crate) processed_at: Option<i64>,
    pub(crate) parked_at: Option<i64>,
    pub(crate) policy: Option<Policy>,
}

impl RawRow {
    pub(crate) fn into_row(self) -> Row {
        let count = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
        let time = |millis: Option<i64>| millis.map(DbTime::from_millis);
        let known = State::from_column(self.state);
        Row {
            state: known.unwrap_or(State::Claimed),
            fence: self.fence,
            token: self
                .token
                .and_then(|token| token.try_into().ok())
                .map(Token),
            attempts: count(self.attempts),
            lost_leases: count(self.lost_leases),
            lease_until: match known {
                Some(_) => time(self.lease_until),
                None => time(Some(i64::MAX)),
            },
            next_at: time(self.next_at),
            first_call_at: time(self.first_call_at),
            processed_at: time(self.processed_at),
            parked_at: time(self.parked_at),
            policy: self.policy,
        }
    }
}

/// Implements [`Leases`] for one database: the same calls on its own types.
macro_rules! leases {
    ($driver:ty, $dialect:expr) => {
        impl $crate::backend::leases::Leases for $driver {
            fn lease_statements(
                settings: &$crate::backend::sql::Settings,
            ) -> $crate::backend::leases::LeaseStatements {
                $crate::backend::leases::statements(settings, &$dialect)
            }

            async fn inspect(
                conn: &mut $crate::backend::Conn<Self>,
                sql: &$crate::backend::leases::LeaseStatements,
                consumer: &inbox_core::Consumer,
                key: &inbox_core::Key,
            ) -> sqlx::Result<Option<$crate::backend::leases::Inspected>> {
                let row = sqlx::query(sql.inspect.clone())
                    .bind(key.as_str())
                    .bind(consumer.as_str())
                    .persistent(sql.persistent)
                    .fetch_optional(conn)
                    .await?;
                row.map(|row| {
                    let raw = $crate::backend::leases::RawRow {
                        state: row.try_get(1)?,
                        fence: row.try_get(2)?,
                        token: row.try_get(3)?,
                        attempts: row.try_get(4)?,
                        lost_leases: row.try_get(5)?,
                        lease_until: row.try_get(6)?,
                        next_at: row.try_get(7)?,
                        first_call_at: row.try_get(8)?,
                        processed_at: row.try_get(9)?,
                        parked_at: row.try_get(10)?,
                        policy: inbox_core::two_phase::Policy::from_columns(
                            row.try_get(11)?,
                            row.try_get(12)?,
                            row.try_get(13)?,
                        ),
                    };
                    Ok($crate::backend::leases::Inspected {
                        id: row.try_get(0)?,
                        row: raw.into_row(),
                        now: inbox_core::two_phase::DbTime::from_millis(row.try_get(14)?),
                    })
                })
                .transpose()
            }

            async fn park_unresolved(
                conn: &mut $crate::backend::Conn<Self>,
                sql: &$crate::backend::leases::LeaseStatements,
                id: i64,
                fence: i64,
                policy: inbox_core::two_phase::Policy,
                reason: &str,
            ) -> sqlx::Result<bool> {
                let (on_unknown, max_attempts, horizon_ms) = policy.columns();
                let done = sqlx::query(sql.park_unresolved.clone())
                    .bind(reason)
                    .bind(id)
                    .bind(fence)
                    .bind(on_unknown)
                    .bind(max_attempts)
                    .bind(horizon_ms)
                    .persistent(sql.persistent)
                    .execute(conn)
                    .await?;
                Ok(done.rows_affected() > 0)
            }

            async fn renew(
                conn: &mut $crate::backend::Conn<Self>,
                sql: &$crate::backend::leases::LeaseStatements,
                id: i64,
                held: inbox_core::two_phase::Held,
                lease: std::time::Duration,
            ) -> sqlx::Result<bool> {
                let done = sqlx::query(sql.renew.clone())
                    .bind($crate::backend::leases::millis(lease))
                    .bind(id)
                    .bind(held.fence)
                    .bind(held.token.0.as_slice())
                    .persistent(sql.persistent)
                    .execute(conn)
                    .await?;
                Ok(done.rows_affected() > 0)
            }

            async fn record(
                conn: &mut $crate::backend::Conn<Self>,
                sql: &$crate::backend::leases::LeaseStatements,
                id: i64,
                held: inbox_core::two_phase::Held,
            ) -> sqlx::Result<bool> {
                let done = sqlx::query(sql.record.clone())
                    .bind(id)
                    .bind(held.fence)
                    .bind(held.token.0.as_slice())
                    .persistent(sql.persistent)
                    .execute(conn)
                    .await?;
                Ok(done.rows_affected() > 0)
            }

            async fn fail(
                conn: &mut $crate::backend::Conn<Self>,
                sql: &$crate::backend::leases::LeaseStatements,
                id: i64,
                held: inbox_core::two_phase::Held,
                effect: inbox_core::two_phase::Effect,
                delay: std::time::Duration,
                error: &str,
            ) -> sqlx::Result<bool> {
                let text = match effect {
                    inbox_core::two_phase::Effect::NotHappened => &sql.fail_not_happened,
                    inbox_core::two_phase::Effect::Unknown => &sql.fail_unknown,
                    inbox_core::two_phase::Effect::Rejected => &sql.fail_rejected,
                };
                let done = sqlx::query(text.clone())
                    .bind(error)
                    .bind($crate::backend::leases::millis(delay))
                    .bind(id)
                    .bind(held.fence)
                    .bind(held.token.0.as_slice())
                    .persistent(sql.persistent)
                    .execute(conn)
                    .await?;
                Ok(done.rows_affected() > 0)
            }

            async fn release(
                conn: &mut $crate::backend::Conn<Self>,
                sql: &$crate::backend::leases::LeaseStatements,
                id: i64,
            ) -> sqlx::Result<bool> {
                let done = sqlx::query(sql.release.clone())
                    .bind(id)
                    .persistent(sql.persistent)
                    .execute(conn)
                    .await?;
                Ok(done.rows_affected() > 0)
            }

            async fn close(
                conn: &mut $crate::backend::Conn<Self>,
                sql: &$crate::backend::leases::LeaseStatements,
                id: i64,
                reason: &str,
            ) -> sqlx::Result<bool> {
                let done = sqlx::query(sql.close.clone())
                    .bind(reason)
                    .bind(id)
                    .persistent(sql.persistent)
                    .execute(conn)
                    .await?;
                Ok(done.rows_affected() > 0)
            }

            async fn find(
                conn: &mut $crate::backend::Conn<Self>,
                sql: &$crate::backend::leases::LeaseStatements,
                id: i64,
            ) -> sqlx::Result<Option<$crate::backend::leases::Swept>> {
                let row = sqlx::query(sql.swept.clone())
                    .bind(id)
                    .persistent(sql.persistent)
                    .fetch_optional(conn)
                    .await?;
                row.map(|row| {
                    Ok($crate::backend::leases::Swept {
                        id: row.try_get(0)?,
                        consumer: row.try_get(1)?,
                        key: row.try_get(2)?,
                        state: row.try_get(3)?,
                        attempts: row.try_get(4)?,
                    })
                })
                .transpose()
            }

            async fn list(
                conn: &mut $crate::backend::Conn<Self>,
                text: sqlx::SqlStr,
                consumer: Option<&str>,
                after: i64,
                limit: i64,
            ) -> sqlx::Result<Vec<$crate::backend::leases::Listed>> {
                let mut query = sqlx::query(text);
                if let Some(consumer) = consumer {
                    query = query.bind(consumer);
                }
                let rows = query
                    .bind(after)
                    .bind(limit)
                    .persistent(false)
                    .fetch_all(conn)
                    .await?;
                rows.iter()
                    .map(|row| {
                        Ok($crate::backend::leases::Listed {
                            id: row.try_get(0)?,
                            consumer: row.try_get(1)?,
                            key: row.try_get(2)?,
                            state: row.try_get(3)?,
                            attempts: row.try_get(4)?,
                            lost_leases: row.try_get(5)?,
                            received_ms_ago: row.try_get(6)?,
                            last_error: row.try_get(7)?,
                            payload: row.try_get(8)?,
                        })
                    })
                    .collect()
            }
        }
    };
}
pub(crate) use leases;
