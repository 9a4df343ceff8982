//! The handler's future is dropped, at every place where it can be: nothing is lost, doubled or left behind.

use std::time::Duration;

use inbox_sqlx::{Begin, Inbox, Outcome};
use sqlx::Connection as _;
use tokio::{task::JoinSet, time::sleep};

use super::{
    bench::{Bench, CONSUMER, HandlerError, Kept, apply, run, text},
    delivery::{Answer, after_polls, kept, slow_bench, spawn_credit},
};
use crate::Db;

#[tokio::test]
async fn dropped_at_every_await_point_on_a_pool_of_one() {
    dropped_at_every_await_point(1).await;
}

#[tokio::test]
async fn dropped_at_every_await_point_on_a_pool_of_four() {
    dropped_at_every_await_point(4).await;
}

async fn dropped_at_every_await_point(connections: u32) {
    let (bench, _slow) = slow_bench(connections).await;

    let mut drops = Drops::default();
    while let Some(points) = drops.next() {
        let key = format!("m{points}");
        let answer = after_polls(points, varied(&bench.inbox, &key)).await;
        bench.expect_sane_pool().await;
        let before = kept(&bench, &key).await;
        if let Some(answer) = &answer {
            assert_eq!(*answer.as_ref().unwrap(), Outcome::Processed(()));
            assert_eq!(before, Kept::Once);
        }

        let again = varied(&bench.inbox, &key).await.unwrap();
        assert_eq!(
            again.is_duplicate(),
            before == Kept::Once,
            "{key}: {again:?}"
        );
        bench.expect(&key, Kept::Once).await;
        drops.ended(answer.is_some());
    }
    // Begin, claim, seven statements of the body, seal with commit; some may be answered at once.
    assert!(drops.points > 6, "{drops:?}");
}

/// A duplicate's call ends before there is a body, so it has await points of its own.
#[tokio::test]
async fn a_duplicate_dropped_at_every_await_point_stays_a_duplicate() {
    let (bench, _slow) = slow_bench(1).await;
    bench.credit("m1").await.unwrap();

    let mut drops = Drops::default();
    while let Some(points) = drops.next() {
        let answer = after_polls(points, varied(&bench.inbox, "m1")).await;
        bench.expect("m1", Kept::Once).await;
        let again = bench.credit("m1").await.unwrap();
        assert_eq!(again, Outcome::Duplicate);
        drops.ended(answer.is_some());
    }
}

/// A failing body's call has await points after the body, too.
#[tokio::test]
async fn a_failure_dropped_at_every_await_point_leaves_nothing() {
    let (bench, _slow) = slow_bench(1).await;

    let mut drops = Drops::default();
    while let Some(points) = drops.next() {
        let failing = bench.deliver("m1", async |_| Err(HandlerError::Business));
        let answer = after_polls(points, failing).await;
        bench.expect("m1", Kept::Nothing).await;
        drops.ended(answer.is_some());
    }
    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_calls_aborted_at_random_moments_never_lose_and_never_double() {
    const MESSAGES: usize = 100;
    let bench = Bench::new().await;
    let mut random = fastrand::Rng::with_seed(17);

    let mut consumers = JoinSet::new();
    for _ in 0..4 {
        let (inbox, mut random) = (bench.inbox.clone(), random.fork());
        consumers.spawn(async move {
            for _ in 0..125 {
                let key = format!("m{}", random.usize(..MESSAGES));
                let delivery = spawn_credit(&inbox, &key);
                sleep(Duration::from_micros(random.u64(..3_000))).await;
                delivery.abort();
                // Waits until the future is dropped, as a consumer loop would not.
                match delivery.await {
                    Ok(answer) => drop(answer.unwrap()),
                    Err(error) => assert!(error.is_cancelled()),
                }
            }
        });
    }
    consumers.join_all().await;

    for message in 0..MESSAGES {
        let key = format!("m{message}");
        bench.credit(&key).await.unwrap();
        assert_eq!(kept(&bench, &key).await, Kept::Once, "{key}");
        assert_eq!(bench.credit(&key).await.unwrap(), Outcome::Duplicate);
    }
    let effects = bench.number("select count(*) from ledger", &[]).await;
    assert_eq!(effects, 100);
    let balance = "select balance from accounts where id = 1";
    assert_eq!(bench.number(balance, &[]).await, 10 * effects);
    bench.expect_sane_pool().await;
}

/// After how many pending polls a call is dropped: after the first, the second, the third ... until it has none left.
///
/// An answer that is there already when it is asked for is no await point, and which one is depends on the moment.
/// So a call has none left when several in a row came to their end.
#[derive(Debug, Default)]
pub(crate) struct Drops {
    points: usize,
    ended: usize,
}

impl Drops {
    pub(crate) fn next(&self) -> Option<usize> {
        (self.ended < 4).then_some(self.points)
    }

    pub(crate) fn ended(&mut self, by_itself: bool) {
        self.points += 1;
        self.ended = if by_itself { self.ended + 1 } else { 0 };
    }
}

/// A delivery whose body does a bit of everything a body does.
pub(crate) async fn varied(inbox: &Inbox<Db>, key: &str) -> Answer {
    match inbox.begin(CONSUMER, key).await? {
        Begin::Duplicate => Ok(Outcome::Duplicate),
        Begin::Fresh(mut claimed) => {
            let connection = claimed.connection();
            let body = async {
                apply(connection, key).await?;
                // A text no session has prepared before.
                let fresh = text(format!(
                    "update accounts set balance = balance where '{key}' = 'x'"
                ));
                sqlx::query::<Db>(fresh).execute(&mut *connection).await?;
                // A result of which only the first row is read.
                sqlx::query::<Db>(text(MANY_ROWS.to_owned()))
                    .fetch_one(&mut *connection)
                    .await?;
                let mut nested = connection.begin().await?;
                run(
                    &mut nested,
                    "update accounts set balance = balance where id = 1",
                )
                .await?;
                nested.commit().await?;
                run(
                    connection,
                    "update accounts set balance = balance where id = 2",
                )
                .await?;
                Ok(())
            };
            let result = body.await;
            claimed.settle(result).await
        }
    }
}

const MANY_ROWS: &str = "with recursive n (i) as (select 1 union all select i + 1 from n where i < 500) select i from n";
