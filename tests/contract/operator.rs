//! What a person sees of messages that nobody else will finish, and what becomes of a decision.

use std::time::Duration;

use inbox_sqlx::{
    Backoff, Claim, Decided, Effect, Error, Inbox, MessageState, OnUnknown, Outcome, Page, Policy,
    Terms, TwoPhase,
};

use super::bench::{Bench, CONSUMER, HandlerError};
use crate::{Db, dialect};

/// Leases of half a second, `park`.
pub(crate) fn park(max_attempts: u32) -> Terms {
    let policy = Policy::new(OnUnknown::Park, max_attempts).unwrap();
    Terms::new(Duration::from_millis(500), policy, Backoff::default()).unwrap()
}

/// A claim that must be granted.
pub(crate) async fn claim(inbox: &Inbox<Db>, key: &str, terms: Terms) -> Claim<Db> {
    match inbox.claim(CONSUMER, key, terms).await.unwrap() {
        TwoPhase::Fresh(claim) => claim,
        TwoPhase::Duplicate => panic!("{key} is a duplicate"),
    }
}

/// Lets an attempt fail.
pub(crate) async fn fail(claim: Claim<Db>, effect: Effect) {
    let result: Result<(), _> = Err(HandlerError::Business);
    claim.settle(result, |_| effect).await.unwrap_err();
}

async fn parked(bench: &Bench) -> Vec<String> {
    let listed = bench.inbox.parked(Page::first(10)).await.unwrap();
    listed.into_iter().map(|message| message.key).collect()
}

#[tokio::test]
async fn parked_messages_are_listed_oldest_first_and_page_by_page() {
    let bench = Bench::new().await;
    for number in 1..=5 {
        let claim = claim(&bench.inbox, &format!("m{number}"), park(1)).await;
        fail(claim, Effect::Rejected).await;
    }
    let first = bench.inbox.parked(Page::first(3)).await.unwrap();
    let keys = |page: &[inbox_sqlx::ListedMessage]| -> Vec<String> {
        page.iter().map(|message| message.key.clone()).collect()
    };
    assert_eq!(keys(&first), ["m1", "m2", "m3"]);
    let message = &first[0];
    assert_eq!(message.consumer, CONSUMER);
    assert_eq!((message.state, message.attempts), (MessageState::Parked, 1));
    assert_eq!(message.last_error.as_deref(), Some("the business said no"));
    assert_eq!(message.payload, None);

    let next = Page::after(first[2].row, 3);
    let rest = bench.inbox.parked(next).await.unwrap();
    assert_eq!(keys(&rest), ["m4", "m5"]);
    bench.expect_sane_pool().await;
}

#[tokio::test]
async fn a_released_message_runs_once_more_and_is_parked_again_if_it_fails_again() {
    let bench = Bench::new().await;
    fail(
        claim(&bench.inbox, "m1", park(1)).await,
        Effect::NotHappened,
    )
    .await;
    assert_eq!(parked(&bench).await, ["m1"]);
    let row = bench.inbox.parked(Page::first(1)).await.unwrap()[0].row;

    assert_eq!(bench.inbox.release(row).await.unwrap(), Decided::Done);
    assert_eq!(parked(&bench).await, Vec::<String>::new());
    let again = claim(&bench.inbox, "m1", park(1)).await;
    assert_eq!(again.attempt(), 2, "attempts never go down");
    fail(again, Effect::NotHappened).await;
    assert_eq!(parked(&bench).await, ["m1"], "one more attempt, not more");
}

#[tokio::test]
async fn what_was_resolved_or_discarded_is_acknowledged_when_it_comes_again() {
    let bench = Bench::new().await;
    for (key, resolve) in [("by hand", true), ("never", false)] {
        fail(claim(&bench.inbox, key, park(1)).await, Effect::Rejected).await;
        let row = bench.inbox.parked(Page::first(1)).await.unwrap()[0].row;
        let decided = if resolve {
            bench.inbox.resolve(row).await
        } else {
            bench.inbox.discard(row).await
        };
        assert_eq!(decided.unwrap(), Decided::Done);
        let redelivered = bench.inbox.claim(CONSUMER, key, park(1)).await.unwrap();
        assert!(matches!(redelivered, TwoPhase::Duplicate), "{key}");
        assert_eq!(bench.markers(CONSUMER, key).await, 1);
    }
    for (key, reason) in [
        ("by hand", "resolved by an operator"),
        ("never", "discarded by an operator"),
    ] {
        let query = "select count(*) from inbox where message_id = ? and last_error = ?";
        assert_eq!(bench.number(query, &[key, reason]).await, 1);
    }
}

/// A worker was slow, somebody looked, decided, and then the worker came back.
#[tokio::test]
async fn a_late_finisher_does_not_undo_what_an_operator_decided() {
    let bench = Bench::new().await;
    for decision in ["release", "resolve"] {
        let late = claim(&bench.inbox, decision, park(3)).await;
        // As if its process had been stopped: nothing renews, the lease is over.
        bench
            .observe(&format!(
                "update inbox set lease_until = {} where message_id = '{decision}'",
                dialect::in_seconds(-1)
            ))
            .await;
        let stale = bench.inbox.stale(Page::first(1)).await.unwrap();
        assert_eq!(stale[0].key, decision);
        let decided = match decision {
            "release" => bench.inbox.release(stale[0].row).await,
            _ => bench.inbox.resolve(stale[0].row).await,
        };
        assert_eq!(decided.unwrap(), Decided::Done);

        let result = late
            .settle(Ok::<_, HandlerError>(()), |_| Effect::Unknown)
            .await;
        match decision {
            "release" => {
                let error = result.unwrap_err();
                assert!(
                    matches!(error.inbox(), Error::LeaseLost { .. }),
                    "{error:?}"
                );
                let status = bench
                    .inbox
                    .status(CONSUMER, decision)
                    .await
                    .unwrap()
                    .unwrap();
                assert_eq!(status.state, MessageState::Released);
            }
            _ => assert_eq!(result.unwrap(), Outcome::Duplicate),
        }
    }
    bench.expect_sane_pool().await;
}

#[tokio::test]
async fn nobody_decides_over_a_lease_that_runs_or_a_message_that_is_done() {
    let bench = Bench::new().await;
    let minute = Terms::default();
    let running = claim(&bench.inbox, "running", minute).await;
    let row = bench
        .number("select id from inbox where message_id = ?", &["running"])
        .await;
    assert_eq!(bench.inbox.release(row).await.unwrap(), Decided::InProgress);
    assert_eq!(bench.inbox.discard(row).await.unwrap(), Decided::InProgress);

    running
        .settle(Ok::<_, HandlerError>(()), |_| Effect::Unknown)
        .await
        .unwrap();
    assert_eq!(
        bench.inbox.release(row).await.unwrap(),
        Decided::AlreadyProcessed
    );
    assert_eq!(
        bench.inbox.resolve(row + 1000).await.unwrap(),
        Decided::NotFound
    );
    assert_eq!(bench.markers(CONSUMER, "running").await, 1);
}
