//! Parameters, variables and items with the names that generated code uses: each means what the user meant.

use inbox_sqlx::{Outcome, idempotent};
use sqlx::{Connection as _, SqliteConnection};

use crate::{Credit, CreditError, add, bank, credit, deliver_twice, total};

#[expect(clippy::too_many_arguments, reason = "one for each name")]
#[idempotent(consumer = "names", key = (key, result, consumer, claim))]
async fn names(
    tx: &mut SqliteConnection,
    key: i64,
    inbox: i64,
    result: i64,
    consumer: i64,
    claim: i64,
    claimed: i64,
    connection: i64,
    conn: i64,
    pool: i64,
    site: i64,
    span: i64,
    boxed: i64,
    error: i64,
    err: i64,
    fut: i64,
    msg: i64,
    from_inbox: i64,
    __inbox_key: i64,
) -> Result<i64, CreditError> {
    let parameters = [
        key,
        inbox,
        result,
        consumer,
        claim,
        claimed,
        connection,
        conn,
        pool,
        site,
        span,
        boxed,
        error,
        err,
        fut,
        msg,
        from_inbox,
        __inbox_key,
    ];
    // Each has the value that its caller gave it.
    assert!(parameters.iter().eq(&(1..=18).collect::<Vec<i64>>()));
    Ok(add(tx, key).await?)
}

#[tokio::test]
async fn parameters_have_the_names_of_generated_variables() {
    let inbox = &bank().await;
    deliver_twice(inbox, async || {
        names(
            inbox, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
        )
        .await
    })
    .await;
}

macro_rules! connection_called {
    ($($name:ident)*) => {
        $(
            #[idempotent(consumer = stringify!($name), key = id)]
            async fn $name($name: &mut SqliteConnection, id: u64) -> Result<u64, CreditError> {
                add($name, 1).await?;
                Ok(id)
            }
        )*

        #[tokio::test]
        async fn the_connection_has_the_name_of_a_generated_variable() {
            let bank = &bank().await;
            $(deliver_twice(bank, async || $name(bank, 1).await).await;)*
        }
    };
}

connection_called!(inbox key consumer result site span claimed connection boxed error from_inbox);

/// Whatever `tx` means further down, what commits is the transaction that was begun.
#[idempotent(consumer = "shadowed", key = msg.message_id)]
async fn shadowed(tx: &mut SqliteConnection, msg: &Credit) -> Result<i64, CreditError> {
    let mut tx = tx.begin().await?;
    add(&mut tx, msg.amount).await?;
    tx.commit().await?;
    let (claimed, connection, result) = (1, 2, 3);
    let tx = claimed + connection + result;
    Ok(tx)
}

#[tokio::test]
async fn variables_of_the_body_do_not_change_what_commits() {
    let inbox = &bank().await;
    let msg = &credit("m1");
    deliver_twice(inbox, async || shadowed(inbox, msg).await).await;
}

/// Items with the names of those that generated code mentions.
mod items {
    use super::{Credit, CreditError, SqliteConnection, add};

    #[expect(dead_code, reason = "they are only in the way")]
    mod in_the_way {
        pub(super) struct Outcome;
        pub(super) struct Begin;
        pub(super) static SITE: u8 = 0;
        pub(super) fn begin() {}
        pub(super) fn settle() {}
        pub(super) fn key() {}
        pub(super) mod inbox_sqlx {}
        pub(super) mod sqlx {}
        pub(super) mod __private {}
    }
    #[expect(unused_imports, reason = "they are only in the way")]
    use in_the_way::*;

    #[::inbox_sqlx::idempotent(consumer = "items", key = msg.message_id)]
    pub(super) async fn handle(tx: &mut SqliteConnection, msg: &Credit) -> Result<(), CreditError> {
        #[expect(clippy::items_after_statements, reason = "it is in the way")]
        static SITE: i64 = 0;
        add(tx, msg.amount + SITE).await?;
        Ok(())
    }
}

#[tokio::test]
async fn items_have_the_names_of_ours() {
    let inbox = &bank().await;
    let msg = &credit("m1");
    deliver_twice(inbox, async || items::handle(inbox, msg).await).await;
    assert_eq!(total(inbox).await, 1);
    assert_eq!(items::handle(inbox, msg).await.unwrap(), Outcome::Duplicate);
}
