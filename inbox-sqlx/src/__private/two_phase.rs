//! What generated code calls in two-phase mode.

use std::{error::Error as StdError, marker::PhantomData, panic::AssertUnwindSafe, time::Duration};

use futures_util::FutureExt as _;
use inbox_core::{
    Consumer, Key, KeyError, Outcome,
    two_phase::{
        Backoff, DEFAULT_HORIZON, DEFAULT_LEASE, DEFAULT_MAX_ATTEMPTS, Effect, OnUnknown, Policy,
        Terms,
    },
};

use tracing::{Instrument as _, Span};

use super::Site;
pub use crate::two_phase::{Ended, Recording, TwoPhase};
use crate::{
    backend::{Backend, fault},
    error::Error,
    inbox::Inbox,
    two_phase::{self, Claim, RECORD_TRIES, Settled},
};

/// `on_unknown`, as the attribute reads it.
#[derive(Debug, Clone, Copy)]
pub enum Unknown {
    /// `park`.
    Park,
    /// `retry`.
    Retry,
}

/// What the arguments of `two_phase(..)` say, defaults filled in.
///
/// # Errors
///
/// [`Error::Config`] if they do not fit together.
pub fn terms(
    on_unknown: Unknown,
    lease: Option<Duration>,
    max_attempts: Option<u32>,
    horizon: Option<Duration>,
) -> Result<Terms, Error> {
    let on_unknown = match on_unknown {
        Unknown::Park => OnUnknown::Park,
        Unknown::Retry => OnUnknown::Retry {
            horizon: horizon.unwrap_or(DEFAULT_HORIZON),
        },
    };
    let policy = Policy::new(on_unknown, max_attempts.unwrap_or(DEFAULT_MAX_ATTEMPTS))?;
    let lease = lease.unwrap_or(DEFAULT_LEASE);
    Ok(Terms::new(lease, policy, Backoff::default())?)
}

/// The message as the row keeps it for the sweeper.
///
/// # Errors
///
/// [`Error::Config`] if it cannot be written as JSON or is too long.
pub fn payload<T: serde::Serialize + ?Sized>(value: &T) -> Result<String, Error> {
    two_phase::payload(value)
}

/// Claims the message for an effect, and notices a second handler of the same consumer name.
///
/// # Errors
///
/// See [`Inbox::claim`].
pub async fn claim<DB: Backend>(
    inbox: &Inbox<DB>,
    consumer: &'static str,
    key: Result<Key, KeyError>,
    site: &'static Site,
    terms: Result<Terms, Error>,
    payload: Option<Result<String, Error>>,
) -> Result<TwoPhase<DB>, Error> {
    let key = key?;
    let name = Consumer::new(consumer)?;
    let terms = terms?;
    let payload = payload.transpose()?;
    inbox.handlers().note(consumer, site);
    two_phase::claim(inbox, name, key, terms, payload).await
}

/// Runs the body until it ends or the claim is lost.
pub async fn run<DB: Backend, F: Future>(claim: &Claim<DB>, body: F) -> Ended<F::Output> {
    claim.run(body).await
}

/// The `Result` of a body, where an alias hides it.
pub fn returned<R, T, E>(
    ended: Ended<R>,
    into_result: fn(R) -> Result<T, E>,
) -> Ended<Result<T, E>> {
    match ended {
        Ended::Returned(result) => Ended::Returned(into_result(result)),
        Ended::Panicked(panic) => Ended::Panicked(panic),
        Ended::LeaseLost => Ended::LeaseLost,
    }
}

