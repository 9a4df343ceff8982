//! Other attributes on a handler, above and below.

use inbox_sqlx::{Outcome, idempotent};
use sqlx::SqliteConnection;

use crate::{Credit, CreditError, add, bank, credit, deliver_twice};

/// Documented, hidden, inlined: these stay on the function.
#[doc(hidden)]
#[idempotent(consumer = "documented", key = msg.message_id)]
#[inline]
#[must_use = "the future"]
pub(crate) async fn documented(tx: &mut SqliteConnection, msg: &Credit) -> Result<(), CreditError> {
    #![allow(clippy::allow_attributes, reason = "an attribute inside stays, too")]
    add(tx, msg.amount).await?;
    Ok(())
}

#[idempotent(consumer = "old", key = msg.message_id)]
#[deprecated = "use `documented`"]
async fn old(tx: &mut SqliteConnection, msg: &Credit) -> Result<(), CreditError> {
    add(tx, msg.amount).await?;
    Ok(())
}

#[idempotent(consumer = "there", key = msg.message_id)]
#[cfg(not(any()))]
async fn under_a_condition(tx: &mut SqliteConnection, msg: &Credit) -> Result<(), CreditError> {
    add(tx, msg.amount).await?;
    Ok(())
}

/// Not compiled, and so not looked at either.
#[idempotent(consumer = "gone", key = msg.message_id)]
#[cfg(any())]
async fn under_a_condition(tx: &mut Nothing, msg: &Missing) -> Result<(), CreditError> {}

#[cfg_attr(not(any()), idempotent(consumer = "conditional", key = msg.message_id))]
async fn conditional(tx: &mut SqliteConnection, msg: &Credit) -> Result<(), CreditError> {
    add(tx, msg.amount).await?;
    Ok(())
}

#[tracing::instrument(skip(tx))]
#[idempotent(consumer = "traced above", key = msg.message_id)]
async fn traced_above(tx: &mut SqliteConnection, msg: &Credit) -> Result<i64, CreditError> {
    Ok(add(tx, msg.amount).await?)
}

#[idempotent(consumer = "traced below", key = msg.message_id)]
#[tracing::instrument(skip_all, fields(id = msg.message_id), err, ret)]
async fn traced_below(tx: &mut SqliteConnection, msg: &Credit) -> Result<i64, CreditError> {
    Ok(add(tx, msg.amount).await?)
}

#[tokio::test]
async fn other_attributes_stay_and_work() {
    let inbox = &bank().await;
    let msg = &credit("m1");
    deliver_twice(inbox, async || documented(inbox, msg).await).await;
    #[expect(deprecated, reason = "that this is needed is the test")]
    deliver_twice(inbox, async || old(inbox, msg).await).await;
    deliver_twice(inbox, async || under_a_condition(inbox, msg).await).await;
    deliver_twice(inbox, async || conditional(inbox, msg).await).await;
    deliver_twice(inbox, async || traced_above(inbox, msg).await).await;
    deliver_twice(inbox, async || traced_below(inbox, msg).await).await;
    assert_eq!(traced_below(inbox, msg).await.unwrap(), Outcome::Duplicate);
}
