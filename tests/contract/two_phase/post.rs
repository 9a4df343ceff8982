//! The bench of the two-phase mode: letters that are sent by somebody else's service, which counts its calls, and an
//! inbox whose every change is logged.

use std::{
    future::ready,
    panic::resume_unwind,
    sync::{Arc, Mutex},
    time::Duration,
};

use inbox_core::two_phase::State;
use inbox_sqlx::{
    __private::two_phase::{ErrorChain, ErrorKind, ErrorText, finish, run},
    Backoff, Claim, Effect, Error, Inbox, OnUnknown, Outcome, Policy, Terms, TwoPhase,
};
use tokio::{
    sync::oneshot,
    task::{JoinError, JoinHandle},
    time::{Instant, sleep},
};

use super::{
    audit,
    stored::{self, CONSUMER, Stored},
};
use crate::{
    Db,
    contract::bench::Bench,
    dialect::{self, leases},
};

/// A lease that nobody waits for: cases let it end by [`Post::expire`], and no renewal falls into them.
pub(crate) const LEASE: Duration = Duration::from_mins(1);

const HORIZON: Duration = Duration::from_hours(1);

/// What a handler says about one delivery.
pub(crate) type Answer = Result<Outcome<()>, MailError>;

/// What a body returns.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MailError {
    #[error("the line is busy")]
    Busy,
    #[error("there is no such address")]
    NoSuchAddress,
    #[error("no answer in time")]
    Timeout,
    #[error("inbox")]
    Inbox(#[from] Error),
}

impl MailError {
    fn effect(&self) -> Effect {
        match self {
            Self::Busy => Effect::NotHappened,
            Self::NoSuchAddress => Effect::Rejected,
            Self::Timeout | Self::Inbox(_) => Effect::Unknown,
        }
    }

    /// The inbox's own error, where a case expects one.
    pub(crate) fn inbox(&self) -> &Error {
        Error::find(self).unwrap_or_else(|| panic!("an error of the inbox, not {self:?}"))
    }
}

/// How a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Sent,
    Busy,
    NoSuchAddress,
    Timeout,
    Panic,
}

/// One call of the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) idempotency_key: String,
    pub(crate) attempt: u32,
    pub(crate) body: Body,
}

/// What became of the body after the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    Running,
    /// It came to its end by itself.
    Ended,
    /// It was dropped before.
    Stopped,
}

/// The service.
#[derive(Debug, Clone, Default)]
pub(crate) struct Service(Arc<Mutex<Vec<Call>>>);

impl Service {
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.0.lock().unwrap().clone()
    }

    /// Waits until the body of the first call is stopped, and says how long that took.
    pub(crate) async fn stopped(&self, patience: Duration) -> Duration {
        let begun = Instant::now();
        while self.calls()[0].body == Body::Running {
            assert!(begun.elapsed() < patience, "the body goes on");
            sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(self.calls()[0].body, Body::Stopped);
        begun.elapsed()
    }

    /// How many calls there were, if all of them carried the same key.
    pub(crate) fn calls_with_one_key(&self) -> usize {
        let calls = self.calls();
        let same = calls
            .windows(2)
            .all(|two| two[0].idempotency_key == two[1].idempotency_key);
        assert!(same, "{calls:?}");
        calls.len()
    }

    async fn call(
        &self,
        claim: &Claim<Db>,
        end: impl Future<Output = End>,
    ) -> Result<(), MailError> {
        let at = {
            let mut calls = self.0.lock().unwrap();
            calls.push(Call {
                idempotency_key: claim.idempotency_key().to_owned(),
                attempt: claim.attempt(),
                body: Body::Running,
            });
            calls.len() - 1
        };
        let stopped = Stopped { service: self, at };
        let end = end.await;
        self.0.lock().unwrap()[at].body = Body::Ended;
        drop(stopped);
        match end {
            End::Sent => Ok(()),
            End::Busy => Err(MailError::Busy),
            End::NoSuchAddress => Err(MailError::NoSuchAddress),
            End::Timeout => Err(MailError::Timeout),
            // As `panic!`, without the message on the terminal.
            End::Panic => resume_unwind(Box::new("the body panics")),
        }
    }
}

/// Notes that a body was dropped in the middle.
struct Stopped<'a> {
    service: &'a Service,
    at: usize,
}

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        let body = &mut self.service.0.lock().unwrap()[self.at].body;
        if *body == Body::Running {
            *body = Body::Stopped;
        }
    }
}

