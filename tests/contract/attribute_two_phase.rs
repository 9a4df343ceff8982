//! `#[idempotent(.., two_phase)]`, from the attribute to the row.

use std::sync::{
    Mutex,
    atomic::{AtomicU32, Ordering},
};
use std::time::Duration;

use inbox_sqlx::{Backend, Claim, Effect, Error, Inbox, MessageState, Outcome, idempotent};
use serde::Serialize;
use sqlx::Pool;

use super::bench::{Bench, sql};
use crate::{Conn, Db, dialect};

/// What arrives.
#[derive(Debug, Clone, Serialize)]
struct Receipt {
    id: String,
    to: String,
    #[serde(skip)]
    answer: Answer,
}

impl Receipt {
    fn new(answer: Answer) -> Self {
        Self {
            id: "m1".into(),
            to: "ada@example.org".into(),
            answer,
        }
    }
}

/// What the other side does with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Sent,
    Busy,
    NoSuchAddress,
    Timeout,
    Panic,
}

/// The other side: it counts its calls by their idempotency key.
#[derive(Debug, Default)]
struct Mailer {
    calls: Mutex<Vec<String>>,
}

impl Mailer {
    fn send(&self, answer: Answer, key: &str) -> Result<usize, MailError> {
        let calls = {
            let mut calls = self.calls.lock().unwrap();
            calls.push(key.to_owned());
            calls.len()
        };
        match answer {
            Answer::Sent => Ok(calls),
            Answer::Busy => Err(MailError::Busy),
            Answer::NoSuchAddress => Err(MailError::NoSuchAddress),
            Answer::Timeout => Err(MailError::Timeout),
            Answer::Panic => panic!("the mailer panics"),
        }
    }

    fn calls(&self) -> usize {
        self.calls.lock().unwrap().len()
    }
}

#[derive(Debug, thiserror::Error)]
enum MailError {
    #[error("the server is busy")]
    Busy,
    #[error("there is no such address")]
    NoSuchAddress,
    #[error("no answer in time")]
    Timeout,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    #[error(transparent)]
    Inbox(#[from] Error),
}

impl MailError {
    fn effect(&self) -> Effect {
        match self {
            Self::Busy => Effect::NotHappened,
            Self::NoSuchAddress => Effect::Rejected,
            Self::Timeout | Self::Database(_) | Self::Inbox(_) => Effect::Unknown,
        }
    }
}

const CONSUMER: &str = "email";

#[idempotent(consumer = CONSUMER, key = msg.id, two_phase)]
async fn send(claim: &Claim<Db>, mailer: &Mailer, msg: &Receipt) -> Result<usize, MailError> {
    mailer.send(msg.answer, claim.idempotency_key())
}

#[idempotent(
    consumer = CONSUMER,
    key = msg.id,
    two_phase(
        on_unknown = retry,
        classify = MailError::effect,
        lease = "20s",
        max_attempts = 3,
        horizon = "2h",
        payload = msg,
    ),
)]
async fn send_again(claim: &Claim<Db>, mailer: &Mailer, msg: &Receipt) -> Result<u32, MailError> {
    mailer.send(msg.answer, claim.idempotency_key())?;
    Ok(claim.attempt())
}

/// What the row says: state, attempts, and the text of the last error.
async fn row(bench: &Bench) -> (MessageState, u32, Option<String>) {
    let status = bench.inbox.status(CONSUMER, "m1").await.unwrap().unwrap();
    let error = text(bench, "select last_error from inbox where message_id = ?").await;
    (status.state, status.attempts, error)
}

async fn text(bench: &Bench, query: &'static str) -> Option<String> {
    let query = sqlx::query_scalar::<Db, Option<String>>(sql(query)).bind("m1".to_owned());
    query.fetch_one(&bench.observer).await.unwrap()
}

/// As if the back-off were over.
async fn make_due(bench: &Bench) {
    let past = dialect::in_seconds(-1);
    bench
        .observe(&format!(
            "update inbox set next_at = {past} where state = 1"
        ))
        .await;
}

