//! What generated code calls in two-phase mode.

use std::{error::Error as StdError, marker::PhantomData, time::Duration};

use inbox_core::{
    Consumer, Key, KeyError, Outcome,
    two_phase::{
        Backoff, DEFAULT_HORIZON, DEFAULT_LEASE, DEFAULT_MAX_ATTEMPTS, Effect, OnUnknown, Policy,
        Terms,
    },
};

use super::Site;
pub use crate::two_phase::{Ended, Recording, TwoPhase};
use crate::{
    backend::Backend,
    error::Error,
    inbox::Inbox,
    two_phase::{self, Claim, Settled},
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

/// Chooses how an error's chain is looked at: the inherent function wins where it is a `std` error.
#[derive(Debug)]
pub struct ErrorChain<E>(PhantomData<fn() -> E>);

impl<E: StdError + 'static> ErrorChain<E> {
    /// The error itself.
    pub fn chain() -> fn(&E) -> Option<&(dyn StdError + 'static)> {
        |error| Some(error)
    }
}

/// The rest.
pub trait NoChain<E> {
    /// Nothing.
    fn chain() -> fn(&E) -> Option<&(dyn StdError + 'static)> {
        |_| None
    }
}

impl<E> NoChain<E> for ErrorChain<E> {}

/// Ends a claim without a `record` hook.
///
/// # Errors
///
/// See [`Claim::settle`].
pub async fn finish<DB: Backend, T, E>(
    claim: Claim<DB>,
    ended: Ended<Result<T, E>>,
    error: ErrorKind<E>,
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

/// The next step of a claim with a `record` hook.
#[derive(Debug)]
pub enum Step<T, E> {
    /// Run the hook again, in a new transaction.
    Again,
    /// Return this.
    Done(Result<Outcome<T>, E>),
}

/// Begins the transaction of a `record` hook; `tries` counts from 1.
///
/// # Errors
///
/// How the claim ended instead, as what the handler returns.
pub async fn begin_record<DB: Backend, T, E>(
    claim: &Claim<DB>,
    tries: u32,
    error: &ErrorKind<E>,
) -> Result<Recording<DB>, Result<Outcome<T>, E>> {
    Recording::begin(claim, tries)
        .await
        .map_err(|settled| match settled {
            Settled::Failed(ours) => Err((error.from_inbox)(ours)),
            // Processed: by somebody else, or by an earlier try of ours whose answer was lost.
            _ => Ok(Outcome::Duplicate),
        })
}

/// Ends the transaction of a `record` hook by what the hook returned. `value` is handed back by
/// [`Step::Done`].
pub async fn end_record<DB: Backend, E>(
    claim: &Claim<DB>,
    recording: Recording<DB>,
    saved: Result<(), E>,
    error: &ErrorKind<E>,
) -> Step<(), E> {
    match saved {
        Ok(()) => match recording.commit().await {
            Settled::Failed(ours) => Step::Done(Err((error.from_inbox)(ours))),
            _ => Step::Done(Ok(Outcome::Processed(()))),
        },
        Err(body) => {
            if (error.chain)(&body).is_some_and(|chain| recording.retries(chain)) {
                recording.give_up();
                two_phase::pause().await;
                return Step::Again;
            }
            recording.give_up();
            two_phase::note_unrecorded(claim, &(error.text)(&body)).await;
            Step::Done(Err(body))
        }
    }
}
