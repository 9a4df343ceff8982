//! What a run works with: two consumers, an inbox, somebody who looks on, and the list of its claims.

use std::fmt::Display;

use inbox_sqlx::Inbox;
use sqlx::Connection as _;

use crate::{
    lab::{Lab, describe},
    page,
};

/// The tables of one run and the connections to them.
pub(crate) struct Bench<DB: Lab> {
    url: String,
    inbox: Inbox<DB>,
    onlooker: Consumer<DB>,
    holds: bool,
}

/// Somebody with a connection of their own, whose every statement is shown.
pub(crate) struct Consumer<DB: Lab> {
    name: &'static str,
    conn: DB::Connection,
}

impl<DB: Lab> Bench<DB> {
    /// New tables: account 1 is empty, nothing was handled yet.
    pub(crate) async fn set_up(url: &str) -> anyhow::Result<Self> {
        let inbox = inbox(url).await?;
        let mut onlooker = Consumer::connect("C", url).await?;
        for sql in [DB::DROP, DB::CREATE] {
            DB::execute(&mut onlooker.conn, sql).await?;
        }
        inbox.install().await?;
        inbox.verify().await?;
        Ok(Self {
            url: url.to_owned(),
            inbox,
            onlooker,
            holds: true,
        })
    }

    /// Drops the tables. Whether all claims held.
    pub(crate) async fn clear_away(mut self) -> anyhow::Result<bool> {
        DB::execute(&mut self.onlooker.conn, DB::DROP).await?;
        Ok(self.holds)
    }

    /// The first consumer's inbox.
    pub(crate) fn inbox(&self) -> Inbox<DB> {
        self.inbox.clone()
    }

    /// An inbox for a second consumer, with connections of its own.
    pub(crate) async fn second_inbox(&self) -> Result<Inbox<DB>, inbox_sqlx::Error> {
        inbox(&self.url).await
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// A consumer without an inbox.
    pub(crate) async fn consumer(&self, name: &'static str) -> sqlx::Result<Consumer<DB>> {
        Consumer::connect(name, &self.url).await
    }

    /// Who looks on, for what is neither A's work nor B's.
    pub(crate) fn onlooker(&mut self) -> &mut Consumer<DB> {
        &mut self.onlooker
    }

    /// A number, as everybody sees it.
    pub(crate) async fn look(&mut self, sql: &'static str) -> sqlx::Result<i64> {
        self.onlooker.count(sql).await
    }

    /// A text, as everybody sees it.
    pub(crate) async fn read(&mut self, sql: &'static str) -> sqlx::Result<Option<String>> {
        DB::text(&mut self.onlooker.conn, sql).await
    }

    /// What this run claims.
    pub(crate) fn claim(&mut self, holds: bool, text: &str) {
        page::claim(holds, text);
        self.holds &= holds;
    }
}

async fn inbox<DB: Lab>(url: &str) -> Result<Inbox<DB>, inbox_sqlx::Error> {
    Inbox::builder()
        .table("experiments_inbox")
        .connect(url)
        .await
}

impl<DB: Lab> Consumer<DB> {
    async fn connect(name: &'static str, url: &str) -> sqlx::Result<Self> {
        let conn = DB::Connection::connect(url).await?;
        Ok(Self { name, conn })
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Runs a statement and shows what came of it.
    pub(crate) async fn run(&mut self, sql: &'static str) -> sqlx::Result<u64> {
        run::<DB>(self.name, &mut self.conn, sql).await
    }

    /// Asks for a number and shows it.
    pub(crate) async fn count(&mut self, sql: &'static str) -> sqlx::Result<i64> {
        let answer = DB::count(&mut self.conn, sql).await;
        show::<DB>(self.name, sql, &answer);
        answer
    }
}

/// Runs a statement on somebody's connection and shows what came of it.
pub(crate) async fn run<DB: Lab>(
    who: &str,
    conn: &mut DB::Connection,
    sql: &'static str,
) -> sqlx::Result<u64> {
    let answer = DB::execute(conn, sql).await;
    let is_change = ["insert", "update", "delete"]
        .iter()
        .any(|word| sql.starts_with(word));
    match &answer {
        Ok(1) if is_change => page::step(who, sql, "1 row"),
        Ok(rows) if is_change => page::step(who, sql, &format!("{rows} rows")),
        Ok(_) => page::step(who, sql, "ok"),
        Err(error) => page::step(who, sql, &describe::<DB>(error)),
    }
    answer
}

fn show<DB: Lab>(who: &str, sql: &str, answer: &sqlx::Result<impl Display>) {
    match answer {
        Ok(value) => page::step(who, sql, &value.to_string()),
        Err(error) => page::step(who, sql, &describe::<DB>(error)),
    }
}
