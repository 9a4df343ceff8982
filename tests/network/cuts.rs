//! The connection is cut before and after each message of ours: nothing is lost, doubled, or run again by ourselves.

use std::cell::Cell;

use inbox_sqlx::{Error, Inbox, Outcome};

use super::proxied;
use crate::{
    contract::{
        bench::{Bench, HandlerError, Kept},
        delivery::Answer,
    },
    dialect,
    support::proxy::{Ending, Fault, Proxy},
};

/// The messages of a call, each by a text that it contains and no earlier one does, on a connection that has nothing
/// prepared; and what becomes of the delivery.
const MESSAGES: &[(&str, Delivery, Told)] = &[
    ("read committed", Delivery::Fresh, Told::Failed),
    (
        "(message_id, consumer, token)",
        Delivery::Fresh,
        Told::Failed,
    ),
    (KEY, Delivery::Fresh, Told::Failed),
    ("insert into ledger", Delivery::Fresh, Told::BodyFailed),
    ("update accounts", Delivery::Fresh, Told::BodyFailed),
    ("release savepoint", Delivery::Fresh, Told::Unknown),
    ("rollback to savepoint", Delivery::Failing, Told::Business),
    ("read committed", Delivery::Duplicate, Told::Failed),
    (KEY, Delivery::Duplicate, Told::Failed),
    ("where message_id =", Delivery::Duplicate, Told::Failed),
    // Nobody waits for this one.
    ("rollback", Delivery::Duplicate, Told::Duplicate),
];

/// Stands for the message's own key.
const KEY: &str = "";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Delivery {
    Fresh,
    Failing,
    Duplicate,
}

/// What the caller is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// The inbox failed before the body, for the moment.
    Failed,
    /// The body's own statement failed.
    BodyFailed,
    /// The body's own refusal.
    Business,
    Unknown,
    Duplicate,
}

#[tokio::test]
async fn cut_before_any_of_our_messages() {
    cut_at_each(Fault::CutBefore, |delivery, _| match delivery {
        Delivery::Duplicate => Kept::Once,
        Delivery::Fresh | Delivery::Failing => Kept::Nothing,
    })
    .await;
}

#[tokio::test]
async fn cut_after_any_of_our_messages() {
    cut_at_each(Fault::CutAfter, |delivery, told| match (delivery, told) {
        (Delivery::Duplicate, _) | (_, Told::Unknown) => Kept::Once,
        (Delivery::Fresh | Delivery::Failing, _) => Kept::Nothing,
    })
    .await;
}

async fn cut_at_each(fault: fn(Ending) -> Fault, kept: fn(Delivery, Told) -> Kept) {
    let (mut bench, proxy) = proxied().await;
    for (number, &(text, delivery, told)) in MESSAGES.iter().enumerate() {
        for ending in [Ending::Reset, Ending::Close] {
            let key = format!("message-{number}-{ending:?}");
            if delivery == Delivery::Duplicate {
                bench.credit(&key).await.unwrap();
            }
            // A connection that has nothing prepared.
            bench.inbox = Inbox::new(dialect::pool(proxy.url(), 1).await);
            proxy.arm(fault(ending), if text == KEY { &key } else { text });
            let case = format!("{:?} {text:?}, {delivery:?}", fault(ending));
            cut(
                &bench,
                &proxy,
                (&key, delivery),
                (told, kept(delivery, told)),
                &case,
            )
            .await;
        }
    }
}

/// Delivers a message whose connection is about to be cut; then once more.
async fn cut(
    bench: &Bench,
    proxy: &Proxy,
    (key, delivery): (&str, Delivery),
    (told, kept): (Told, Kept),
    case: &str,
) {
    let runs = Cell::new(0);
    let answer = bench
        .deliver(key, async |_| {
            runs.set(runs.get() + 1);
            match delivery {
                Delivery::Failing => Err(HandlerError::Business),
                Delivery::Fresh | Delivery::Duplicate => Ok(()),
            }
        })
        .await;
    proxy.fired().await;

    assert_eq!(what_was_told(&answer), told, "{case}: {answer:?}");
    let reached = matches!(told, Told::Unknown | Told::Business);
    assert_eq!(runs.get(), i32::from(reached), "{case}: the body's runs");
    bench.expect(key, kept).await;

    let wanted = match kept {
        Kept::Nothing => Outcome::Processed(()),
        Kept::Once => Outcome::Duplicate,
    };
    let again = bench.credit(key).await;
    assert_eq!(again.unwrap(), wanted, "{case}, the redelivery");
    bench.expect(key, Kept::Once).await;
}

fn what_was_told(answer: &Answer) -> Told {
    match answer {
        Ok(Outcome::Duplicate) => Told::Duplicate,
        Err(HandlerError::Business) => Told::Business,
        Err(HandlerError::Database(_)) => Told::BodyFailed,
        Err(HandlerError::Inbox(Error::Unknown { .. })) => Told::Unknown,
        Err(HandlerError::Inbox(error @ Error::Database(_))) if error.is_transient() => {
            Told::Failed
        }
        other => panic!("{other:?}"),
    }
}

/// The answer to COMMIT is lost, again and again: the caller is told that nobody knows, and the redelivery finds out.
#[tokio::test]
async fn a_lost_answer_to_commit_is_unknown_then_a_duplicate() {
    let (bench, proxy) = proxied().await;
    for round in 0..24 {
        lose_commit(&bench, &proxy, round, Fault::CutAfter, Outcome::Duplicate).await;
    }
}

/// The COMMIT itself is lost: the caller is told the same, and the redelivery does the work.
#[tokio::test]
async fn a_lost_commit_is_unknown_then_processed() {
    let (bench, proxy) = proxied().await;
    for round in 0..24 {
        lose_commit(
            &bench,
            &proxy,
            round,
            Fault::CutBefore,
            Outcome::Processed(()),
        )
        .await;
    }
}

async fn lose_commit(
    bench: &Bench,
    proxy: &Proxy,
    round: usize,
    fault: fn(Ending) -> Fault,
    again: Outcome<()>,
) {
    let key = format!("m{round}");
    let ending = [Ending::Reset, Ending::Close][round % 2];
    proxy.arm(fault(ending), "release savepoint");
    let runs = Cell::new(0);
    let answer = bench
        .deliver(&key, async |_| {
            runs.set(runs.get() + 1);
            Ok(())
        })
        .await;
    let error = answer.unwrap_err();
    assert!(matches!(error.inbox(), Error::Unknown { .. }), "{error:?}");
    assert!(error.inbox().is_transient());
    assert_eq!(runs.get(), 1, "a body is never run again in process");

    assert_eq!(bench.credit(&key).await.unwrap(), again);
    bench.expect(&key, Kept::Once).await;
}
