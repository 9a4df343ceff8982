//! Deliveries that can be spawned, and one that stands still with its claim until the case says how it ends.

use std::{future::poll_fn, panic::resume_unwind, pin::pin, task::Poll, time::Duration};

use inbox_sqlx::{Begin, Inbox, InboxBuilder, Outcome};
use tokio::{
    sync::oneshot,
    task::{JoinError, JoinHandle},
    time::sleep,
};

use super::bench::{Bench, CONSUMER, HandlerError, Kept, apply};
use crate::{
    Db,
    dialect::{self, faults::SlowLink},
};

/// What a handler says about one delivery.
pub(crate) type Answer = Result<Outcome<()>, HandlerError>;

/// Another instance of the service: an inbox on the same database with a pool of its own.
pub(crate) async fn instance(bench: &Bench, builder: InboxBuilder<Db>) -> Inbox<Db> {
    builder.connect(bench.database.url()).await.unwrap()
}

/// A bench whose inbox takes a moment for everything it asks its database, so that every answer is awaited.
pub(crate) async fn slow_bench(connections: u32) -> (Bench, SlowLink) {
    let database = dialect::fresh_database().await;
    let link = SlowLink::to(&database).await;
    let pool = dialect::pool(link.url(), connections).await;
    (Bench::around(Inbox::new(pool), database).await, link)
}

/// [`Bench::credit`] as a future that can be spawned.
pub(crate) async fn credit(inbox: Inbox<Db>, consumer: &'static str, key: String) -> Answer {
    match inbox.begin(consumer, &key).await? {
        Begin::Duplicate => Ok(Outcome::Duplicate),
        Begin::Fresh(mut claimed) => {
            let result = apply(claimed.connection(), &key).await;
            claimed.settle(result.map_err(HandlerError::from)).await
        }
    }
}

/// Delivers from another task.
pub(crate) fn spawn_credit(inbox: &Inbox<Db>, key: &str) -> JoinHandle<Answer> {
    tokio::spawn(credit(inbox.clone(), CONSUMER, key.to_owned()))
}

/// Makes sure that a delivery waits for somebody else's claim.
pub(crate) async fn expect_waiting(delivery: &JoinHandle<Answer>) {
    sleep(Duration::from_millis(150)).await;
    assert!(!delivery.is_finished(), "it did not wait");
}

/// How a [`Holder`] ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Ok,
    Err,
    Panic,
}

/// A delivery whose body has done its work and stands still, its transaction open.
#[derive(Debug)]
pub(crate) struct Holder {
    delivery: JoinHandle<Answer>,
    end: oneshot::Sender<End>,
}

impl Holder {
    /// Claims a message nobody has claimed.
    pub(crate) async fn claim(inbox: &Inbox<Db>, key: &str) -> Self {
        let (claimed, is_claimed) = oneshot::channel();
        let (end, told) = oneshot::channel();
        let delivery = tokio::spawn(hold(inbox.clone(), key.to_owned(), claimed, told));
        is_claimed.await.expect("the message is fresh");
        Self { delivery, end }
    }

    /// Lets the body end; the result is what the caller of the handler gets, a panic included.
    pub(crate) async fn end(self, end: End) -> Result<Answer, JoinError> {
        self.end.send(end).expect("the body waits");
        self.delivery.await
    }
}

async fn hold(
    inbox: Inbox<Db>,
    key: String,
    claimed: oneshot::Sender<()>,
    told: oneshot::Receiver<End>,
) -> Answer {
    let Begin::Fresh(mut claim) = inbox.begin(CONSUMER, &key).await? else {
        return Ok(Outcome::Duplicate);
    };
    let mut result = apply(claim.connection(), &key).await.map_err(Into::into);
    claimed.send(()).expect("the case waits");
    match told.await.expect("the case lives") {
        End::Ok => {}
        End::Err => result = Err(HandlerError::Business),
        // As `panic!`, without the message on the terminal.
        End::Panic => resume_unwind(Box::new("the body panics")),
    }
    claim.settle(result).await
}

/// What is kept of a message whose outcome nobody can foretell; marker and effect must agree.
pub(crate) async fn kept(bench: &Bench, key: &str) -> Kept {
    // In one statement: between two, a commit that is on its way may arrive.
    let both = bench
        .number(
            "select 10 * (select count(*) from inbox where message_id = ? and state = 2) \
             + (select count(*) from ledger where message = ?)",
            &[key, key],
        )
        .await;
    match both {
        0 => Kept::Nothing,
        11 => Kept::Once,
        _ => panic!("{} markers and {} effects of {key:?}", both / 10, both % 10),
    }
}

/// Runs a future up to its `polls`-th pending poll and one more, then drops it.
pub(crate) async fn after_polls<F: Future>(polls: usize, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut left = polls;
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending if left == 0 => Poll::Ready(None),
        Poll::Pending => {
            left -= 1;
            Poll::Pending
        }
    })
    .await
}
