//! An administrator, a time-out or a fail-over ends our session on the server.

use inbox_sqlx::{Error, Inbox, Outcome};

use crate::{
    contract::{
        bench::{Bench, HandlerError, Kept, run},
        delivery::{End, Holder, expect_waiting, instance, spawn_credit},
    },
    dialect::faults::{kill_sessions, kill_waiting_sessions},
};

#[tokio::test]
async fn killed_in_the_body_leaves_nothing() {
    let bench = Bench::new().await;
    let answer = bench
        .deliver("m1", async |connection| {
            kill_sessions(&bench.observer).await;
            run(
                connection,
                "update accounts set balance = balance where id = 2",
            )
            .await?;
            Ok(())
        })
        .await;
    // The body's own statement failed, and that is what the caller is told.
    assert!(
        matches!(answer, Err(HandlerError::Database(_))),
        "{answer:?}"
    );
    bench.expect("m1", Kept::Nothing).await;

    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
}

#[tokio::test]
async fn killed_before_the_commit_leaves_nothing() {
    let bench = Bench::new().await;
    let answer = bench
        .deliver("m1", async |_| {
            kill_sessions(&bench.observer).await;
            Ok(())
        })
        .await;
    let error = answer.unwrap_err();
    assert!(matches!(error.inbox(), Error::Unknown { .. }), "{error:?}");
    bench.expect("m1", Kept::Nothing).await;

    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
}

#[tokio::test]
async fn killed_before_the_body_fails_leaves_its_error_untouched() {
    let bench = Bench::new().await;
    let answer = bench
        .deliver("m1", async |_| {
            kill_sessions(&bench.observer).await;
            Err(HandlerError::Business)
        })
        .await;
    assert!(matches!(answer, Err(HandlerError::Business)), "{answer:?}");
    bench.expect("m1", Kept::Nothing).await;

    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
}

#[tokio::test]
async fn killed_while_waiting_for_a_claim_is_a_database_error_for_the_moment() {
    let bench = Bench::new().await;
    let other = instance(&bench, Inbox::builder()).await;
    let winner = Holder::claim(&bench.inbox, "m1").await;
    let loser = spawn_credit(&other, "m1");
    expect_waiting(&loser).await;
    kill_waiting_sessions(&bench.observer).await;

    let error = loser.await.unwrap().unwrap_err();
    assert!(matches!(error.inbox(), Error::Database(_)), "{error:?}");
    assert!(error.inbox().is_transient(), "{error:?}");
    let won = winner.end(End::Ok).await.unwrap();
    assert_eq!(won.unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;

    let again = spawn_credit(&other, "m1").await.unwrap();
    assert_eq!(again.unwrap(), Outcome::Duplicate);
}

/// Idle sessions in the pool are gone; the next delivery does not notice.
#[tokio::test]
async fn killed_between_two_deliveries_is_not_noticed() {
    let bench = Bench::new().await;
    for key in ["m1", "m2", "m3"] {
        assert_eq!(bench.credit(key).await.unwrap(), Outcome::Processed(()));
        kill_sessions(&bench.observer).await;
        assert_eq!(bench.credit(key).await.unwrap(), Outcome::Duplicate);
        bench.expect(key, Kept::Once).await;
        kill_sessions(&bench.observer).await;
    }
}
