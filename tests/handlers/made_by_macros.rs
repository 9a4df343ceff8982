//! Handlers that a `macro_rules!` macro writes, and a crate that is known under another name.

use inbox_sqlx::idempotent;
use sqlx::SqliteConnection;

use crate::{Credit, CreditError, add, bank, credit, deliver_twice};

/// Everything comes from the caller of the macro.
macro_rules! handler {
    ($name:ident, $consumer:literal, $tx:ident: $connection:ty, $msg:ident: $ty:ty, $key:expr, $result:ty, $body:block) => {
        #[idempotent(consumer = $consumer, key = $key)]
        async fn $name($tx: &mut $connection, $msg: $ty) -> $result $body
    };
}

handler!(
    all_given,
    "all given",
    tx: SqliteConnection,
    msg: &Credit,
    (msg.message_id, trust(msg.amount)),
    Result<i64, CreditError>,
    { Ok(add(tx, msg.amount).await?) }
);

/// Nothing does: the names exist in the macro only.
macro_rules! handlers {
    ($($name:ident),*) => {
        $(
            #[idempotent(consumer = concat!("made-", stringify!($name)), key = msg.message_id)]
            async fn $name(tx: &mut SqliteConnection, msg: &Credit) -> Result<i64, $crate::CreditError> {
                let key = add(tx, msg.amount).await?;
                Ok(key)
            }
        )*
    };
}

handlers!(first, second);

/// A crate that hands ours on under a name of its own.
mod framework {
    pub(crate) use inbox_sqlx as messages;
}

#[framework::messages::idempotent(
    consumer = "renamed",
    key = id,
    crate = crate::handlers::made_by_macros::framework::messages,
)]
async fn renamed(tx: &mut SqliteConnection, id: OrderId) -> anyhow::Result<i64> {
    Ok(add(tx, id.0).await?)
}

#[derive(framework::messages::MessageKey)]
#[message_key(crate = framework::messages)]
struct OrderId(i64);

#[tokio::test]
async fn generated_handlers_and_renamed_crates_work() {
    let inbox = &bank().await;
    let msg = &credit("m1");
    deliver_twice(inbox, async || all_given(inbox, msg).await).await;
    deliver_twice(inbox, async || first(inbox, msg).await).await;
    deliver_twice(inbox, async || second(inbox, msg).await).await;
    deliver_twice(inbox, async || renamed(inbox, OrderId(1)).await).await;
}