#[tokio::test]
async fn what_is_processed_is_not_sent_again() {
    let bench = Bench::new().await;
    let (mailer, msg) = (Mailer::default(), Receipt::new(Answer::Sent));

    let first = send(&bench.inbox, &mailer, &msg).await.unwrap();
    assert_eq!(first, Outcome::Processed(1));
    assert_eq!(row(&bench).await, (MessageState::Processed, 1, None));

    let second = send(&bench.inbox, &mailer, &msg).await.unwrap();
    assert_eq!(second, Outcome::Duplicate);
    assert_eq!(mailer.calls(), 1);
    assert_eq!(
        text(&bench, "select payload from inbox where message_id = ?").await,
        None
    );
    bench.expect_sane_pool().await;
}

#[tokio::test]
async fn an_unclassified_error_is_parked_with_its_text_and_comes_back_untouched() {
    let bench = Bench::new().await;
    let mailer = Mailer::default();
    let msg = Receipt::new(Answer::Busy);

    let error = send(&bench.inbox, &mailer, &msg).await.unwrap_err();
    assert!(matches!(error, MailError::Busy), "{error:?}");
    let text = Some("the server is busy".to_owned());
    assert_eq!(row(&bench).await, (MessageState::Parked, 1, text));

    let error = send(&bench.inbox, &mailer, &Receipt::new(Answer::Sent))
        .await
        .unwrap_err();
    assert!(
        matches!(error, MailError::Inbox(Error::Parked { .. })),
        "{error:?}"
    );
    assert_eq!(mailer.calls(), 1);
}

#[tokio::test]
async fn what_has_not_happened_is_released_and_runs_again_with_the_same_key() {
    let bench = Bench::new().await;
    let mailer = Mailer::default();

    let busy = Receipt::new(Answer::Busy);
    let error = send_again(&bench.inbox, &mailer, &busy).await.unwrap_err();
    assert!(matches!(error, MailError::Busy), "{error:?}");
    let text = Some("the server is busy".to_owned());
    assert_eq!(row(&bench).await, (MessageState::Released, 1, text));

    make_due(&bench).await;
    let sent = Receipt::new(Answer::Sent);
    let outcome = send_again(&bench.inbox, &mailer, &sent).await.unwrap();
    assert_eq!(outcome, Outcome::Processed(2));
    assert_eq!(row(&bench).await, (MessageState::Processed, 2, None));
    let calls = mailer.calls.lock().unwrap().clone();
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[0], calls[1]);
}

#[tokio::test]
async fn what_is_rejected_is_parked_and_what_is_unknown_is_retried_up_to_the_limit() {
    let bench = Bench::new().await;
    let mailer = Mailer::default();

    let timeout = Receipt::new(Answer::Timeout);
    for attempt in 1..=3 {
        let error = send_again(&bench.inbox, &mailer, &timeout)
            .await
            .unwrap_err();
        assert!(matches!(error, MailError::Timeout), "{error:?}");
        let state = match attempt {
            3 => MessageState::Parked,
            _ => MessageState::Released,
        };
        let text = Some("no answer in time".to_owned());
        assert_eq!(row(&bench).await, (state, attempt, text));
        make_due(&bench).await;
    }

    let mut rejected = Receipt::new(Answer::NoSuchAddress);
    rejected.id = "m2".into();
    let error = send_again(&bench.inbox, &mailer, &rejected)
        .await
        .unwrap_err();
    assert!(matches!(error, MailError::NoSuchAddress), "{error:?}");
    let status = bench.inbox.status(CONSUMER, "m2").await.unwrap().unwrap();
    assert_eq!((status.state, status.attempts), (MessageState::Parked, 1));
}

