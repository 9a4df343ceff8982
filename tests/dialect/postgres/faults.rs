//! What cases about waiting, cancelling and breaking say on PostgreSQL.

use std::time::Duration;

use inbox_sqlx::Error;
use sqlx::{Pool, Postgres};

use crate::support::{database::TestDatabase, proxy::Proxy};

/// A session's own patience with locks, which the inbox must not change.
pub(crate) const SET_LOCK_TIMEOUT: &str = "set lock_timeout = '7s'";
pub(crate) const LOCK_TIMEOUT: &str = "select current_setting('lock_timeout')";
pub(crate) const ITS_LOCK_TIMEOUT: &str = "7s";

/// Runs for about a second.
pub(crate) const LONG_QUERY: &str = "select pg_sleep(1)";

/// What a claim says that waited in vain.
pub(crate) fn gave_up_waiting(error: &Error) -> bool {
    matches!(error, Error::InProgress { .. }) && error.retry_after().is_some()
}

/// Ends every session of the ordinary user.
pub(crate) async fn kill_sessions(observer: &Pool<Postgres>) {
    sqlx::raw_sql(
        "select pg_terminate_backend(pid) from pg_stat_activity where usename = current_database()",
    )
    .execute(observer)
    .await
    .unwrap();
}

/// Ends the sessions of the ordinary user that wait for a lock.
pub(crate) async fn kill_waiting_sessions(observer: &Pool<Postgres>) {
    sqlx::raw_sql(
        "select pg_terminate_backend(pid) from pg_stat_activity \
         where usename = current_database() and wait_event_type = 'Lock'",
    )
    .execute(observer)
    .await
    .unwrap();
}

/// The claim as people write it by hand.
pub(crate) const CLAIM_BY_HAND: &str =
    "insert into by_hand (message_id, consumer) values ($1, $2) on conflict do nothing";

/// A way to the database on which everything takes a moment.
#[derive(Debug)]
pub(crate) struct SlowLink(Proxy);

impl SlowLink {
    pub(crate) async fn to(database: &TestDatabase) -> Self {
        let proxy = Proxy::start(database.url()).await;
        proxy.set_delay(Duration::from_millis(2));
        Self(proxy)
    }

    pub(crate) fn url(&self) -> &str {
        self.0.url()
    }
}

pub(crate) const TABLE_BY_HAND: &str = "create table by_hand (message_id text not null, consumer text not null, \
                                        primary key (message_id, consumer)); \
                                        grant all on by_hand to public";

/// 1 in a transaction that was begun before, 0 otherwise.
pub(crate) const IN_TRANSACTION: &str =
    "select (transaction_timestamp() <> statement_timestamp())::integer::bigint";

/// How many more flights than by hand a delivery may cost that nobody waits for: here the driver sends the ROLLBACK
/// that ends our transaction in its own books together with the pool's ping.
pub(crate) const FLIGHTS_BEHIND: usize = 0;

/// How many statements a duplicate of an effect costs: the claim and the look at what stands in its way.
pub(crate) const STATEMENTS_OF_A_LOOK: usize = 2;
