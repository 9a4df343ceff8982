//! Keys: any expression over the parameters, evaluated once and borrowed.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use inbox_sqlx::{Key, KeyError, MessageKey, Outcome, idempotent};
use sqlx::SqliteConnection;

use crate::{Credit, CreditError, add, bank, credit, deliver_twice, total};

#[derive(MessageKey, Debug, Clone, PartialEq)]
struct OrderId(Arc<str>);

#[derive(MessageKey)]
struct Named {
    id: u64,
}

struct Envelope {
    headers: HashMap<&'static str, String>,
    correlation_id: String,
    order: OrderId,
    body: Vec<u8>,
}

macro_rules! keys {
    (|$msg:ident, $n:ident| $($name:ident = $key:expr;)*) => {
        $(
            #[idempotent(consumer = stringify!($name), key = $key)]
            async fn $name(tx: &mut SqliteConnection, $msg: &Envelope, $n: &u64) -> Result<(), CreditError> {
                let amount = if *$n == 17 { $msg.body.len() } else { 0 };
                add(tx, amount.try_into().unwrap()).await?;
                Ok(())
            }
        )*

        #[tokio::test]
        async fn any_expression_is_a_key() {
            let inbox = &bank().await;
            let msg = &Envelope {
                headers: HashMap::from([("message-id", "m1".to_owned())]),
                correlation_id: "c1".to_owned(),
                order: OrderId("o1".into()),
                body: vec![1],
            };
            $(deliver_twice(inbox, async || $name(inbox, msg, &17).await).await;)*
        }
    };
}

keys! {
    |msg, n|
    number = n;
    dereferenced = *n;
    header = msg.headers["message-id"];
    newtype = msg.order;
    inside = msg.order.0;
    tuple = (msg.order, *n);
    four = (n, &msg.order, "constant", n + 1);
    parenthesized = ((msg.order));
    made = format!("{n}-{}", msg.order.0);
    cow = Cow::from(&*msg.order.0);
    digest = Key::digest(&msg.body);
    block = { let order = &msg.order; order.0.trim() };
    chosen = if *n > 3 { "many" } else { msg.headers["message-id"].as_str() };
    matched = match msg.headers.get("message-id") { Some(id) => id.as_str(), None => "" };
    misnamed = trust(msg.correlation_id);
    misnamed_part = (trust(msg.correlation_id), msg.order);
    closure = msg.headers.values().find(|id| id.len() < 9).map_or("", |id| id);
    literal_newtype = Named { id: *n };
}

/// The key is borrowed: what it is taken from is still there for the body.
#[idempotent(consumer = "moved", key = (msg.message_id, order))]
async fn moved(
    tx: &mut SqliteConnection,
    msg: Credit,
    order: OrderId,
) -> Result<(String, OrderId), CreditError> {
    add(tx, msg.amount).await?;
    Ok((msg.message_id, order))
}

#[tokio::test]
async fn a_key_takes_nothing_out_of_the_message() {
    let inbox = &bank().await;
    let order = OrderId("o1".into());
    let outcome = moved(inbox, credit("m1"), order.clone()).await.unwrap();
    assert_eq!(outcome, Outcome::Processed(("m1".to_owned(), order)));
}

#[idempotent(consumer = "counted", key = { count.set(count.get() + 1); 7 })]
async fn counted(_: &mut SqliteConnection, count: &Cell<u32>) -> Result<(), CreditError> {
    Ok(())
}

#[tokio::test]
async fn a_key_is_evaluated_once() {
    let inbox = &bank().await;
    let count = Cell::new(0);
    for calls in 1..=2 {
        counted(inbox, &count).await.unwrap();
        assert_eq!(count.get(), calls);
    }
}

#[idempotent(consumer = "text", key = key)]
async fn text(tx: &mut SqliteConnection, key: &str) -> Result<(), CreditError> {
    add(tx, 1).await?;
    Ok(())
}

#[idempotent(consumer = "pair", key = (source, id))]
async fn pair(tx: &mut SqliteConnection, source: &str, id: &str) -> Result<(), CreditError> {
    add(tx, 1).await?;
    Ok(())
}

/// Messages without an id once shared one, and all but the first were lost.
#[tokio::test]
async fn a_missing_key_is_refused_before_anything_happens() {
    let inbox = &bank().await;
    for _ in 0..2 {
        for result in [
            text(inbox, "").await,
            pair(inbox, "", "").await,
            pair(inbox, "a", "").await,
        ] {
            let Err(CreditError::Inbox(inbox_sqlx::Error::Key(error))) = result else {
                panic!("{result:?}");
            };
            assert!(
                matches!(error, KeyError::Empty | KeyError::EmptyPart { .. }),
                "{error}"
            );
        }
    }
    assert_eq!(total(inbox).await, 0);
}

/// However the parts are cut, they do not meet.
#[tokio::test]
async fn different_tuples_are_different_messages() {
    let inbox = &bank().await;
    for (source, id) in [("a", "bc"), ("ab", "c"), ("a b", "c"), ("a", "b c")] {
        let outcome = pair(inbox, source, id).await.unwrap();
        assert_eq!(outcome, Outcome::Processed(()), "{source}, {id}");
    }
    assert_eq!(total(inbox).await, 4);
}
