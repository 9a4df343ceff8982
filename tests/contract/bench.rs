//! The bench every case works on: an inbox, business tables, and an observer on connections of its own.
//!
//! The effect of a message is a row in `ledger` (deliberately without a unique key on the message, so that a
//! second effect would show) and a change of a balance. The oracle looks from the observer's side only.

use std::time::Duration;

use inbox_sqlx::{Begin, Error, Inbox, InboxBuilder, Outcome};
use sqlx::{AssertSqlSafe, Pool, SqlSafeStr as _, SqlStr};

use crate::{Conn, Db, dialect, support::database::TestDatabase};

/// The consumer that cases use unless they are about consumers.
pub(crate) const CONSUMER: &str = "credit";

/// See the module. Fields drop in order: pools before the database they are connected to.
pub(crate) struct Bench {
    pub(crate) inbox: Inbox<Db>,
    pub(crate) observer: Pool<Db>,
    pub(crate) database: TestDatabase,
}

/// What a case wants to be true in the end, for one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// Marker processed, effect once.
    Once,
    /// No marker, no effect.
    Nothing,
}

impl Bench {
    /// A fresh database with inbox and business tables; the inbox by `connect`, as applications do.
    pub(crate) async fn new() -> Self {
        Self::built(Inbox::builder()).await
    }

    /// The same with other settings.
    pub(crate) async fn built(builder: InboxBuilder<Db>) -> Self {
        let database = dialect::fresh_database().await;
        let inbox = builder.connect(database.url()).await.unwrap();
        Self::around(inbox, database).await
    }

    /// The same on a pool of the application's own, where nobody waits for long.
    pub(crate) async fn impatient(connections: u32) -> Self {
        let database = dialect::fresh_database().await;
        let pool = dialect::impatient_pool(database.url(), connections).await;
        let builder = Inbox::builder().claim_timeout(Duration::from_millis(300));
        Self::around(builder.build(pool).unwrap(), database).await
    }

    /// The same on a pool of the case's own making.
    pub(crate) async fn around(inbox: Inbox<Db>, database: TestDatabase) -> Self {
        let observer = dialect::pool(database.admin_url(), 2).await;
        inbox.install().await.unwrap();
        let bench = Self {
            inbox,
            observer,
            database,
        };
        for statement in dialect::BUSINESS_TABLES {
            bench.observe(statement).await;
        }
        bench
    }

    /// Runs a statement on the observer's connections.
    pub(crate) async fn observe(&self, statement: &str) -> u64 {
        sqlx::raw_sql(AssertSqlSafe(statement.to_owned()))
            .execute(&self.observer)
            .await
            .unwrap()
            .rows_affected()
    }

    /// One number, as the observer sees it. Values are bound to `?`.
    pub(crate) async fn number(&self, query: &'static str, values: &[&str]) -> i64 {
        let mut query = sqlx::query_scalar::<Db, i64>(sql(query));
        for value in values {
            query = query.bind((*value).to_owned());
        }
        query.fetch_one(&self.observer).await.unwrap()
    }

    /// How many processed markers a message has: 0 or 1, unless the unique index is broken.
    pub(crate) async fn markers(&self, consumer: &str, key: &str) -> i64 {
        self.number(
            "select count(*) from inbox where message_id = ? and consumer = ? \
             and state = 2 and processed_at is not null",
            &[key, consumer],
        )
        .await
    }

    /// How often the effect of a message is there.
    pub(crate) async fn effects(&self, key: &str) -> i64 {
        self.number("select count(*) from ledger where message = ?", &[key])
            .await
    }

    /// The oracle: what is kept of this message, whether marker and effect agree, whether the pool is sane.
    pub(crate) async fn expect(&self, key: &str, kept: Kept) {
        let wanted = match kept {
            Kept::Once => 1,
            Kept::Nothing => 0,
        };
        let markers = self.markers(CONSUMER, key).await;
        let effects = self.effects(key).await;
        assert_eq!(
            (markers, effects),
            (wanted, wanted),
            "(markers, effects) of {key:?}, wanted {kept:?}"
        );
        self.expect_sane_pool().await;
    }