/// What to do after an unknown outcome is park.
pub(crate) fn park(max_attempts: u32) -> Terms {
    terms(OnUnknown::Park, max_attempts, LEASE)
}

/// What to do after an unknown outcome is retry, at once.
pub(crate) fn retry(max_attempts: u32) -> Terms {
    terms(OnUnknown::Retry { horizon: HORIZON }, max_attempts, LEASE)
}

/// The same as some terms with another lease.
pub(crate) fn leased(terms_of: fn(u32) -> Terms, max_attempts: u32, lease: Duration) -> Terms {
    let policy = terms_of(max_attempts).policy();
    terms(policy.on_unknown(), max_attempts, lease)
}

fn terms(on_unknown: OnUnknown, max_attempts: u32, lease: Duration) -> Terms {
    let policy = Policy::new(on_unknown, max_attempts).unwrap();
    let backoff = Backoff::new(Duration::ZERO, Duration::ZERO);
    Terms::new(lease, policy, backoff).unwrap()
}

/// What generated code does with a two-phase handler: claims, runs the body until the claim is lost, settles.
pub(crate) async fn deliver(
    inbox: Inbox<Db>,
    service: Service,
    key: String,
    terms: Terms,
    end: impl Future<Output = End> + Send,
) -> Answer {
    match inbox.claim(CONSUMER, &key, terms).await? {
        TwoPhase::Duplicate => Ok(Outcome::Duplicate),
        TwoPhase::Fresh(claim) => {
            let ended = run(&claim, service.call(&claim, end)).await;
            let kind = ErrorKind {
                from_inbox: MailError::from,
                classify: MailError::effect,
                text: ErrorText::<MailError>::text(),
                chain: ErrorChain::<MailError>::new().chain(),
            };
            finish(claim, ended, &kind).await
        }
    }
}

/// See the module.
pub(crate) struct Post {
    pub(crate) bench: Bench,
    pub(crate) service: Service,
}

impl Post {
    pub(crate) async fn new() -> Self {
        Self::on(Bench::new().await).await
    }

    pub(crate) async fn on(bench: Bench) -> Self {
        audit::start(&bench).await;
        Self {
            bench,
            service: Service::default(),
        }
    }

    /// Delivers a message whose body ends at once.
    pub(crate) async fn deliver(&self, key: &str, terms: Terms, end: End) -> Answer {
        self.delivery(key, terms, ready(end)).await
    }

    /// A delivery whose body ends when it is told how.
    pub(crate) fn delivery<F: Future<Output = End> + Send>(
        &self,
        key: &str,
        terms: Terms,
        end: F,
    ) -> impl Future<Output = Answer> + Send + use<F> {
        let (inbox, service) = (self.bench.inbox.clone(), self.service.clone());
        deliver(inbox, service, key.to_owned(), terms, end)
    }

    /// A worker in the middle of the body.
    pub(crate) async fn worker(&self, key: &str, terms: Terms) -> Worker {
        let (begun, has_begun) = oneshot::channel();
        let (end, told) = oneshot::channel();
        let delivery = self.delivery(key, terms, async {
            begun.send(()).expect("the case waits");
            told.await.expect("the case tells, or aborts the worker")
        });
        let delivery = tokio::spawn(delivery);
        has_begun.await.expect("the message can be claimed");
        Worker { delivery, end }
    }

    /// The row of a message.
    pub(crate) async fn row(&self, key: &str) -> Stored {
        let mut connection = self.bench.observer.acquire().await.unwrap();
        let rows = stored::read(&mut connection).await;
        let row = rows.into_iter().find(|(_, at, _)| at == key);
        row.unwrap_or_else(|| panic!("no row of {key}")).2
    }

    pub(crate) async fn id(&self, key: &str) -> i64 {
        self.bench
            .number("select id from inbox where message_id = ?", &[key])
            .await
    }

    /// Checks state and attempts.
    pub(crate) async fn expect(&self, key: &str, state: State, attempts: i64) {
        let row = self.row(key).await;
        assert_eq!(
            (State::from_column(row.state), row.attempts),
            (Some(state), attempts),
            "{key}: {row:?}"
        );
    }

    /// Lets the lease of a claim end ten minutes ago, as if its worker had been paused.
    pub(crate) async fn expire(&self, key: &str) {
        self.set(key, "lease_until", -600).await;
    }

