//! SQLite: check-then-insert and `#[idempotent]` around the same work.

use inbox_sqlx::{Inbox, Outcome, idempotent};
use sqlx::{
    SqliteConnection, SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

use super::{BALANCES, Bank, CREDITS, DOUBLED, Handler, Tally};
use crate::message::Credit;

/// `credit_demo_seen` belongs to check-then-insert. Its index is fast, but not unique.
const CREATE: &str = "
    create table credit_demo_accounts (id integer primary key, balance integer not null default 0);
    create table credit_demo_ledger (message_id text not null, account integer not null,
                                     cents integer not null, instance integer not null);
    create table credit_demo_seen (message_id text not null);
    create index credit_demo_seen_message_id on credit_demo_seen (message_id);
";

const DROP: &str = "
    drop table if exists credit_demo_accounts;
    drop table if exists credit_demo_ledger;
    drop table if exists credit_demo_seen;
    drop table if exists credit_demo_inbox;
    drop table if exists credit_demo_inbox_schema_version;
";

/// The work of one message: what must happen exactly once.
async fn apply(conn: &mut SqliteConnection, msg: &Credit, instance: i64) -> sqlx::Result<()> {
    sqlx::query(
        "insert into credit_demo_ledger (message_id, account, cents, instance) values (?, ?, ?, ?)",
    )
    .bind(&msg.message_id)
    .bind(msg.account)
    .bind(msg.cents)
    .bind(instance)
    .execute(&mut *conn)
    .await?;
    sqlx::query("update credit_demo_accounts set balance = balance + ? where id = ?")
        .bind(msg.cents)
        .bind(msg.account)
        .execute(&mut *conn)
        .await?;
    Ok(())
}

/// What everybody writes first: look, and if it was not there, insert.
///
/// The look stands before the transaction, as it does in most such code. Inside of one, SQLite would break
/// off a transaction that has read and then wants to write, whenever another one wrote in between.
async fn check_then_insert(
    pool: &SqlitePool,
    msg: &Credit,
    instance: i64,
) -> sqlx::Result<Outcome<()>> {
    let seen: i64 =
        sqlx::query_scalar("select count(*) from credit_demo_seen where message_id = ?")
            .bind(&msg.message_id)
            .fetch_one(pool)
            .await?;
    if seen > 0 {
        return Ok(Outcome::Duplicate);
    }
    // Here the other instance gets the same answer.
    let mut tx = pool.begin_with("begin immediate").await?;
    sqlx::query("insert into credit_demo_seen (message_id) values (?)")
        .bind(&msg.message_id)
        .execute(&mut *tx)
        .await?;
    apply(&mut tx, msg, instance).await?;
    tx.commit().await?;
    Ok(Outcome::Processed(()))
}

/// The same work, once per message.
#[idempotent(consumer = "credit", key = msg.message_id)]
async fn credit(tx: &mut SqliteConnection, msg: &Credit, instance: i64) -> sqlx::Result<()> {
    apply(tx, msg, instance).await
}

pub(crate) struct Sqlite {
    inbox: Inbox<sqlx::Sqlite>,
}

impl Bank for Sqlite {
    const NAME: &'static str = "SQLite";

    async fn open(url: &str) -> anyhow::Result<Self> {
        // As `Inbox::connect` does it, except that a commit does not wait for the disk. That protects from
        // a power cut, which these tables need not survive, and would make this a demonstration of disks.
        let options = url
            .parse::<SqliteConnectOptions>()?
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal)
            .busy_timeout(std::time::Duration::from_secs(30));
        let pool = SqlitePoolOptions::new()
            .max_connections(1)
            .connect_with(options)
            .await?;
        let inbox = Inbox::builder().table("credit_demo_inbox").build(pool)?;
        Ok(Self { inbox })
    }

    async fn create(&self, accounts: &[i64]) -> anyhow::Result<()> {
        self.drop_tables().await?;
        sqlx::raw_sql(CREATE).execute(self.inbox.pool()).await?;
        for id in accounts {
            sqlx::query("insert into credit_demo_accounts (id) values (?)")
                .bind(id)
                .execute(self.inbox.pool())
                .await?;
        }
        self.inbox.install().await?;
        self.inbox.verify().await?;
        Ok(())
    }

    async fn handle(
        &self,
        handler: Handler,
        message: &Credit,
        instance: i64,
    ) -> sqlx::Result<Outcome<()>> {
        match handler {
            Handler::CheckThenInsert => {
                check_then_insert(self.inbox.pool(), message, instance).await
            }
            Handler::Idempotent => credit(&self.inbox, message, instance).await,
        }
    }

    async fn tally(&self, handler: Handler) -> anyhow::Result<Tally> {
        let pool = self.inbox.pool();
        let balances: Vec<(i64, i64)> = sqlx::query_as(BALANCES).fetch_all(pool).await?;
        let credits: Vec<(i64, i64)> = sqlx::query_as(CREDITS).fetch_all(pool).await?;
        Ok(Tally {
            balances: balances.into_iter().collect(),
            credits: credits.into_iter().collect(),
            doubled: sqlx::query_scalar(DOUBLED).fetch_one(pool).await?,
            markers: sqlx::query_scalar(handler.markers())
                .fetch_one(pool)
                .await?,
        })
    }

    async fn drop_tables(&self) -> anyhow::Result<()> {
        sqlx::raw_sql(DROP).execute(self.inbox.pool()).await?;
        Ok(())
    }
}
