//! Pruning: only what is processed, only what is old enough, in batches, from anywhere.

use std::time::Duration;

use inbox_sqlx::{MessageState, Outcome, Pruner, Retention};

use super::bench::{Bench, CONSUMER};
use crate::dialect;

const DAY: i64 = 24 * 60 * 60;

/// A broker for which markers are kept for 30 days.
fn thirty_days() -> Retention {
    Retention::builder()
        .lock_timeout(Duration::from_mins(1))
        .max_deliveries(10)
        .message_ttl(Duration::from_hours(48))
        .window(Duration::from_hours(30 * 24))
        .build()
        .unwrap()
}

/// A row of a state and an age, as if it had been received and, if processed or parked, become so that long ago.
async fn put(bench: &Bench, key: &str, state: i64, age: i64) {
    let then = dialect::in_seconds(-age);
    let (processed, lease, parked) = match state {
        0 => ("null", then.as_str(), "null"),
        2 => (then.as_str(), "null", "null"),
        3 => ("null", "null", then.as_str()),
        _ => ("null", "null", "null"),
    };
    bench
        .observe(&format!(
            "insert into inbox (message_id, consumer, state, received_at, processed_at, lease_until, parked_at, payload) \
             values ('{key}', '{CONSUMER}', {state}, {then}, {processed}, {lease}, {parked}, '\"secret\"')"
        ))
        .await;
}

async fn there(bench: &Bench, key: &str) -> bool {
    bench
        .number("select count(*) from inbox where message_id = ?", &[key])
        .await
        == 1
}

/// Purges by age alone deleted work that was unfinished.
#[tokio::test]
async fn only_old_processed_markers_go() {
    let bench = Bench::new().await;
    put(&bench, "processed, old", 2, 40 * DAY).await;
    put(&bench, "processed, young", 2, 60 * 60).await;
    put(&bench, "claimed, old", 0, 40 * DAY).await;
    put(&bench, "released, old", 1, 40 * DAY).await;
    put(&bench, "parked, old", 3, 41 * DAY).await;

    assert_eq!(bench.inbox.prunable(&thirty_days()).await.unwrap(), 1);
    let pruned = bench.inbox.prune(&thirty_days()).await.unwrap();
    assert_eq!((pruned.deleted, pruned.payloads_cleared), (1, 0));
    assert_eq!((pruned.unfinished, pruned.parked), (2, 1));

    for (key, kept) in [
        ("processed, old", false),
        ("processed, young", true),
        ("claimed, old", true),
        ("released, old", true),
        ("parked, old", true),
    ] {
        assert_eq!(there(&bench, key).await, kept, "{key}");
    }
    // What is gone is new, what is kept is not.
    let again = bench.credit("processed, old").await.unwrap();
    assert_eq!(again, Outcome::Processed(()));
    let again = bench.credit("processed, young").await.unwrap();
    assert_eq!(again, Outcome::Duplicate);
    bench.expect_sane_pool().await;
}

/// SQLite compares texts, and a time written with a `T` sorts behind one written with a space: rows of the cutoff's own
/// day looked older than they were. Ours are numbers.
#[tokio::test]
async fn a_marker_is_old_by_the_clock_to_the_second() {
    let bench = Bench::new().await;
    bench.credit("now").await.unwrap();
    put(&bench, "a minute too young", 2, 30 * DAY - 60).await;
    put(&bench, "a minute old enough", 2, 30 * DAY + 60).await;

    assert_eq!(bench.inbox.prune(&thirty_days()).await.unwrap().deleted, 1);
    assert!(there(&bench, "now").await);
    assert!(there(&bench, "a minute too young").await);
}

/// The payload of a parked message may be personal data; the message itself waits for its person.
#[tokio::test]
async fn payloads_of_long_parked_messages_are_cleared_and_the_messages_stay() {
    let bench = Bench::new().await;
    put(&bench, "parked long", 3, 100 * DAY).await;
    put(&bench, "parked lately", 3, 50 * DAY).await;
    put(&bench, "claimed long", 0, 100 * DAY).await;

    let retention = Retention::builder()
        .lock_timeout(Duration::from_mins(1))
        .max_deliveries(10)
        .message_ttl(Duration::from_hours(48))
        .window(Duration::from_hours(30 * 24))
        .parked_payloads(Duration::from_hours(90 * 24))
        .build()
        .unwrap();
    assert_eq!(
        bench
            .inbox
            .prune(&retention)
            .await
            .unwrap()
            .payloads_cleared,
        1
    );
    let left = "select count(*) from inbox where payload is not null and message_id = ?";
    for (key, kept) in [
        ("parked long", 0),
        ("parked lately", 1),
        ("claimed long", 1),
    ] {
        assert!(there(&bench, key).await, "{key}");
        assert_eq!(bench.number(left, &[key]).await, kept, "{key}");
    }
}

/// More than two batches, by two pruners at once, while messages are handled.
#[tokio::test(flavor = "multi_thread")]
async fn several_pruners_share_the_work_and_stop_no_claim() {
    const OLD: u64 = 11_000;
    let bench = Bench::new().await;
    let then = dialect::in_seconds(-40 * DAY);
    bench
        .observe(&format!(
            "insert into inbox (message_id, consumer, received_at, processed_at) \
             with recursive n (i) as (select 1 union all select i + 1 from n where i < 1000), \
             m (j) as (select 1 union all select j + 1 from m where j < {}) \
             select concat('old-', i, '-', j), 'credit', {then}, {then} from n cross join m",
            OLD / 1000
        ))
        .await;
    assert_eq!(bench.inbox.prunable(&thirty_days()).await.unwrap(), OLD);

    let retention = thirty_days();
    let (one, other, handled) = tokio::join!(
        bench.inbox.prune(&retention),
        bench.inbox.prune(&retention),
        async {
            for number in 0..50 {
                let outcome = bench.credit(&format!("new-{number}")).await.unwrap();
                assert_eq!(outcome, Outcome::Processed(()));
            }
        }
    );
    let () = handled;
    assert_eq!(one.unwrap().deleted + other.unwrap().deleted, OLD);
    assert_eq!(bench.inbox.prunable(&retention).await.unwrap(), 0);
    assert_eq!(bench.number("select count(*) from inbox", &[]).await, 50);
    bench.expect_sane_pool().await;
}

#[tokio::test]
async fn the_pruner_prunes_at_once_and_ends_when_told() {
    let bench = Bench::new().await;
    put(&bench, "old", 2, 40 * DAY).await;

    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let pruner = Pruner::new(&bench.inbox, thirty_days());
    let job = tokio::spawn(pruner.run(async { drop(stopped.await) }));
    while there(&bench, "old").await {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    drop(stop);
    tokio::time::timeout(Duration::from_secs(5), job)
        .await
        .unwrap()
        .unwrap();
    bench.expect_sane_pool().await;
}

#[tokio::test]
async fn unfinished_messages_are_counted_by_state_with_their_oldest_age() {
    let bench = Bench::new().await;
    bench.credit("done").await.unwrap();
    put(&bench, "a", 0, 100).await;
    put(&bench, "b", 0, 300).await;
    put(&bench, "c", 3, 200).await;

    let counts = bench.inbox.unfinished().await.unwrap();
    let found: Vec<_> = counts
        .iter()
        .map(|line| (line.state, line.count, line.oldest.as_secs() / 10))
        .collect();
    assert_eq!(
        found,
        [
            (MessageState::Claimed, 2, 30),
            (MessageState::Parked, 1, 20)
        ]
    );
}
