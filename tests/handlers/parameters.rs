//! Parameters of every shape, with no warning that the function without the attribute would not have.

#![deny(warnings)]

use inbox_sqlx::{Outcome, idempotent};
use sqlx::SqliteConnection;

use crate::{Credit, CreditError, add, bank, credit, deliver_twice};

struct Context;

#[expect(clippy::too_many_arguments, reason = "one for each shape")]
#[idempotent(consumer = "shapes", key = (message_id, word, r#type))]
async fn r#move(
    mut tx: &mut SqliteConnection,
    mut count: i64,
    Credit { message_id, amount }: Credit,
    (number, word): (i64, String),
    [first, ..]: [i64; 3],
    _: Context,
    #[cfg(any())] gone: Gone,
    #[cfg(not(any()))] there: i64,
    #[expect(unused_variables, reason = "the attribute stays where it is")] ignored: u8,
    r#type: u64,
    _unused: u64,
) -> Result<String, CreditError> {
    count += amount + number + first + there - 4;
    // As good a connection as it was before.
    tx = &mut *tx;
    add(tx, count).await?;
    Ok(message_id)
}

#[tokio::test]
async fn patterns_mut_wildcards_conditions_and_raw_names() {
    let inbox = &bank().await;
    let pair = || (1, "word".to_owned());
    deliver_twice(inbox, async || {
        r#move(
            inbox,
            1,
            credit("m1"),
            pair(),
            [1, 2, 3],
            Context,
            1,
            0,
            5,
            0,
        )
        .await
    })
    .await;
    let other = r#move(
        inbox,
        1,
        credit("m1"),
        pair(),
        [1, 2, 3],
        Context,
        1,
        0,
        6,
        0,
    );
    assert_eq!(other.await.unwrap(), Outcome::Processed("m1".to_owned()));
}

/// The connection is there for what it does, not for the body.
#[idempotent(consumer = "wildcard", key = id)]
async fn wildcard(_: &mut SqliteConnection, id: u64) -> Result<u64, CreditError> {
    Ok(id)
}

#[idempotent(consumer = "underscore", key = id)]
async fn underscore(_tx: &mut SqliteConnection, id: u64) -> Result<u64, CreditError> {
    Ok(id)
}

#[idempotent(consumer = "raw", key = r#fn)]
async fn raw_connection(r#type: &mut SqliteConnection, r#fn: u64) -> Result<u64, CreditError> {
    add(r#type, 1).await?;
    Ok(r#fn)
}

#[tokio::test]
async fn a_connection_that_nobody_uses() {
    let inbox = &bank().await;
    for expected in [Outcome::Processed(1), Outcome::Duplicate] {
        assert_eq!(wildcard(inbox, 1).await.unwrap(), expected);
        assert_eq!(underscore(inbox, 1).await.unwrap(), expected);
    }
    deliver_twice(inbox, async || raw_connection(inbox, 1).await).await;
}
