//! Deliveries that can be spawned, and one that stands still with its claim until the case says how it ends.

use std::{panic::resume_unwind, time::Duration};

use inbox_sqlx::{Begin, Inbox, InboxBuilder, Outcome};
use tokio::{
    sync::oneshot,
    task::{JoinError, JoinHandle},
    time::sleep,
};

use super::bench::{Bench, CONSUMER, HandlerError, apply};
use crate::Db;

/// What a handler says about one delivery.
pub(crate) type Answer = Result<Outcome<()>, HandlerError>;

/// Another instance of the service: an inbox on the same database with a pool of its own.
pub(crate) async fn instance(bench: &Bench, builder: InboxBuilder<Db>) -> Inbox<Db> {
    builder.connect(bench.database.url()).await.unwrap()
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
