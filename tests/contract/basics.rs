//! The contract in its simplest form: `Ok` means acknowledge, `Err` means nothing was kept.

use inbox_sqlx::{Disposition, MessageState, Outcome};

use super::bench::{Bench, CONSUMER, HandlerError, Kept, deliver};

#[tokio::test]
async fn the_first_delivery_is_processed_and_the_second_a_duplicate() {
    let bench = Bench::new().await;

    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;

    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Duplicate);
    bench.expect("m1", Kept::Once).await;
}

#[tokio::test]
async fn a_failed_body_leaves_nothing_and_its_error_is_untouched() {
    let bench = Bench::new().await;

    let error = bench
        .deliver("m1", async |_| Err(HandlerError::Business))
        .await
        .unwrap_err();
    assert!(matches!(error, HandlerError::Business));
    assert_eq!(Disposition::of(&error), Disposition::Retry { after: None });
    bench.expect("m1", Kept::Nothing).await;

    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
}

/// Stores keyed by the message alone let the first handler silence the others.
#[tokio::test]
async fn two_consumers_of_one_message_both_run_once() {
    let bench = Bench::new().await;
    for round in 0..2 {
        for consumer in ["credit", "email"] {
            let outcome = deliver(&bench.inbox, consumer, "m1", async |_| Ok(()))
                .await
                .unwrap();
            assert_eq!(
                outcome.is_duplicate(),
                round == 1,
                "{consumer}, round {round}"
            );
        }
    }
    assert_eq!(bench.effects("m1").await, 2);
    assert_eq!(bench.markers("email", "m1").await, 1);
}

#[tokio::test]
async fn status_tells_what_the_inbox_knows() {
    let bench = Bench::new().await;
    assert_eq!(bench.inbox.status(CONSUMER, "m1").await.unwrap(), None);

    bench.credit("m1").await.unwrap();
    let status = bench.inbox.status(CONSUMER, "m1").await.unwrap().unwrap();
    assert_eq!(status.state, MessageState::Processed);
    assert_eq!(status.attempts, 1);
    assert!(status.received_ago.as_secs() < 60);
    assert!(status.processed_ago.unwrap().as_secs() < 60);
    bench.expect_sane_pool().await;
}
