//! Every kind of error type: what it says is what callers get, untouched.

use std::error::Error;
use std::fmt;

use inbox_sqlx::{Disposition, Inbox, idempotent};
use sqlx::{Sqlite, SqliteConnection};

use crate::{Credit, CreditError, add, bank, credit, deliver_twice, total};

#[idempotent(consumer = "enum", key = msg.message_id)]
async fn an_enum(tx: &mut SqliteConnection, msg: &Credit) -> Result<(), CreditError> {
    add(tx, msg.amount).await?;
    (msg.amount > 0).then_some(()).ok_or(CreditError::Refused)
}

#[idempotent(consumer = "sqlx", key = msg.message_id)]
async fn of_sqlx(tx: &mut SqliteConnection, msg: &Credit) -> Result<(), sqlx::Error> {
    add(tx, msg.amount).await?;
    (msg.amount > 0)
        .then_some(())
        .ok_or(sqlx::Error::RowNotFound)
}

#[idempotent(consumer = "sqlx, alias", key = msg.message_id)]
async fn of_sqlx_by_its_alias(tx: &mut SqliteConnection, msg: &Credit) -> sqlx::Result<()> {
    add(tx, msg.amount).await?;
    (msg.amount > 0)
        .then_some(())
        .ok_or(sqlx::Error::RowNotFound)
}

#[idempotent(consumer = "inbox", key = msg.message_id)]
async fn of_the_inbox(tx: &mut SqliteConnection, msg: &Credit) -> Result<(), inbox_sqlx::Error> {
    add(tx, msg.amount)
        .await
        .map_err(inbox_sqlx::Error::Database)?;
    let refused = inbox_sqlx::Error::Database(sqlx::Error::RowNotFound);
    (msg.amount > 0).then_some(()).ok_or(refused)
}

#[idempotent(consumer = "anyhow", key = msg.message_id)]
async fn anyhow(tx: &mut SqliteConnection, msg: &Credit) -> anyhow::Result<()> {
    add(tx, msg.amount).await?;
    anyhow::ensure!(msg.amount > 0, "refused");
    Ok(())
}

#[idempotent(consumer = "box", key = msg.message_id)]
async fn boxed(
    tx: &mut SqliteConnection,
    msg: &Credit,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    add(tx, msg.amount).await?;
    if msg.amount > 0 {
        Ok(())
    } else {
        Err("refused".into())
    }
}

#[idempotent(consumer = "box, not send", key = msg.message_id)]
async fn boxed_for_one_thread(
    tx: &mut SqliteConnection,
    msg: &Credit,
) -> Result<(), Box<dyn Error>> {
    add(tx, msg.amount).await?;
    if msg.amount > 0 {
        Ok(())
    } else {
        Err("refused".into())
    }
}

/// No `std::error::Error`, and it borrows.
struct Refused<'m>(&'m str);

impl fmt::Debug for Refused<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl From<inbox_sqlx::Error> for Refused<'_> {
    fn from(_: inbox_sqlx::Error) -> Self {
        Self("inbox")
    }
}

#[idempotent(consumer = "borrowing", key = msg.message_id)]
async fn borrowing<'m>(tx: &mut SqliteConnection, msg: &'m Credit) -> Result<(), Refused<'m>> {
    let added = add(tx, msg.amount).await.is_ok();
    (added && msg.amount > 0)
        .then_some(())
        .ok_or(Refused(&msg.message_id))
}

#[idempotent(consumer = "any", key = msg.message_id)]
async fn any<E>(
    tx: &mut SqliteConnection,
    msg: &Credit,
    refuse: impl FnOnce() -> E,
) -> Result<(), E>
where
    E: From<inbox_sqlx::Error> + From<sqlx::Error>,
{
    add(tx, msg.amount).await?;
    (msg.amount > 0).then_some(()).ok_or_else(refuse)
}

macro_rules! every {
    ($($handler:ident)*) => {
        #[tokio::test]
        async fn an_error_rolls_back_and_an_ok_commits_whatever_the_type() {
            let inbox = &bank().await;
            let bad = &Credit { amount: 0, ..credit("m1") };
            let good = &credit("m1");
            $(
                let before = total(inbox).await;
                assert!($handler(inbox, bad).await.is_err(), stringify!($handler));
                assert_eq!(total(inbox).await, before, stringify!($handler));
                deliver_twice(inbox, async || $handler(inbox, good).await).await;
            )*
        }

        #[tokio::test]
        async fn an_error_of_the_inbox_has_room_in_every_type() {
            // Nothing is installed.
            let inbox: &Inbox<Sqlite> = &Inbox::connect("sqlite::memory:").await.unwrap();
            $(assert!($handler(inbox, &credit("m1")).await.is_err(), stringify!($handler));)*
        }
    };
}

every!(an_enum of_sqlx of_sqlx_by_its_alias of_the_inbox anyhow boxed boxed_for_one_thread borrowing);

#[tokio::test]
async fn the_users_error_arrives_as_it_left() {
    let inbox = &bank().await;
    let bad = &Credit {
        amount: 0,
        ..credit("m1")
    };
    assert!(matches!(
        an_enum(inbox, bad).await,
        Err(CreditError::Refused)
    ));
    assert!(matches!(
        of_sqlx(inbox, bad).await,
        Err(sqlx::Error::RowNotFound)
    ));
    assert_eq!(anyhow(inbox, bad).await.unwrap_err().to_string(), "refused");
    assert_eq!(boxed(inbox, bad).await.unwrap_err().to_string(), "refused");
    assert_eq!(borrowing(inbox, bad).await.unwrap_err().0, "m1");
    let refused = any(inbox, bad, || CreditError::Refused).await;
    assert!(matches!(refused, Err(CreditError::Refused)));
}

/// What the inbox has to say is found in the user's type, however deep it is.
#[tokio::test]
async fn a_message_without_a_key_is_for_the_dead_letters() {
    let inbox = &bank().await;
    let nameless = &credit("");
    let error = an_enum(inbox, nameless).await.unwrap_err();
    assert_eq!(Disposition::of(&error), Disposition::DeadLetter);
    let error = of_sqlx(inbox, nameless).await.unwrap_err();
    assert_eq!(Disposition::of(&error), Disposition::DeadLetter);
    let error = anyhow(inbox, nameless).await.unwrap_err();
    assert_eq!(Disposition::of(&*error), Disposition::DeadLetter);
    let error = boxed(inbox, nameless).await.unwrap_err();
    assert_eq!(Disposition::of(&*error), Disposition::DeadLetter);
    assert_eq!(total(inbox).await, 0);
}