    /// The same, and then delivers the message; a renewal that was held back on its way may still arrive in between.
    pub(crate) async fn deliver_when_expired(&self, key: &str, terms: Terms) -> Answer {
        loop {
            self.expire(key).await;
            match self.deliver(key, terms, End::Sent).await {
                Err(MailError::Inbox(Error::InProgress { .. })) => {}
                answer => return answer,
            }
        }
    }

    /// Sets a time of a row to so many seconds from now.
    pub(crate) async fn set(&self, key: &str, column: &str, seconds: i64) {
        let time = dialect::in_seconds(seconds);
        let update = format!("update inbox set {column} = {time} where message_id = '{key}'");
        assert_eq!(self.bench.observe(&update).await, 1);
    }

    /// The claim statement refuses: it is in progress, for about so long, and nothing has changed.
    pub(crate) async fn expect_in_progress(
        &self,
        key: &str,
        terms: Terms,
        about: std::ops::RangeInclusive<u64>,
    ) {
        let before = self.row(key).await;
        let calls = self.service.calls().len();
        let error = self.deliver(key, terms, End::Sent).await.unwrap_err();
        let Error::InProgress { retry_after, .. } = error.inbox() else {
            panic!("{error:?}");
        };
        assert!(about.contains(&retry_after.as_secs()), "{retry_after:?}");
        assert!(error.inbox().is_transient());
        assert_eq!(self.row(key).await, before, "the loser changed nothing");
        assert_eq!(self.service.calls().len(), calls, "the body did not run");
    }

    /// The message waits for a person: for a dead-letter queue, never to be acknowledged.
    pub(crate) async fn expect_parked(&self, key: &str, terms: Terms) {
        let calls = self.service.calls().len();
        let error = self.deliver(key, terms, End::Sent).await.unwrap_err();
        assert!(matches!(error.inbox(), Error::Parked { .. }), "{error:?}");
        let disposition = inbox_sqlx::Disposition::of(&error);
        assert_eq!(disposition, inbox_sqlx::Disposition::DeadLetter);
        assert_eq!(self.service.calls().len(), calls, "the body did not run");
        let row = self.row(key).await;
        assert_eq!(
            State::from_column(row.state),
            Some(State::Parked),
            "{row:?}"
        );
        assert!(row.last_error.is_some(), "{row:?}");
    }

    pub(crate) async fn expect_duplicate(&self, key: &str, terms: Terms) {
        let calls = self.service.calls().len();
        let answer = self.deliver(key, terms, End::Sent).await;
        assert_eq!(answer.unwrap(), Outcome::Duplicate);
        assert_eq!(self.service.calls().len(), calls, "the body did not run");
        assert_eq!(self.bench.markers(CONSUMER, key).await, 1);
    }

    /// Every step that was taken is allowed, and nothing is left behind.
    pub(crate) async fn close(self) {
        audit::replay(&self.bench).await;
        self.bench.expect_sane_pool().await;
    }

    /// The same, and then the bench as it was in the beginning, without the time that a new database takes.
    pub(crate) async fn cleared(self) -> Self {
        audit::replay(&self.bench).await;
        self.bench.expect_sane_pool().await;
        for statement in leases::CLEAR {
            self.bench.observe(statement).await;
        }
        Self {
            service: Service::default(),
            ..self
        }
    }

    /// The database's clock now, in milliseconds.
    pub(crate) async fn clock(&self) -> i64 {
        let now = format!("select {}", leases::NOW);
        sqlx::query_scalar::<Db, i64>(crate::contract::bench::text(now))
            .fetch_one(&self.bench.observer)
            .await
            .unwrap()
    }
}

/// A delivery that stands still in its body.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) delivery: JoinHandle<Answer>,
    end: oneshot::Sender<End>,
}

impl Worker {
    /// Lets the body end; the result is what the caller of the handler gets, a panic included.
    pub(crate) async fn try_end(self, end: End) -> Result<Answer, JoinError> {
        self.end.send(end).expect("the body waits");
        self.delivery.await
    }

    pub(crate) async fn end(self, end: End) -> Answer {
        self.try_end(end).await.unwrap()
    }

    /// As if its process had died.
    pub(crate) async fn die(self) {
        self.delivery.abort();
        assert!(self.delivery.await.unwrap_err().is_cancelled());
    }

    /// What the caller gets when the body was stopped from outside.
    pub(crate) async fn stopped(self) -> Answer {
        self.delivery.await.unwrap()
    }
}
