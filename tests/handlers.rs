//! Handlers that must compile, written as users write them, and what they do on a real SQLite.
//!
//! Their opposite is `ui.rs`. This is an ordinary program, so that clippy reads it as well.

mod handlers {
    pub(crate) mod attributes;
    pub(crate) mod early_returns;
    pub(crate) mod errors;
    pub(crate) mod generics;
    pub(crate) mod inboxes;
    pub(crate) mod keys;
    pub(crate) mod lint_walls;
    pub(crate) mod made_by_macros;
    pub(crate) mod methods;
    pub(crate) mod names;
    pub(crate) mod parameters;
    pub(crate) mod same_name;
    pub(crate) mod sending;
    pub(crate) mod shadowed_prelude;
    pub(crate) mod traits;
    pub(crate) mod two_phase;
}

use inbox_sqlx::{Inbox, Outcome};
use sqlx::{Sqlite, SqliteConnection};

/// What arrives.
#[derive(Debug, Clone, Default)]
pub(crate) struct Credit {
    pub(crate) message_id: String,
    pub(crate) amount: i64,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum CreditError {
    #[error("no")]
    Refused,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    #[error(transparent)]
    Inbox(#[from] inbox_sqlx::Error),
}

pub(crate) fn credit(message_id: &str) -> Credit {
    Credit {
        message_id: message_id.to_owned(),
        amount: 1,
    }
}

/// An inbox in a database of its own, with a table for the effects.
pub(crate) async fn bank() -> Inbox<Sqlite> {
    let inbox = Inbox::connect("sqlite::memory:")
        .await
        .expect("a database in memory");
    inbox.install().await.expect("an empty database");
    sqlx::query("create table ledger (amount integer not null)")
        .execute(inbox.pool())
        .await
        .expect("no such table yet");
    inbox
}

/// The effect of a handler; returns the sum of all.
pub(crate) async fn add(tx: &mut SqliteConnection, amount: i64) -> Result<i64, sqlx::Error> {
    sqlx::query("insert into ledger values (?)")
        .bind(amount)
        .execute(&mut *tx)
        .await?;
    sqlx::query_scalar("select sum(amount) from ledger")
        .fetch_one(&mut *tx)
        .await
}

/// The sum of all effects that were committed.
pub(crate) async fn total(inbox: &Inbox<Sqlite>) -> i64 {
    sqlx::query_scalar("select coalesce(sum(amount), 0) from ledger")
        .fetch_one(inbox.pool())
        .await
        .expect("the table of `bank`")
}

/// Delivers twice, which must be one effect of 1.
pub(crate) async fn deliver_twice<T, E>(
    inbox: &Inbox<Sqlite>,
    mut handle: impl AsyncFnMut() -> Result<Outcome<T>, E>,
) where
    E: std::fmt::Debug,
{
    let before = total(inbox).await;
    let first = handle().await.expect("a handler in order");
    assert!(!first.is_duplicate());
    assert_eq!(total(inbox).await, before + 1, "one effect");
    let second = handle().await.expect("a handler in order");
    assert!(second.is_duplicate());
    assert_eq!(total(inbox).await, before + 1, "no second effect");
}
