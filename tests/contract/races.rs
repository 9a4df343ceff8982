//! Two instances get the same message at the same moment: the second waits for the first one's end.

use inbox_sqlx::{Inbox, Outcome};

use super::{
    bench::{Bench, HandlerError, Kept},
    crashes::Stop,
    delivery::{End, Holder, expect_waiting, instance, spawn_credit},
};

#[tokio::test]
async fn the_loser_waits_and_is_a_duplicate_when_the_winner_commits() {
    let bench = Bench::new().await;
    let other = instance(&bench, Inbox::builder()).await;

    let winner = Holder::claim(&bench.inbox, "m1").await;
    let loser = spawn_credit(&other, "m1");
    expect_waiting(&loser).await;
    let won = winner.end(End::Ok).await.unwrap();

    assert_eq!(won.unwrap(), Outcome::Processed(()));
    assert_eq!(loser.await.unwrap().unwrap(), Outcome::Duplicate);
    bench.expect("m1", Kept::Once).await;
}

#[tokio::test]
async fn the_loser_does_the_work_when_the_winner_rolls_back() {
    let bench = Bench::new().await;
    let other = instance(&bench, Inbox::builder()).await;

    let winner = Holder::claim(&bench.inbox, "m1").await;
    let loser = spawn_credit(&other, "m1");
    expect_waiting(&loser).await;
    let failed = winner.end(End::Err).await.unwrap();

    assert!(matches!(failed, Err(HandlerError::Business)), "{failed:?}");
    assert_eq!(loser.await.unwrap().unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Duplicate);
}

#[tokio::test]
async fn the_loser_does_the_work_when_the_winner_panics() {
    let bench = Bench::new().await;
    let other = instance(&bench, Inbox::builder()).await;

    let winner = Holder::claim(&bench.inbox, "m1").await;
    let loser = spawn_credit(&other, "m1");
    expect_waiting(&loser).await;
    let panicked = winner.end(End::Panic).await;

    assert!(panicked.is_err_and(|error| error.is_panic()));
    assert_eq!(loser.await.unwrap().unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Duplicate);
}

#[tokio::test]
async fn the_loser_does_the_work_when_the_winner_is_killed() {
    let bench = Bench::new().await;

    let winner = Stop::InBody.reached(bench.database.url(), "m1").await;
    let loser = spawn_credit(&bench.inbox, "m1");
    expect_waiting(&loser).await;
    winner.kill().await;

    assert_eq!(loser.await.unwrap().unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Duplicate);
}
