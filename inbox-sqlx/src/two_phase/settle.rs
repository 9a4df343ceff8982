//! Ends a two-phase claim: recorded, put back or parked.

use std::{fmt, panic::AssertUnwindSafe, time::Duration};

use futures_util::FutureExt as _;
use inbox_core::{
    Outcome,
    two_phase::{Effect, State},
};

use super::{claim::Claim, inspect, random, session::Session};
use crate::{
    backend::{Backend, Fault, driver::Driver as _, fault, fault_of_link, leases::Leases as _},
    claim::outcome_of,
    error::{Error, MessageRef},
    guard::Guard,
    inbox::Inbox,
    transaction::Transaction,
};

/// How often recording is tried: the effect has happened, so it is worth some patience.
pub(crate) const RECORD_TRIES: u32 = 4;

/// Between two tries.
const RECORD_PAUSE: Duration = Duration::from_millis(200);

/// How much of an error's text is kept in the row, in bytes.
const MAX_ERROR_BYTES: usize = 500;

/// How a body ended.
#[derive(Debug)]
pub enum Ended<R> {
    /// It returned.
    Returned(R),
    /// It panicked; the panic goes on when the claim has been settled.
    Panicked(Box<dyn std::any::Any + Send>),
    /// It was stopped, because the claim was lost.
    LeaseLost,
}

/// Runs a body to its end, a panic included.
pub(super) async fn caught<F: Future>(body: F) -> Ended<F::Output> {
    match AssertUnwindSafe(body).catch_unwind().await {
        Ok(result) => Ended::Returned(result),
        Err(panic) => Ended::Panicked(panic),
    }
}

/// What became of a claim.
pub(crate) enum Settled {
    /// Processed, and recorded by us.
    Recorded,
    /// The body failed, and the row says so as far as it could be written: return the body's error.
    NotRecorded,
    /// Processed by somebody else: acknowledge.
    Duplicate,
    /// Return this instead of what the body returned.
    Failed(Error),
}

/// Records (`None`), or puts back or parks with what is known of the effect and the error's text.
pub(crate) async fn settle<DB: Backend>(
    claim: Claim<DB>,
    failure: Option<(Effect, String)>,
) -> Settled {
    let span = claim.span.clone();
    let settled = match failure {
        None => record(&claim).await,
        Some((effect, text)) => fail(&claim, effect, &text).await,
    };
    span.record(
        "outcome",
        match &settled {
            Settled::Recorded => "processed",
            Settled::NotRecorded => "failed",
            Settled::Duplicate => "duplicate",
            Settled::Failed(error) => outcome_of(error),
        },
    );
    settled
}

/// The value, or the body's own error.
pub(crate) fn outcome<T, E>(result: Result<T, E>) -> Result<Outcome<T>, E> {
    result.map(Outcome::Processed)
}

/// Sets `processed_at`. Safe to repeat: a record that went through finds itself by fence and token.
async fn record<DB: Backend>(claim: &Claim<DB>) -> Settled {
    let mut tries = 1;
    loop {
        match try_record(claim).await {
            Err(Error::Database(error)) if tries < RECORD_TRIES && fault(&error).is_transient() => {
                tries += 1;
                tokio::time::sleep(RECORD_PAUSE).await;
            }
            Err(Error::Database(source)) => {
                let message = claim.message.clone();
                return Settled::Failed(Error::Unknown { message, source });
            }
            Err(error) => return Settled::Failed(error),
            Ok(settled) => return settled,
        }
    }
}

async fn try_record<DB: Backend>(claim: &Claim<DB>) -> Result<Settled, Error> {
    let inbox = &claim.inbox;
    let mut session = Session::open(inbox).await?;
    let conn = session.connection();
    let recorded = DB::Driver::record(conn, inbox.leases(), claim.row, claim.held)
        .await
        .map_err(|error| inbox.refusal(error))?;
    session.commit().await?;
    if recorded {
        return Ok(Settled::Recorded);
    }
    lost(claim).await
}

/// Nothing matched our fence and token: what stands there now?
async fn lost<DB: Backend>(claim: &Claim<DB>) -> Result<Settled, Error> {
    let found = inspect(&claim.inbox, &claim.message).await?;
    let lease_lost = || {
        Settled::Failed(Error::LeaseLost {
            message: claim.message.clone(),
        })
    };
    Ok(match found {
        Some(found) if found.row.state == State::Processed => {
            if found.row.is_held_by(claim.held) {
                Settled::Recorded
            } else {
                Settled::Duplicate
            }
        }
        _ => lease_lost(),
    })
}

/// Puts back or parks. If that cannot be written, the lease runs out, and the outcome counts as unknown.
async fn fail<DB: Backend>(claim: &Claim<DB>, effect: Effect, text: &str) -> Settled {
    let random = u64::from_le_bytes(random());
    let delay = claim.terms.backoff().delay(claim.attempt(), random);
    match try_fail(claim, effect, delay, text).await {
        Ok(true) => Settled::NotRecorded,
        Ok(false) => match lost(claim).await {
            // Somebody else did it, or will: that is what the caller has to know.
            Ok(Settled::Duplicate) => Settled::Duplicate,
            // Our own failure is known no more than before; the body's error tells it best.
            Ok(_) | Err(_) => Settled::NotRecorded,
        },
        Err(error) => {
            tracing::warn!(
                parent: &claim.span,
                error = &error as &dyn std::error::Error,
                "a failed attempt could not be noted; it counts as unknown when its lease is over"
            );
            Settled::NotRecorded
        }
    }
}

