//! Two-phase mode: commit the claim, run the effect outside any transaction, record that it is done.
//!
//! What is decided stands in `inbox_core::two_phase`; here it is carried out.

mod claim;
mod clock;
mod renewal;
mod session;
mod settle;

use std::time::Duration;

use inbox_core::{
    Consumer, Key,
    two_phase::{Answer, Change, Held, Request, Terms, Token, decide},
};
use tracing::Span;

pub use self::claim::{Claim, TwoPhase};
pub use self::settle::{Ended, Recording};
pub(crate) use self::settle::{
    RECORD_TRIES, Settled, after_loss, note_panic, note_unrecorded, outcome, pause, settle, short,
};
use self::{
    clock::Moment,
    renewal::{Renewal, Tenure},
    session::Session,
};
use crate::{
    backend::{
        Backend, Fault, fault,
        leases::{Granted, Inspected, LeaseClaim, Leases as _, Take as _},
    },
    claim::{outcome_of, token},
    error::{ConfigError, Error, MessageRef},
    inbox::Inbox,
};

/// How often a claim is tried in all: when its answer is lost, when waiters deadlock, and when the row
/// became claimable between the claim and the look.
const TRIES: u32 = 4;

/// The least time a redelivery is asked to wait, so that it does not come back in a busy loop.
const SOONEST: Duration = Duration::from_millis(100);

/// Why a message is parked at a claim if its last attempt left no reason. Of one that was interrupted, the
/// statement says so.
const SPENT: &str = "no attempt is left, or it is too late for another one";

/// Claims a message; see [`Inbox::claim`].
pub(crate) async fn claim<DB: Backend>(
    inbox: &Inbox<DB>,
    consumer: Consumer,
    key: Key,
    terms: Terms,
    payload: Option<String>,
) -> Result<TwoPhase<DB>, Error> {
    let span = tracing::info_span!(
        "inbox",
        consumer = consumer.as_str(),
        mode = "two-phase",
        attempt = tracing::field::Empty,
        key = tracing::field::Empty,
        outcome = tracing::field::Empty,
    );
    if !span.is_disabled() {
        span.record("key", key.short_digest());
    }
    tracing::debug!(parent: &span, key = key.as_str(), "claiming");

    let message = MessageRef::new(consumer, key);
    match try_claim(inbox, &message, terms, payload.as_deref(), &span).await {
        Ok(claimed) => Ok(claimed),
        Err(error) => {
            span.record("outcome", outcome_of(&error));
            Err(error)
        }
    }
}

async fn try_claim<DB: Backend>(
    inbox: &Inbox<DB>,
    message: &MessageRef,
    terms: Terms,
    payload: Option<&str>,
    span: &Span,
) -> Result<TwoPhase<DB>, Error> {
    // The same token in every try: a claim whose answer was lost finds itself.
    let claim = LeaseClaim {
        consumer: message.consumer(),
        key: message.key(),
        token: Token(token()?),
        lease: terms.lease(),
        policy: terms.policy(),
        payload,
    };
    // A claim that finds itself began with the first try, at the latest.
    let first_sent = Moment::now();
    let mut tries = 1;
    loop {
        let sent = Moment::now();
        let found = match grant(inbox, &claim).await {
            Ok(Some(granted)) => {
                return Ok(start(
                    inbox,
                    message,
                    terms,
                    claim.token,
                    granted,
                    sent,
                    span,
                ));
            }
            Ok(None) => inspect(inbox, message).await?,
            Err(Error::Database(error)) if tries < TRIES && is_worth_another_try(&error) => {
                tries += 1;
                continue;
            }
            Err(error) => return Err(error),
        };
        // The row can be gone in between: pruned, after it had been processed.
        if let Some(found) = found
            && let Some(refused) = refused(inbox, message, &claim, &found).await?
        {
            return match refused {
                Refused::Duplicate => {
                    span.record("outcome", "duplicate");
                    Ok(TwoPhase::Duplicate)
                }
                Refused::Ours(granted) => {
                    let token = claim.token;
                    Ok(start(
                        inbox, message, terms, token, granted, first_sent, span,
                    ))
                }
            };
        }
        if tries >= TRIES {
            return Err(Error::in_progress(message.clone(), SOONEST));
        }
        tries += 1;
    }
}

/// Whether the answer was lost, or the database broke the statement off: the token makes it safe to repeat.
fn is_worth_another_try(error: &sqlx::Error) -> bool {
    match fault(error) {
        Fault::Conflict | Fault::Ambiguous => true,
        Fault::Unavailable => !matches!(error, sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed),
        _ => false,
    }
}