/// What generated code knows about a handler's error type.
#[derive(Debug)]
pub struct ErrorKind<E> {
    /// Makes it from ours.
    pub from_inbox: fn(Error) -> E,
    /// What the handler's `classify` says; [`unknown`] without one.
    pub classify: fn(&E) -> Effect,
    /// Its text; see [`ErrorText`].
    pub text: fn(&E) -> String,
    /// Its chain; see [`ErrorChain`].
    pub chain: fn(&E) -> Option<&(dyn StdError + 'static)>,
}

/// What an error says about the effect if nobody says otherwise.
pub fn unknown<E>(_: &E) -> Effect {
    Effect::Unknown
}

/// Chooses how an error is written down: the inherent function wins where it can be displayed.
#[derive(Debug)]
pub struct ErrorText<E>(PhantomData<fn() -> E>);

impl<E: std::fmt::Display> ErrorText<E> {
    /// Its own text, as long as a row keeps it.
    pub fn text() -> fn(&E) -> String {
        |error| two_phase::short(error)
    }
}

/// The rest.
pub trait NoText<E> {
    /// A text that says that there is none.
    fn text() -> fn(&E) -> String {
        |_| "the body failed; its error type has no text".into()
    }
}

impl<E> NoText<E> for ErrorText<E> {}

/// Chooses how an error's chain is looked at: `(&ErrorChain::<E>::new()).chain()` finds the inherent method
/// where it is a `std` error, [`SharedChain`]'s where it hides one, and [`NoChain`]'s, one reference further
/// away, for the rest.
#[derive(Debug)]
pub struct ErrorChain<E>(PhantomData<fn() -> E>);

impl<E> ErrorChain<E> {
    /// The choice is made by calling `chain`.
    #[expect(clippy::new_without_default, reason = "for generated code only")]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<E: StdError + 'static> ErrorChain<E> {
    /// The error itself.
    pub fn chain(&self) -> fn(&E) -> Option<&(dyn StdError + 'static)> {
        |error| Some(error)
    }
}

/// `anyhow::Error`, `Box<dyn Error + Send + Sync>` and the like.
pub trait SharedChain<E> {
    /// The error inside.
    fn chain(&self) -> fn(&E) -> Option<&(dyn StdError + 'static)>;
}

impl<E: AsRef<dyn StdError + Send + Sync + 'static>> SharedChain<E> for ErrorChain<E> {
    fn chain(&self) -> fn(&E) -> Option<&(dyn StdError + 'static)> {
        |error| Some(error.as_ref())
    }
}

/// The rest.
pub trait NoChain<E> {
    /// Nothing.
    fn chain(&self) -> fn(&E) -> Option<&(dyn StdError + 'static)> {
        |_| None
    }
}

impl<E> NoChain<E> for &ErrorChain<E> {}

/// Ends a claim without a `record` hook.
///
/// # Errors
///
/// See [`Claim::settle`].
pub async fn finish<DB: Backend, T, E>(
    claim: Claim<DB>,
    ended: Ended<Result<T, E>>,
    error: &ErrorKind<E>,
) -> Result<Outcome<T>, E> {
    match ended {
        Ended::Returned(result) => {
            let failure = match &result {
                Ok(_) => None,
                Err(body) => Some(((error.classify)(body), (error.text)(body))),
            };
            match two_phase::settle(claim, failure).await {
                Settled::Recorded | Settled::NotRecorded => two_phase::outcome(result),
                Settled::Duplicate => Ok(Outcome::Duplicate),
                Settled::Failed(ours) => Err((error.from_inbox)(ours)),
            }
        }
        Ended::Panicked(panic) => {
            two_phase::note_panic(claim).await;
            std::panic::resume_unwind(panic)
        }
        Ended::LeaseLost => match two_phase::after_loss(claim).await {
            Settled::Duplicate => Ok(Outcome::Duplicate),
            Settled::Failed(ours) => Err((error.from_inbox)(ours)),
            Settled::Recorded | Settled::NotRecorded => {
                unreachable!("a claim that was lost is neither recorded nor noted as failed")
            }
        },
    }
}

/// Ends a claim with a `record` hook: what the hook writes and `processed_at` are committed together.
///
/// Generated code calls the hook itself, between [`begin`](Self::begin) and [`end`](Self::end), as often as
/// there is a transaction for it.
#[derive(Debug)]
pub struct Recorder<DB: Backend, T, E> {
    /// Until it is settled.
    claim: Option<Claim<DB>>,
    value: Option<T>,
    recording: Option<Recording<DB>>,
    tries: u32,
    error: ErrorKind<E>,
    /// What the handler returns, as soon as it is known.
    result: Option<Result<Outcome<T>, E>>,
}

impl<DB: Backend, T, E> Recorder<DB, T, E> {
    /// A body that did not return `Ok` has nothing to record: its claim is settled at once.
    pub async fn new(claim: Claim<DB>, ended: Ended<Result<T, E>>, error: ErrorKind<E>) -> Self {
        let (claim, value, result) = match ended {
            Ended::Returned(Ok(value)) => (Some(claim), Some(value), None),
            ended => (None, None, Some(finish(claim, ended, &error).await)),
        };
        Self {
            claim,
            value,
            recording: None,
            tries: 0,
            error,
            result,
        }
    }

