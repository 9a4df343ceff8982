//! Where a handler may have its inbox from, other than from its caller.

use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use inbox_sqlx::{Inbox, idempotent};
use sqlx::{Sqlite, SqliteConnection};

use crate::{Credit, CreditError, add, bank, credit, deliver_twice};

struct App {
    inbox: Inbox<Sqlite>,
}

impl App {
    fn inbox(&self) -> &Inbox<Sqlite> {
        &self.inbox
    }
}

impl Deref for App {
    type Target = Inbox<Sqlite>;

    fn deref(&self) -> &Inbox<Sqlite> {
        &self.inbox
    }
}

#[idempotent(consumer = "field", key = msg.message_id, inbox = app.inbox)]
async fn field(tx: &mut SqliteConnection, app: &App, msg: &Credit) -> Result<(), CreditError> {
    // The rest of it is there, the inbox, too.
    assert_eq!(app.inbox().table().table(), "inbox");
    add(tx, msg.amount).await?;
    Ok(())
}

#[idempotent(consumer = "method", key = msg.message_id, inbox = app.inbox())]
async fn method(tx: &mut SqliteConnection, app: &App, msg: &Credit) -> Result<(), CreditError> {
    add(tx, msg.amount).await?;
    Ok(())
}

#[idempotent(consumer = "dereferenced", key = msg.message_id, inbox = app)]
async fn dereferenced(
    tx: &mut SqliteConnection,
    app: App,
    msg: &Credit,
) -> Result<(), CreditError> {
    add(tx, msg.amount).await?;
    drop(app);
    Ok(())
}

#[idempotent(consumer = "reference", key = msg.message_id, inbox = inbox)]
async fn reference(
    tx: &mut SqliteConnection,
    inbox: &Inbox<Sqlite>,
    msg: &Credit,
) -> Result<(), CreditError> {
    add(tx, msg.amount).await?;
    Ok(())
}

#[idempotent(consumer = "shared", key = msg.message_id, inbox = inbox)]
async fn shared(
    tx: &mut SqliteConnection,
    msg: &Credit,
    inbox: Arc<Inbox<Sqlite>>,
) -> Result<(), CreditError> {
    drop(inbox);
    add(tx, msg.amount).await?;
    Ok(())
}

/// A name that is read when it is first needed.
static NAME: LazyLock<String> = LazyLock::new(|| "from a static".to_owned());
const SHORT: &str = "from a constant";

#[idempotent(consumer = &NAME, key = msg.message_id)]
async fn named_by_a_static(tx: &mut SqliteConnection, msg: &Credit) -> Result<(), CreditError> {
    add(tx, msg.amount).await?;
    Ok(())
}

#[idempotent(consumer = SHORT, key = msg.message_id)]
async fn named_by_a_constant(tx: &mut SqliteConnection, msg: &Credit) -> Result<(), CreditError> {
    add(tx, msg.amount).await?;
    Ok(())
}

#[tokio::test]
async fn an_inbox_may_come_from_anywhere() {
    let inbox = &bank().await;
    let app = || App {
        inbox: inbox.clone(),
    };
    let msg = &credit("m1");
    deliver_twice(inbox, async || field(&app(), msg).await).await;
    deliver_twice(inbox, async || method(&app(), msg).await).await;
    deliver_twice(inbox, async || dereferenced(app(), msg).await).await;
    deliver_twice(inbox, async || reference(inbox, msg).await).await;
    deliver_twice(inbox, async || shared(msg, Arc::new(inbox.clone())).await).await;
    deliver_twice(inbox, async || named_by_a_static(inbox, msg).await).await;
    deliver_twice(inbox, async || named_by_a_constant(inbox, msg).await).await;
}