/// The claim itself: one statement, where the database allows.
async fn grant<DB: Backend>(
    inbox: &Inbox<DB>,
    claim: &LeaseClaim<'_>,
) -> Result<Option<Granted>, Error> {
    let sql = inbox.leases();
    let mut session = Session::open(inbox).await?;
    let granted = DB::Driver::claim_lease(session.connection(), sql, claim)
        .await
        .map_err(|error| inbox.refusal(error))?;
    session.commit().await?;
    if granted.is_some() || !DB::Driver::TAKES_SEPARATELY {
        return Ok(granted);
    }
    // In a transaction of its own: an insert that was refused leaves a lock behind.
    let mut session = Session::open(inbox).await?;
    let granted = DB::Driver::take_lease(session.connection(), sql, claim)
        .await
        .map_err(|error| inbox.refusal(error))?;
    session.commit().await?;
    Ok(granted)
}

async fn inspect<DB: Backend>(
    inbox: &Inbox<DB>,
    message: &MessageRef,
) -> Result<Option<Inspected>, Error> {
    let mut session = Session::open(inbox).await?;
    let (consumer, key) = (message.consumer(), message.key());
    let found = DB::Driver::inspect(session.connection(), inbox.leases(), consumer, key)
        .await
        .map_err(|error| inbox.refusal(error))?;
    session.commit().await?;
    Ok(found)
}

/// What a claim that was not granted comes to.
enum Refused {
    Duplicate,
    /// It had been granted, and the answer was lost.
    Ours(Granted),
}

/// Decides about a row that could not be claimed; `None` if it can be by now.
async fn refused<DB: Backend>(
    inbox: &Inbox<DB>,
    message: &MessageRef,
    claim: &LeaseClaim<'_>,
    found: &Inspected,
) -> Result<Option<Refused>, Error> {
    let message = message.at(found.id);
    let request = Request::Claim {
        token: claim.token,
        lease: claim.lease,
        policy: claim.policy,
    };
    let decision = decide(Some(&found.row), found.now, &request);
    match (decision.answer, decision.change) {
        (Answer::Duplicate, _) => Ok(Some(Refused::Duplicate)),
        (Answer::InProgress { retry_after }, _) => {
            Err(Error::in_progress(message, jittered(retry_after)))
        }
        (Answer::Run { fence, attempt }, Change::Nothing) => Ok(Some(Refused::Ours(Granted {
            row: found.id,
            fence,
            attempt,
        }))),
        (Answer::Parked, Change::Nothing) => Err(Error::parked(message)),
        (Answer::Parked, _) => {
            let (id, fence) = (found.id, found.row.fence);
            let mut session = Session::open(inbox).await?;
            let parked = DB::Driver::park_unresolved(
                session.connection(),
                inbox.leases(),
                id,
                fence,
                claim.policy,
                SPENT,
            )
            .await
            .map_err(|error| inbox.refusal(error))?;
            session.commit().await?;
            if parked {
                tracing::warn!(%message, "parked: it must not be tried again without a person's decision");
                return Err(Error::parked(message));
            }
            // It was recorded, released or taken over in between: look again.
            Ok(None)
        }
        // It became claimable since.
        _ => Ok(None),
    }
}

/// The longest payload a row keeps, in bytes of JSON.
pub(crate) const MAX_PAYLOAD_BYTES: usize = 256 * 1024;

/// The message as JSON.
pub(crate) fn payload<T: serde::Serialize + ?Sized>(value: &T) -> Result<String, Error> {
    let json = serde_json::to_string(value).map_err(|source| ConfigError::Payload { source })?;
    if json.len() > MAX_PAYLOAD_BYTES {
        return Err(ConfigError::PayloadTooLong {
            length: json.len(),
            limit: MAX_PAYLOAD_BYTES,
        }
        .into());
    }
    Ok(json)
}

/// A little later than the lease ends, and not all at once.
fn jittered(wait: Duration) -> Duration {
    let random = u32::from_le_bytes(random());
    let spread = (wait / 10).saturating_add(SOONEST);
    wait.saturating_add(spread.mul_f64(f64::from(random) / f64::from(u32::MAX)))
}

/// Random bytes for spreading; without any, nothing is spread.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    if getrandom::fill(&mut bytes).is_err() {
        bytes = [0; N];
    }
    bytes
}

fn start<DB: Backend>(
    inbox: &Inbox<DB>,
    message: &MessageRef,
    terms: Terms,
    token: Token,
    granted: Granted,
    sent: Moment,
    span: &Span,
) -> TwoPhase<DB> {
    span.record("attempt", granted.attempt);
    let held = Held {
        fence: granted.fence,
        token,
    };
    let tenure = Tenure::new(sent.plus(terms.lease()));
    let renewal = Renewal::start(inbox, granted.row, held, terms, &tenure);
    TwoPhase::Fresh(Claim::new(
        inbox.clone(),
        message.at(granted.row),
        granted,
        held,
        terms,
        tenure,
        renewal,
        span.clone(),
    ))
}
