//! PostgreSQL: check-then-insert and `#[idempotent]` around the same work.

use inbox_sqlx::{Inbox, Outcome, idempotent};
use sqlx::{PgConnection, PgPool};

use super::{BALANCES, Bank, CREDITS, DOUBLED, Handler, Tally};
use crate::message::Credit;

/// `credit_demo_seen` belongs to check-then-insert. Its index is fast, but not unique.
const CREATE: &str = "
    create table credit_demo_accounts (id bigint primary key, balance bigint not null default 0);
    create table credit_demo_ledger (message_id text not null, account bigint not null,
                                     cents bigint not null, instance bigint not null);
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
async fn apply(conn: &mut PgConnection, msg: &Credit, instance: i64) -> sqlx::Result<()> {
    sqlx::query(
        "insert into credit_demo_ledger (message_id, account, cents, instance) values ($1, $2, $3, $4)",
    )
    .bind(&msg.message_id)
    .bind(msg.account)
    .bind(msg.cents)
    .bind(instance)
    .execute(&mut *conn)
    .await?;
    sqlx::query("update credit_demo_accounts set balance = balance + $1 where id = $2")
        .bind(msg.cents)
        .bind(msg.account)
        .execute(&mut *conn)
        .await?;
    Ok(())
}

/// What everybody writes first: look, and if it was not there, insert.
///
/// The transaction does not help: at READ COMMITTED, the default, nobody sees what the other has not
/// committed yet.
async fn check_then_insert(
    pool: &PgPool,
    msg: &Credit,
    instance: i64,
) -> sqlx::Result<Outcome<()>> {
    let mut tx = pool.begin().await?;
    let seen: i64 =
        sqlx::query_scalar("select count(*) from credit_demo_seen where message_id = $1")
            .bind(&msg.message_id)
            .fetch_one(&mut *tx)
            .await?;
    if seen > 0 {
        return Ok(Outcome::Duplicate);
    }
    // Here the other instance gets the same answer.
    sqlx::query("insert into credit_demo_seen (message_id) values ($1)")
        .bind(&msg.message_id)
        .execute(&mut *tx)
        .await?;
    apply(&mut tx, msg, instance).await?;
    tx.commit().await?;
    Ok(Outcome::Processed(()))
}

/// The same work, once per message.
#[idempotent(consumer = "credit", key = msg.message_id)]
async fn credit(tx: &mut PgConnection, msg: &Credit, instance: i64) -> sqlx::Result<()> {
    apply(tx, msg, instance).await
}

pub(crate) struct Postgres {
    inbox: Inbox<sqlx::Postgres>,
}

impl Bank for Postgres {
    const NAME: &'static str = "PostgreSQL";

    async fn open(url: &str) -> anyhow::Result<Self> {
        let inbox = Inbox::builder()
            .table("credit_demo_inbox")
            .connect(url)
            .await?;
        Ok(Self { inbox })
    }

    async fn create(&self, accounts: &[i64]) -> anyhow::Result<()> {
        self.drop_tables().await?;
        sqlx::raw_sql(CREATE).execute(self.inbox.pool()).await?;
        for id in accounts {
            sqlx::query("insert into credit_demo_accounts (id) values ($1)")
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