    /// A transaction for the hook, in which `processed_at` is set already; `None` when all is done.
    pub async fn begin(&mut self) -> Option<(Span, &mut DB::Connection, &T)> {
        while self.result.is_none() {
            let claim = self.claim.as_ref()?;
            self.tries += 1;
            match Recording::begin(claim, self.tries).await {
                Ok(recording) => {
                    let recording = self.recording.insert(recording);
                    let value = self.value.as_ref()?;
                    return Some((claim.span(), recording.connection(), value));
                }
                Err(settled) => self.settle(settled).await,
            }
        }
        None
    }

    /// Ends the transaction by what became of the hook.
    pub async fn end(&mut self, saved: Hooked<E>) {
        let (Some(claim), Some(recording)) = (&self.claim, self.recording.take()) else {
            return;
        };
        match saved {
            Ok(Ok(())) => {
                let settled = recording.commit().await;
                self.settle(settled).await;
            }
            Ok(Err(body)) => {
                let chain = (self.error.chain)(&body);
                let again = chain.is_some_and(|chain| recording.retries(chain));
                recording.give_up();
                if again {
                    two_phase::pause().await;
                } else {
                    let text = (self.error.text)(&body);
                    two_phase::note_unrecorded(claim, &text).await;
                    self.result = Some(Err(body));
                }
            }
            Err(panic) => {
                recording.give_up();
                two_phase::note_unrecorded(claim, "the hook panicked").await;
                std::panic::resume_unwind(panic)
            }
        }
    }

    /// What the handler returns.
    ///
    /// # Errors
    ///
    /// The body's or the hook's own; ours, if the claim was lost or could not be recorded.
    ///
    /// # Panics
    ///
    /// Before [`begin`](Self::begin) has returned `None`.
    pub fn finish(self) -> Result<Outcome<T>, E> {
        self.result.expect("the claim has been settled")
    }

    /// Ends the claim, or leaves it for another try.
    async fn settle(&mut self, settled: Settled) {
        let result = match settled {
            // The effect has happened, so it is worth some patience. Whether an earlier try was committed
            // without an answer is seen by the next one.
            Settled::Failed(Error::Unknown { source, .. })
                if self.tries < RECORD_TRIES && fault(&source).is_transient() =>
            {
                return two_phase::pause().await;
            }
            Settled::Failed(ours) => Err((self.error.from_inbox)(ours)),
            Settled::Duplicate => Ok(Outcome::Duplicate),
            Settled::Recorded | Settled::NotRecorded => match self.value.take() {
                Some(value) => Ok(Outcome::Processed(value)),
                None => return,
            },
        };
        self.result = Some(result);
    }
}

/// What became of a hook: what it returned, or its panic.
pub type Hooked<E> = std::thread::Result<Result<(), E>>;

/// What calling a `record` hook makes.
#[diagnostic::on_unimplemented(
    message = "a `record` hook is `async` and returns `Result<(), {E}>`",
    label = "calling it makes `{Self}`",
    note = "`async fn save(tx: &mut PgConnection, value: &T) -> Result<(), {E}>`, with the handler's own value and error"
)]
pub trait Hook<E> {
    /// Itself.
    type Future: Future<Output = Result<(), E>>;

    /// Itself.
    fn into_future(self) -> Self::Future;
}

#[diagnostic::do_not_recommend]
impl<E, F: Future<Output = Result<(), E>>> Hook<E> for F {
    type Future = F;

    fn into_future(self) -> F {
        self
    }
}

/// Runs a `record` hook to its end, a panic included. It is never stopped: its transaction holds the row, and
/// nobody can take over.
///
/// # Errors
///
/// The panic.
pub async fn hook<E, H: Hook<E>>(span: Span, hook: H) -> Hooked<E> {
    let hook = hook.into_future().instrument(span);
    AssertUnwindSafe(hook).catch_unwind().await
}