async fn try_fail<DB: Backend>(
    claim: &Claim<DB>,
    effect: Effect,
    delay: Duration,
    text: &str,
) -> Result<bool, Error> {
    let inbox = &claim.inbox;
    let mut session = Session::open(inbox).await?;
    let conn = session.connection();
    let sql = inbox.leases();
    let noted = DB::Driver::fail(conn, sql, claim.row, claim.held, effect, delay, text)
        .await
        .map_err(|error| inbox.refusal(error))?;
    session.commit().await?;
    Ok(noted)
}

/// The transaction in which a `record` hook runs and `processed_at` is set.
#[derive(Debug)]
pub struct Recording<DB: Backend> {
    inbox: Inbox<DB>,
    guard: Guard<DB>,
    message: MessageRef,
    tries: u32,
}

impl<DB: Backend> Recording<DB> {
    /// Begins it, and sets `processed_at` first: the row is locked, and nobody else can take over while the
    /// hook runs. `Err` tells how the claim ended instead.
    pub(crate) async fn begin(claim: &Claim<DB>, tries: u32) -> Result<Self, Settled> {
        let inbox = claim.inbox.clone();
        let begun = async {
            let mut transaction = Transaction::begin(&inbox).await?;
            let conn = transaction.connection();
            let recorded = DB::Driver::record(conn, inbox.leases(), claim.row, claim.held)
                .await
                .map_err(|error| inbox.refusal(error))?;
            Ok((recorded, transaction.into_guard()))
        };
        match begun.await {
            Ok((true, guard)) => Ok(Self {
                inbox: inbox.clone(),
                guard,
                message: claim.message.clone(),
                tries,
            }),
            Ok((false, guard)) => {
                guard.roll_back_and_release();
                Err(lost(claim).await.unwrap_or_else(Settled::Failed))
            }
            Err(Error::Database(source)) => Err(Settled::Failed(Error::Unknown {
                message: claim.message.clone(),
                source,
            })),
            Err(error) => Err(Settled::Failed(error)),
        }
    }

    /// What the hook writes on.
    pub fn connection(&mut self) -> &mut DB::Connection {
        self.guard.connection()
    }

    /// Commits what the hook wrote together with `processed_at`.
    pub(crate) async fn commit(mut self) -> Settled {
        let sql = self.inbox.statements();
        match DB::Driver::seal_and_commit(self.guard.connection(), sql).await {
            Ok(()) => {
                self.guard.release();
                Settled::Recorded
            }
            Err(error) => Settled::Failed(match fault(&error) {
                Fault::Aborted | Fault::SavepointMissing => Error::TransactionAborted {
                    message: self.message,
                    source: error,
                },
                _ => Error::Unknown {
                    message: self.message,
                    source: error,
                },
            }),
        }
    }

    /// Whether the hook alone is worth another try after this error.
    pub(crate) fn retries(&self, error: &(dyn std::error::Error + 'static)) -> bool {
        self.tries < RECORD_TRIES
            && crate::error::chain(error)
                .filter_map(fault_of_link)
                .any(Fault::is_transient)
    }
}

impl<DB: Backend> Recording<DB> {
    /// The hook failed: nothing of it is kept.
    pub(crate) fn give_up(self) {
        self.guard.roll_back_and_release();
    }
}

/// The body panicked: nobody knows what it did before.
pub(crate) async fn note_panic<DB: Backend>(claim: Claim<DB>) {
    drop(settle(claim, Some((Effect::Unknown, "the body panicked".into()))).await);
}

/// The effect happened, and what the hook had to write down of it could not be.
pub(crate) async fn note_unrecorded<DB: Backend>(claim: &Claim<DB>, text: &str) {
    let text = short(&format!("the effect happened, recording it failed: {text}"));
    drop(fail(claim, Effect::Unknown, &text).await);
    claim.span.record("outcome", "not recorded");
}

/// The body was stopped because its claim was lost: who has the message now?
pub(crate) async fn after_loss<DB: Backend>(claim: Claim<DB>) -> Settled {
    let settled = match lost(&claim).await {
        // Nobody took over yet, but the lease could not be renewed, and the body was stopped.
        Ok(Settled::Recorded) | Err(_) => Settled::Failed(Error::LeaseLost {
            message: claim.message.clone(),
        }),
        Ok(settled) => settled,
    };
    claim.span.record("outcome", "lease lost");
    settled
}

/// Between two tries of a hook.
pub(crate) async fn pause() {
    tokio::time::sleep(RECORD_PAUSE).await;
}

/// The text of an error, as long as a row keeps it.
pub(crate) fn short(error: &impl fmt::Display) -> String {
    let mut text = error.to_string();
    text.truncate(text.floor_char_boundary(MAX_ERROR_BYTES));
    // PostgreSQL cannot store it.
    text.replace('\0', "\u{fffd}")
}
