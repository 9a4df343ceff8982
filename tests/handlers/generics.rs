//! Generic handlers: type, lifetime and const parameters, `where`, `impl Trait` arguments, any database.

use inbox_sqlx::{Backend, Inbox, MessageKey, Outcome, idempotent};
use sqlx::{Sqlite, SqliteConnection};

use crate::{Credit, CreditError, add, bank, credit, deliver_twice, total};

trait Repository {
    type Error: From<sqlx::Error>;

    fn amount(&self) -> Result<i64, Self::Error>;
}

struct Ones;

impl Repository for Ones {
    type Error = CreditError;

    fn amount(&self) -> Result<i64, CreditError> {
        Ok(1)
    }
}

struct Service<'s, R> {
    repository: &'s R,
    calls: u64,
}

impl<R: Repository + Sync> Service<'_, R>
where
    R::Error: From<inbox_sqlx::Error> + Send,
{
    #[idempotent(consumer = "everything", key = (msg.message_id, tags.len()))]
    async fn handle<'m, const N: usize>(
        &mut self,
        tx: &mut SqliteConnection,
        msg: &'m Credit,
        tags: [&'m str; N],
        note: impl Into<String> + Send,
    ) -> Result<(&'m str, u64), R::Error>
    where
        'm: 'm,
    {
        self.calls += 1;
        let amount = self.repository.amount()?;
        add(tx, amount).await?;
        let note: String = note.into();
        assert_eq!(note, "note");
        Ok((tags.first().unwrap_or(&msg.message_id.as_str()), self.calls))
    }
}

#[tokio::test]
async fn a_method_may_have_everything_at_once() {
    let inbox = &bank().await;
    let msg = credit("m1");
    let mut service = Service {
        repository: &Ones,
        calls: 0,
    };
    let first = service.handle(inbox, &msg, ["tag"], "note").await.unwrap();
    assert_eq!(first, Outcome::Processed(("tag", 1)));
    let second = service.handle(inbox, &msg, ["tag"], "note").await.unwrap();
    assert_eq!(second, Outcome::Duplicate);
    // Another length is another key.
    let third = service
        .handle(inbox, &msg, ["a", "b"], "note")
        .await
        .unwrap();
    assert_eq!(third, Outcome::Processed(("a", 2)));
    assert_eq!(total(inbox).await, 2);
}

#[idempotent(consumer = "any key", key = key)]
async fn any_key<K>(tx: &mut SqliteConnection, key: K) -> Result<K, CreditError>
where
    K: MessageKey + Send + Sync,
{
    add(tx, 1).await?;
    Ok(key)
}

#[idempotent(consumer = "dynamic key", key = key)]
async fn dynamic_key(
    tx: &mut SqliteConnection,
    key: &(dyn MessageKey + Sync),
) -> Result<(), CreditError> {
    add(tx, 1).await?;
    Ok(())
}

#[tokio::test]
async fn the_key_may_be_of_any_type() {
    let inbox = &bank().await;
    deliver_twice(inbox, async || any_key(inbox, 17_u64).await).await;
    deliver_twice(inbox, async || any_key(inbox, "seventeen").await).await;
    deliver_twice(inbox, async || dynamic_key(inbox, &("a", 1)).await).await;
}

/// A handler for every database.
#[idempotent(consumer = "any database", key = msg.message_id)]
async fn any_database<DB: Backend>(
    tx: &mut DB::Connection,
    msg: &Credit,
    work: impl AsyncFnOnce(&mut DB::Connection) -> Result<(), CreditError>,
) -> Result<i64, CreditError> {
    work(tx).await?;
    Ok(msg.amount)
}

/// The same through another generic function, which knows as little.
async fn forward<DB: Backend>(
    inbox: &Inbox<DB>,
    msg: &Credit,
) -> Result<Outcome<i64>, CreditError> {
    any_database::<DB>(inbox, msg, async |_| Ok(())).await
}

#[tokio::test]
async fn the_database_may_be_any() {
    let inbox = &bank().await;
    let msg = credit("m1");
    deliver_twice(inbox, async || {
        any_database::<Sqlite>(inbox, &msg, async |tx: &mut SqliteConnection| {
            add(tx, 1).await?;
            Ok(())
        })
        .await
    })
    .await;
    let outcome = forward(inbox, &credit("m2")).await.unwrap();
    assert_eq!(outcome, Outcome::Processed(1));
}
