//! Many deliveries at the same instant: one effect per message and consumer, whatever the rest of them hears.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use inbox_sqlx::{Begin, Inbox, Outcome};
use tokio::{
    sync::Barrier,
    task::{JoinHandle, JoinSet},
};

use super::{
    bench::{Bench, CONSUMER, HandlerError, Kept, apply},
    delivery::{Answer, End, Holder, credit, instance, spawn_credit},
};
use crate::Db;

const INSTANCES: usize = 8;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_eight_instances_at_the_same_instant_one_does_the_work() {
    let bench = Bench::new().await;
    let crowd = Crowd::new(&bench).await;
    for round in 0..20 {
        let key = format!("m{round}");
        let answers = crowd.deliver(&key, FirstBody::Succeeds).await;
        assert_eq!(count(&answers, Count::Processed), 1, "{answers:?}");
        assert_eq!(
            count(&answers, Count::Duplicate),
            INSTANCES - 1,
            "{answers:?}"
        );
        assert_eq!(
            (
                bench.markers(CONSUMER, &key).await,
                bench.effects(&key).await
            ),
            (1, 1)
        );
    }
    bench.expect("m0", Kept::Once).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_eight_instances_another_does_the_work_when_the_first_rolls_back() {
    let bench = Bench::new().await;
    let crowd = Crowd::new(&bench).await;
    for round in 0..20 {
        let key = format!("m{round}");
        let answers = crowd.deliver(&key, FirstBody::Fails).await;
        assert_eq!(count(&answers, Count::Failed), 1, "{answers:?}");
        assert_eq!(count(&answers, Count::Processed), 1, "{answers:?}");
        assert_eq!(
            count(&answers, Count::Duplicate) + count(&answers, Count::Transient),
            INSTANCES - 2,
            "{answers:?}"
        );
        assert_eq!(
            (
                bench.markers(CONSUMER, &key).await,
                bench.effects(&key).await
            ),
            (1, 1)
        );
    }
    bench.expect("m0", Kept::Once).await;
}

/// On MariaDB one of the waiters is a deadlock victim when the holder rolls back. Nothing has run by then, so it is
/// nobody's business but ours.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_waiters_one_does_the_work_when_the_holder_rolls_back() {
    let bench = Bench::new().await;
    let waiters = [
        instance(&bench, Inbox::builder()).await,
        instance(&bench, Inbox::builder()).await,
    ];
    for round in 0..100 {
        let key = format!("m{round}");
        let holder = Holder::claim(&bench.inbox, &key).await;
        let waiting: Vec<_> = waiters
            .iter()
            .map(|inbox| spawn_credit(inbox, &key))
            .collect();
        // Different moments of the holder's end: some rounds before the waiters arrive, most after.
        tokio::time::sleep(std::time::Duration::from_millis(round % 5)).await;
        let failed = holder.end(End::Err).await.unwrap();
        assert!(matches!(failed, Err(HandlerError::Business)), "{failed:?}");

        let answers = all(waiting).await;
        assert_eq!(count(&answers, Count::Processed), 1, "{answers:?}");
        assert_eq!(
            count(&answers, Count::Duplicate) + count(&answers, Count::Transient),
            1,
            "{answers:?}"
        );
        let again = bench.credit(&key).await.unwrap();
        assert_eq!(again, Outcome::Duplicate);
    }
    bench.expect("m0", Kept::Once).await;
    bench.expect("m99", Kept::Once).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_consumers_of_two_hundred_messages_at_once_never_suppress_each_other() {
    let bench = Bench::new().await;
    for wanted in [Count::Processed, Count::Duplicate] {
        let mut deliveries = JoinSet::new();
        for message in 0..200 {
            for consumer in ["credit", "email"] {
                deliveries.spawn(credit(bench.inbox.clone(), consumer, format!("m{message}")));
            }
        }
        let answers = deliveries.join_all().await;
        assert_eq!(count(&answers, wanted), 400, "{answers:?}");
    }
    let twice = "select count(*) from (select message from ledger group by message \
                 having count(*) = 2) as messages";
    assert_eq!(bench.number(twice, &[]).await, 200);
    assert_eq!(bench.number("select count(*) from ledger", &[]).await, 400);
    bench.expect_sane_pool().await;
}

/// Instances of one service, with a pool each.
struct Crowd(Vec<Inbox<Db>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FirstBody {
    Succeeds,
    Fails,
}

impl Crowd {
    async fn new(bench: &Bench) -> Self {
        let mut inboxes = Vec::new();
        for _ in 0..INSTANCES {
            inboxes.push(instance(bench, Inbox::builder()).await);
        }
        Self(inboxes)
    }

    /// Delivers one message to all of them, who start together.
    async fn deliver(&self, key: &str, first: FirstBody) -> Vec<Answer> {
        let start = Arc::new(Barrier::new(self.0.len()));
        let fail = Arc::new(AtomicBool::new(first == FirstBody::Fails));
        let deliveries = self.0.iter().map(|inbox| {
            let (inbox, key) = (inbox.clone(), key.to_owned());
            let (start, fail) = (Arc::clone(&start), Arc::clone(&fail));
            tokio::spawn(async move {
                start.wait().await;
                let Begin::Fresh(mut claimed) = inbox.begin(CONSUMER, &key).await? else {
                    return Ok(Outcome::Duplicate);
                };
                let mut result = apply(claimed.connection(), &key).await.map_err(Into::into);
                if fail.swap(false, Ordering::SeqCst) {
                    result = Err(HandlerError::Business);
                }
                claimed.settle(result).await
            })
        });
        all(deliveries.collect()).await
    }
}

async fn all(deliveries: Vec<JoinHandle<Answer>>) -> Vec<Answer> {
    let mut answers = Vec::new();
    for delivery in deliveries {
        answers.push(delivery.await.unwrap());
    }
    answers
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Count {
    Processed,
    Duplicate,
    /// The body's own error.
    Failed,
    /// An error of the inbox that a redelivery mends.
    Transient,
    /// Anything that must not happen here.
    Other,
}

fn count(answers: &[Answer], wanted: Count) -> usize {
    let counted = |answer: &Answer| match answer {
        Ok(Outcome::Processed(())) => Count::Processed,
        Ok(Outcome::Duplicate) => Count::Duplicate,
        Err(HandlerError::Business) => Count::Failed,
        Err(HandlerError::Inbox(error)) if error.is_transient() => Count::Transient,
        _ => Count::Other,
    };
    answers
        .iter()
        .filter(|answer| counted(answer) == wanted)
        .count()
}