#[tokio::test]
async fn the_terms_and_the_payload_are_in_the_row() {
    let bench = Bench::new().await;
    let mailer = Mailer::default();
    // Parked payloads are kept, those of processed messages need not be.
    let msg = Receipt::new(Answer::NoSuchAddress);
    send_again(&bench.inbox, &mailer, &msg).await.unwrap_err();

    let json = text(&bench, "select payload from inbox where message_id = ?").await;
    assert_eq!(
        json.as_deref(),
        Some(r#"{"id":"m1","to":"ada@example.org"}"#)
    );
    let fits = "select count(*) from inbox where message_id = ? \
                and on_unknown = 1 and max_attempts = 3 and horizon_ms = 7200000";
    assert_eq!(bench.number(fits, &["m1"]).await, 1);
}

#[tokio::test]
async fn a_panic_of_the_body_is_an_unknown_outcome_and_reaches_the_caller() {
    let bench = Bench::new().await;
    for (retry, state) in [
        (false, MessageState::Parked),
        (true, MessageState::Released),
    ] {
        bench.observe("delete from inbox").await;
        let inbox = bench.inbox.clone();
        // The future is `Send`.
        let task = tokio::spawn(async move {
            let (mailer, msg) = (Mailer::default(), Receipt::new(Answer::Panic));
            if retry {
                send_again(&inbox, &mailer, &msg).await.map(drop)
            } else {
                send(&inbox, &mailer, &msg).await.map(drop)
            }
        });
        let panic = task.await.unwrap_err().into_panic();
        assert_eq!(panic.downcast_ref(), Some(&"the mailer panics"));
        let text = Some("the body panicked".to_owned());
        assert_eq!(row(&bench).await, (state, 1, text));
    }
    bench.expect_sane_pool().await;
}

/// What the effect has brought.
#[derive(Debug)]
struct Sent {
    key: String,
    /// How often the hook fails before it succeeds.
    failures: AtomicU32,
    hook: Hook,
}

#[derive(Debug, Clone, Copy)]
enum Hook {
    Works,
    SaysNo,
    LosesItsConnection,
    Panics,
}

async fn save(tx: &mut Conn, sent: &Sent) -> Result<(), MailError> {
    sqlx::query::<Db>(sql("insert into ledger (message, amount) values (?, 1)"))
        .bind(sent.key.clone())
        .execute(&mut *tx)
        .await?;
    let failing = sent.failures.load(Ordering::SeqCst) > 0;
    if failing {
        sent.failures.fetch_sub(1, Ordering::SeqCst);
    }
    match sent.hook {
        Hook::Works => Ok(()),
        _ if !failing => Ok(()),
        Hook::SaysNo => Err(MailError::NoSuchAddress),
        Hook::LosesItsConnection => {
            Err(sqlx::Error::Io(std::io::ErrorKind::ConnectionReset.into()).into())
        }
        Hook::Panics => panic!("the hook panics"),
    }
}

#[idempotent(consumer = CONSUMER, key = key, two_phase(record = save))]
async fn send_and_save(
    claim: &Claim<Db>,
    mailer: &Mailer,
    key: &str,
    (hook, failures): (Hook, u32),
) -> Result<Sent, MailError> {
    mailer.send(Answer::Sent, claim.idempotency_key())?;
    let failures = failures.into();
    Ok(Sent {
        key: key.to_owned(),
        failures,
        hook,
    })
}

/// The same with an error type that hides what is in it.
#[idempotent(consumer = CONSUMER, key = key, two_phase(record = save_anyhow, classify = unsure))]
async fn send_and_save_anyhow(_: &Claim<Db>, key: &str, failures: u32) -> anyhow::Result<Sent> {
    let failures = failures.into();
    Ok(Sent {
        key: key.to_owned(),
        failures,
        hook: Hook::LosesItsConnection,
    })
}

async fn save_anyhow(tx: &mut Conn, sent: &Sent) -> anyhow::Result<()> {
    Ok(save(tx, sent).await?)
}

fn unsure(_: &anyhow::Error) -> Effect {
    Effect::Unknown
}

#[tokio::test]
async fn what_the_hook_writes_is_there_exactly_when_the_message_is_processed() {
    let bench = Bench::new().await;
    let mailer = Mailer::default();

    let outcome = send_and_save(&bench.inbox, &mailer, "m1", (Hook::Works, 0))
        .await
        .unwrap();
    assert_eq!(outcome.into_value().unwrap().key, "m1");
    assert_eq!(row(&bench).await, (MessageState::Processed, 1, None));
    assert_eq!(bench.effects("m1").await, 1);

    let outcome = send_and_save(&bench.inbox, &mailer, "m1", (Hook::Works, 0))
        .await
        .unwrap();
    assert!(outcome.is_duplicate());
    assert_eq!((bench.effects("m1").await, mailer.calls()), (1, 1));
    bench.expect_sane_pool().await;
}

#[tokio::test]
async fn a_hook_that_fails_for_good_leaves_the_outcome_unknown_and_nothing_written() {
    let bench = Bench::new().await;
    let mailer = Mailer::default();

    let error = send_and_save(&bench.inbox, &mailer, "m1", (Hook::SaysNo, 9))
        .await
        .unwrap_err();
    assert!(matches!(error, MailError::NoSuchAddress), "{error:?}");
    let text = "the effect happened, recording it failed: there is no such address";
    assert_eq!(
        row(&bench).await,
        (MessageState::Parked, 1, Some(text.to_owned()))
    );
    assert_eq!((bench.effects("m1").await, mailer.calls()), (0, 1));
    bench.expect_sane_pool().await;
}

#[tokio::test]
async fn a_hook_alone_is_tried_again_when_the_database_is_to_blame() {
    let bench = Bench::new().await;
    let mailer = Mailer::default();

    let lost = (Hook::LosesItsConnection, 2);
    let outcome = send_and_save(&bench.inbox, &mailer, "m1", lost)
        .await
        .unwrap();
    assert!(!outcome.is_duplicate());
    assert_eq!(row(&bench).await, (MessageState::Processed, 1, None));
    assert_eq!((bench.effects("m1").await, mailer.calls()), (1, 1));

    let outcome = send_and_save_anyhow(&bench.inbox, "m2", 2).await.unwrap();
    assert!(!outcome.is_duplicate());
    assert_eq!(bench.effects("m2").await, 1);

    // Not for ever.
    let lost = (Hook::LosesItsConnection, 9);
    let error = send_and_save(&bench.inbox, &mailer, "m3", lost)
        .await
        .unwrap_err();
    assert!(matches!(error, MailError::Database(_)), "{error:?}");
    assert_eq!((bench.effects("m3").await, mailer.calls()), (0, 2));
    bench.expect_sane_pool().await;
}

#[tokio::test]
async fn a_hook_that_panics_leaves_the_outcome_unknown_too() {
    let bench = Bench::new().await;
    let inbox = bench.inbox.clone();
    let task = tokio::spawn(async move {
        let mailer = Mailer::default();
        send_and_save(&inbox, &mailer, "m1", (Hook::Panics, 1))
            .await
            .map(drop)
    });
    let panic = task.await.unwrap_err().into_panic();
    assert_eq!(panic.downcast_ref(), Some(&"the hook panics"));
    let text = "the effect happened, recording it failed: the hook panicked";
    assert_eq!(
        row(&bench).await,
        (MessageState::Parked, 1, Some(text.to_owned()))
    );
    assert_eq!(bench.effects("m1").await, 0);
    bench.expect_sane_pool().await;
}

/// A service that holds its inbox, and its numbers.
struct Service {
    inbox: Inbox<Db>,
    lease: Duration,
    attempts: u32,
}

impl Service {
    #[idempotent(
        consumer = CONSUMER,
        key = msg.id,
        inbox = self.inbox,
        two_phase(lease = self.lease, max_attempts = self.attempts, payload = (&msg.id, n), record = Self::save),
    )]
    async fn handle(&self, _claim: &Claim<Db>, msg: Receipt, n: u8) -> Result<String, MailError> {
        for tried in 0.. {
            if tried == n {
                return Ok(msg.id);
            }
        }
        Err(MailError::Timeout)
    }

    async fn save(tx: &mut Conn, key: &str) -> Result<(), MailError> {
        sqlx::query::<Db>(sql("insert into ledger (message, amount) values (?, 1)"))
            .bind(key.to_owned())
            .execute(tx)
            .await?;
        Ok(())
    }
}

