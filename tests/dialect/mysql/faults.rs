//! What cases about waiting, cancelling and breaking say on MariaDB and MySQL.

use std::time::Duration;

use inbox_sqlx::Error;
use sqlx::{AssertSqlSafe, MySql, Pool};

use crate::support::{database::TestDatabase, proxy::Proxy};

/// A session's own patience with locks, which the inbox must not change.
pub(crate) const SET_LOCK_TIMEOUT: &str = "set innodb_lock_wait_timeout = 7";
pub(crate) const LOCK_TIMEOUT: &str = "select cast(@@innodb_lock_wait_timeout as char)";
pub(crate) const ITS_LOCK_TIMEOUT: &str = "7";

/// Runs for about a second.
pub(crate) const LONG_QUERY: &str = "select sleep(1)";

/// What a claim says that waited in vain.
pub(crate) fn gave_up_waiting(error: &Error) -> bool {
    matches!(error, Error::InProgress { .. }) && error.retry_after().is_some()
}

/// Ends every session of the ordinary user.
pub(crate) async fn kill_sessions(observer: &Pool<MySql>) {
    kill(
        observer,
        "select cast(id as signed) from information_schema.processlist where user = database()",
    )
    .await;
}

/// Ends the sessions of the ordinary user that wait for a lock.
pub(crate) async fn kill_waiting_sessions(observer: &Pool<MySql>) {
    kill(
        observer,
        "select cast(p.id as signed) from information_schema.innodb_trx t \
         join information_schema.processlist p on p.id = t.trx_mysql_thread_id \
         where p.user = database() and t.trx_state = 'LOCK WAIT'",
    )
    .await;
}

async fn kill(observer: &Pool<MySql>, sessions: &'static str) {
    let sessions: Vec<i64> = sqlx::query_scalar(sessions)
        .fetch_all(observer)
        .await
        .unwrap();
    for session in sessions {
        sqlx::raw_sql(AssertSqlSafe(format!("kill {session}")))
            .execute(observer)
            .await
            .unwrap();
    }
}

/// The claim as people write it by hand: a duplicate is an error that they read the number of.
pub(crate) const CLAIM_BY_HAND: &str = "insert into by_hand (message_id, consumer) values (?, ?)";

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

pub(crate) const TABLE_BY_HAND: &str = "create table by_hand (message_id varbinary(255) not null, \
                                        consumer varbinary(200) not null, primary key (message_id, consumer))";

/// 1 in a transaction that was begun before, 0 otherwise.
pub(crate) const IN_TRANSACTION: &str = "select cast(@@in_transaction as signed)";

/// How many more flights than by hand a delivery may cost that nobody waits for: here the driver waits for the answer
/// to the ROLLBACK that ends our transaction in its own books before it sends the pool's ping.
pub(crate) const FLIGHTS_BEHIND: usize = 1;

/// How many statements a duplicate of an effect costs: the insert, the take-over and the look at what stands in its way.
pub(crate) const STATEMENTS_OF_A_LOOK: usize = 3;
