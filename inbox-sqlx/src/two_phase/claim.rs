//! `Claim`: what a two-phase body is handed, and what a hand-written handler settles.

use std::{fmt, sync::Arc};

use inbox_core::{
    Consumer, Key,
    two_phase::{Effect, Held, Terms},
};
use tracing::{Instrument as _, Span};

use super::{
    renewal::{Renewal, Tenure},
    settle::{self, Ended, Settled},
};
use crate::{
    backend::{Backend, leases::Granted},
    error::{Error, MessageRef},
    inbox::Inbox,
};

/// What became of a two-phase claim.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "it is taken apart at once")]
#[must_use = "a claim that is dropped is taken over or parked when its lease is over"]
pub enum TwoPhase<DB: Backend> {
    /// The message is ours: have the effect, then [`Claim::settle`].
    Fresh(Claim<DB>),
    /// The message was processed before: acknowledge it.
    Duplicate,
}

/// A claim that is committed, for an effect outside the database.
///
/// Its lease is renewed in the background until it is settled or dropped.
///
/// # Drop
///
/// Dropped without [`settle`](Self::settle), the outcome of the effect is unknown, and nobody says so: when
/// the lease is over, the next delivery or the sweeper does what the handler's `on_unknown` says.
#[must_use = "a claim that is dropped is taken over or parked when its lease is over"]
pub struct Claim<DB: Backend> {
    pub(super) inbox: Inbox<DB>,
    pub(super) message: MessageRef,
    pub(super) row: i64,
    pub(super) held: Held,
    pub(super) terms: Terms,
    pub(super) span: Span,
    attempt: u32,
    idempotency_key: String,
    tenure: Arc<Tenure>,
    _renewal: Renewal,
}

impl<DB: Backend> Claim<DB> {
    #[expect(
        clippy::too_many_arguments,
        reason = "one caller, which names them all"
    )]
    pub(super) fn new(
        inbox: Inbox<DB>,
        message: MessageRef,
        granted: Granted,
        held: Held,
        terms: Terms,
        tenure: Arc<Tenure>,
        renewal: Renewal,
        span: Span,
    ) -> Self {
        let idempotency_key = inbox_core::idempotency_key(message.consumer(), message.key());
        Self {
            inbox,
            message,
            row: granted.row,
            held,
            terms,
            span,
            attempt: granted.attempt,
            idempotency_key,
            tenure,
            _renewal: renewal,
        }
    }

    /// What to give the other side as its idempotency key: the same at every attempt, different for every
    /// message and consumer, 64 hexadecimal digits.
    ///
    /// Two pairs of consumer and message id never share one. It is a digest, so it tells nothing about
    /// either.
    pub fn idempotency_key(&self) -> &str {
        &self.idempotency_key
    }

    /// Which attempt this is, beginning with 1. Counted in the claim's own commit, so it also counts
    /// attempts that killed their process.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The fence of this claim: it grows with every claim of the message. For a store that can refuse
    /// writes with an older one.
    pub fn fence(&self) -> i64 {
        self.held.fence
    }

    /// Whether the claim is certainly still ours, as far as this process can tell without asking.
    ///
    /// Look right before the effect. It narrows the gap in which a worker that was paused calls after
    /// somebody took over, and cannot close it.
    pub fn is_held(&self) -> bool {
        self.tenure.is_held()
    }

    /// The consumer the message was delivered to.
    pub fn consumer(&self) -> &Consumer {
        self.message.consumer()
    }

    /// The key of the message.
    pub fn key(&self) -> &Key {
        self.message.key()
    }

    /// The span of everything that is done for this message.
    pub(crate) fn span(&self) -> Span {
        self.span.clone()
    }

    /// Runs the body until it ends or the claim is lost, whichever is first; then the body is dropped.
    pub(crate) async fn run<F: Future>(&self, body: F) -> Ended<F::Output> {
        let body = settle::caught(body.instrument(self.span.clone()));
        tokio::select! {
            // The body first: what it has done is done, whatever became of the lease.
            biased;
            ended = body => ended,
            () = self.tenure.ended() => Ended::LeaseLost,
        }
    }

    /// Ends the claim by what became of the effect.
    ///
    /// `Ok` records that the message is processed. `Err` is judged by `classify`: what did not happen is
    /// put back for another attempt, what was rejected is parked, and what nobody knows is repeated or
    /// parked as the terms say.
    ///
    /// # Errors
    ///
    /// The body's own error, untouched. Or, made by `From`: [`Error::LeaseLost`] if somebody else has the
    /// message by now, [`Error::Unknown`] if the effect happened and could not be recorded.
    ///
    /// # Cancel safety
    ///
    /// Dropped half-way, the outcome is unknown: see [`Claim`].
    pub async fn settle<T, E>(
        self,
        result: Result<T, E>,
        classify: impl FnOnce(&E) -> Effect + Send,
    ) -> Result<inbox_core::Outcome<T>, E>
    where
        T: Send,
        E: From<Error> + fmt::Display + Send,
    {
        let judged = match &result {
            Ok(_) => None,
            Err(error) => Some((classify(error), settle::short(error))),
        };
        match settle::settle(self, judged).await {
            Settled::Recorded | Settled::NotRecorded => settle::outcome(result),
            Settled::Duplicate => Ok(inbox_core::Outcome::Duplicate),
            Settled::Failed(error) => Err(E::from(error)),
        }
    }
}

impl<DB: Backend> fmt::Debug for Claim<DB> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claim")
            .field("message", &self.message)
            .field("attempt", &self.attempt)
            .finish_non_exhaustive()
    }
}