#[tokio::test]
async fn a_method_knows_its_inbox_and_its_numbers() {
    let bench = Bench::new().await;
    let service = Service {
        inbox: bench.inbox.clone(),
        lease: Duration::from_secs(30),
        attempts: 7,
    };
    let msg = Receipt::new(Answer::Sent);
    let outcome = service.handle(msg.clone(), 3).await.unwrap();
    assert_eq!(outcome, Outcome::Processed("m1".to_owned()));
    assert_eq!(bench.effects("m1").await, 1);

    // What is wrong with computed numbers is said before anything is touched.
    let service = Service {
        lease: Duration::ZERO,
        ..service
    };
    let mut other = msg;
    other.id = "m2".into();
    let error = service.handle(other, 3).await.unwrap_err();
    assert!(
        matches!(error, MailError::Inbox(Error::Config(_))),
        "{error:?}"
    );
    assert_eq!(bench.inbox.status(CONSUMER, "m2").await.unwrap(), None);
}

/// Generic over the database, with a pool for the effect, and an error type that is neither text nor error.
#[idempotent(consumer = "generic", key = id, two_phase(on_unknown = retry))]
async fn generic<DB: Backend, F: Future<Output = u64> + Send>(
    mut claim: &Claim<DB>,
    id: u64,
    pool: Pool<DB>,
    effect: impl FnOnce() -> F + Send,
) -> Result<u64, Opaque> {
    claim = std::convert::identity(claim);
    if !claim.is_held() || pool.is_closed() {
        return Err(Opaque);
    }
    Ok(effect().await)
}

