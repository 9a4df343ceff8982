//! `claim_timeout` bounds the wait for somebody else's claim, and nothing else.

use std::time::{Duration, Instant};

use inbox_sqlx::{Disposition, Inbox, Outcome};
use sqlx::Row as _;

use super::{
    bench::{Bench, HandlerError, Kept, run},
    delivery::{End, Holder, credit, instance},
};
use crate::{contract::bench::CONSUMER, dialect};

#[tokio::test]
async fn a_claim_that_waits_too_long_is_in_progress_and_not_acknowledged() {
    let bench = Bench::new().await;
    let builder = Inbox::builder().claim_timeout(Duration::from_secs(1));
    let other = instance(&bench, builder).await;

    let holder = Holder::claim(&bench.inbox, "m1").await;
    let start = Instant::now();
    let error = credit(other.clone(), CONSUMER, "m1".into())
        .await
        .unwrap_err();
    let waited = start.elapsed();

    assert!(
        waited >= Duration::from_millis(900),
        "gave up after {waited:?}"
    );
    assert!(waited < Duration::from_secs(3), "gave up after {waited:?}");
    let ours = error.inbox();
    assert!(dialect::faults::gave_up_waiting(ours), "{ours:?}");
    assert!(ours.is_transient() && !ours.is_permanent(), "{ours:?}");
    assert_eq!(
        Disposition::of(&error),
        Disposition::Retry {
            after: ours.retry_after()
        }
    );

    let held = holder.end(End::Ok).await.unwrap().unwrap();
    assert_eq!(held, Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
    let again = credit(other, CONSUMER, "m1".into()).await.unwrap();
    assert_eq!(again, Outcome::Duplicate);
}

/// A body that waits for a row lock has the patience its session had, not that of our claim.
#[tokio::test]
async fn the_bound_of_the_claim_does_not_stay_on_for_the_body() {
    let database = dialect::fresh_database().await;
    let pool = dialect::pool(database.url(), 1).await;
    run(
        &mut pool.acquire().await.unwrap(),
        dialect::faults::SET_LOCK_TIMEOUT,
    )
    .await
    .unwrap();
    let builder = Inbox::builder().claim_timeout(Duration::from_secs(1));
    let bench = Bench::around(builder.build(pool).unwrap(), database).await;

    let mut seen = String::new();
    bench
        .deliver("m1", async |connection| {
            seen = sqlx::raw_sql(dialect::faults::LOCK_TIMEOUT)
                .fetch_one(connection)
                .await?
                .try_get(0)?;
            Ok(())
        })
        .await
        .unwrap();
    assert_eq!(seen, dialect::faults::ITS_LOCK_TIMEOUT, "in the body");
    bench.expect("m1", Kept::Once).await;

    // And it comes back to the session after a duplicate and after a failure, where no marker is inserted or kept.
    bench.credit("m1").await.unwrap();
    bench
        .deliver("m2", async |_| Err(HandlerError::Business))
        .await
        .unwrap_err();
    let after: String = sqlx::raw_sql(dialect::faults::LOCK_TIMEOUT)
        .fetch_one(bench.inbox.pool())
        .await
        .unwrap()
        .try_get(0)
        .unwrap();
    assert_eq!(after, dialect::faults::ITS_LOCK_TIMEOUT, "in the session");
    bench.expect("m2", Kept::Nothing).await;
}