    /// Within a second no session is idle in transaction, every pooled connection can be had, and a plain
    /// write through each of them is visible to others.
    pub(crate) async fn expect_sane_pool(&self) {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(1);
        loop {
            let open = dialect::open_transactions(&self.observer).await;
            if open == 0 {
                break;
            }
            assert!(
                tokio::time::Instant::now() < deadline,
                "{open} sessions are still in a transaction"
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }

        let pool = self.inbox.pool();
        let size = pool.options().get_max_connections().min(8);
        let mut held = Vec::new();
        for _ in 0..size {
            held.push(
                tokio::time::timeout(Duration::from_secs(5), pool.acquire())
                    .await
                    .expect("a connection in time")
                    .unwrap(),
            );
        }
        for connection in &mut held {
            let before = self.number("select count(*) from plain", &[]).await;
            sqlx::query::<Db>(SqlStr::from_static("insert into plain (note) values ('x')"))
                .execute(&mut **connection)
                .await
                .unwrap();
            let after = self.number("select count(*) from plain", &[]).await;
            assert_eq!(after, before + 1, "a plain write is visible to others");
        }
    }

    /// Delivers a message to a hand-written handler whose body applies the effect and then does `rest`.
    pub(crate) async fn deliver(
        &self,
        key: &str,
        rest: impl AsyncFnOnce(&mut Conn) -> Result<(), HandlerError>,
    ) -> Result<Outcome<()>, HandlerError> {
        deliver(&self.inbox, CONSUMER, key, rest).await
    }

    /// Delivers a message whose body applies the effect and nothing else.
    pub(crate) async fn credit(&self, key: &str) -> Result<Outcome<()>, HandlerError> {
        self.deliver(key, async |_| Ok(())).await
    }
}

/// See [`Bench::deliver`].
pub(crate) async fn deliver(
    inbox: &Inbox<Db>,
    consumer: &'static str,
    key: &str,
    rest: impl AsyncFnOnce(&mut Conn) -> Result<(), HandlerError>,
) -> Result<Outcome<()>, HandlerError> {
    match inbox.begin(consumer, key).await? {
        Begin::Duplicate => Ok(Outcome::Duplicate),
        Begin::Fresh(mut claimed) => {
            let connection = claimed.connection();
            let result = match apply(connection, key).await {
                Ok(()) => rest(connection).await,
                Err(error) => Err(error.into()),
            };
            claimed.settle(result).await
        }
    }
}

/// The effect of a message.
pub(crate) async fn apply(connection: &mut Conn, key: &str) -> sqlx::Result<()> {
    sqlx::query::<Db>(sql("insert into ledger (message, amount) values (?, 10)"))
        .bind(key.to_owned())
        .execute(&mut *connection)
        .await?;
    run(
        connection,
        "update accounts set balance = balance + 10 where id = 1",
    )
    .await
}

/// A statement on the body's connection, as a body would run it.
pub(crate) async fn run(connection: &mut Conn, statement: &'static str) -> sqlx::Result<()> {
    sqlx::query::<Db>(SqlStr::from_static(statement))
        .execute(connection)
        .await
        .map(drop)
}

/// A text with `?` for values, in the database's own placeholders.
pub(crate) fn sql(text: &'static str) -> SqlStr {
    dialect::placeholders(text)
}

/// A statement made at run time.
pub(crate) fn text(text: String) -> SqlStr {
    AssertSqlSafe(text).into_sql_str()
}

/// What a typical handler returns.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HandlerError {
    #[error("the business said no")]
    Business,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    #[error("inbox")]
    Inbox(#[from] Error),
}

impl HandlerError {
    /// The inbox's own error, where a case expects one.
    pub(crate) fn inbox(&self) -> &Error {
        Error::find(self).unwrap_or_else(|| panic!("an error of the inbox, not {self:?}"))
    }
}