#[derive(Debug)]
struct Opaque;

impl From<Error> for Opaque {
    fn from(_: Error) -> Self {
        Self
    }
}

/// An error type that borrows.
#[derive(Debug)]
enum Refused<'a> {
    To(&'a str),
    Inbox(Error),
}

impl std::fmt::Display for Refused<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::To(to) => write!(f, "{to} refuses"),
            Self::Inbox(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Refused<'_> {}

impl From<Error> for Refused<'_> {
    fn from(error: Error) -> Self {
        Self::Inbox(error)
    }
}

#[idempotent(consumer = CONSUMER, key = msg.id, two_phase(record = borrow_and_save))]
async fn borrowing<'a>(_: &Claim<Db>, msg: &'a Receipt) -> Result<&'a str, Refused<'a>> {
    match msg.answer {
        Answer::Sent => Ok(&msg.to),
        _ => Err(Refused::To(&msg.to)),
    }
}

async fn borrow_and_save<'a>(tx: &mut Conn, to: &&'a str) -> Result<(), Refused<'a>> {
    let done = sqlx::query::<Db>(sql("insert into ledger (message, amount) values (?, 1)"))
        .bind((*to).to_owned())
        .execute(tx)
        .await;
    assert!(done.is_ok());
    Err(Refused::To(to))
}

#[tokio::test]
async fn generic_handlers_and_poor_errors_are_welcome() {
    let bench = Bench::new().await;
    let (inbox, pool) = (bench.inbox.clone(), bench.inbox.pool().clone());
    let task = tokio::spawn(async move { generic(&inbox, 7, pool, async || 49).await });
    assert_eq!(task.await.unwrap().unwrap(), Outcome::Processed(49));

    let closed = bench.inbox.pool().clone();
    let inbox = Inbox::<Db>::connect(bench.database.url()).await.unwrap();
    closed.close().await;
    generic(&inbox, 8, closed, async || 64).await.unwrap_err();
    let status = inbox.status("generic", &8_u64).await.unwrap().unwrap();
    assert_eq!(status.state, MessageState::Released);
    let error =
        sqlx::query_scalar::<Db, String>(sql("select last_error from inbox where message_id = ?"));
    let error = error.bind("8").fetch_one(&bench.observer).await.unwrap();
    assert_eq!(error, "the body failed; its error type has no text");
}

#[tokio::test]
async fn an_error_may_borrow_from_the_message() {
    let bench = Bench::new().await;
    for (answer, text) in [
        (Answer::Busy, "ada@example.org refuses"),
        (
            Answer::Sent,
            "the effect happened, recording it failed: ada@example.org refuses",
        ),
    ] {
        bench.observe("delete from inbox").await;
        let msg = Receipt::new(answer);
        let error = borrowing(&bench.inbox, &msg).await.unwrap_err();
        assert!(matches!(error, Refused::To("ada@example.org")), "{error:?}");
        assert_eq!(
            row(&bench).await,
            (MessageState::Parked, 1, Some(text.to_owned()))
        );
    }
}
