//! `decide`: the state machine.

use std::time::Duration;

use super::{Answer, DbTime, Decision, Request, Row, claim, hold, operate, sweep};

/// What is written and what the caller is told, for a row (or none), the database's clock and a request.
///
/// ```
/// use std::time::Duration;
/// use inbox_core::two_phase::{Answer, DbTime, OnUnknown, Policy, Request, TermsError, Token, decide};
///
/// let now = DbTime::from_millis(1_000_000);
/// let lease = Duration::from_mins(1);
/// let policy = Policy::new(OnUnknown::Park, 5)?;
///
/// let first = Request::Claim { token: Token([1; 16]), lease, policy };
/// let decision = decide(None, now, &first);
/// assert_eq!(decision.answer, Answer::Run { fence: 1, attempt: 1 });
///
/// let row = decision.change.applied_to(None);
/// let copy = Request::Claim { token: Token([2; 16]), lease, policy };
/// let decision = decide(row.as_ref(), now, &copy);
/// assert_eq!(decision.answer, Answer::InProgress { retry_after: lease });
/// # Ok::<(), TermsError>(())
/// ```
pub fn decide(row: Option<&Row>, now: DbTime, request: &Request) -> Decision {
    let Some(row) = row else {
        return absent(now, request);
    };
    match *request {
        Request::Claim {
            token,
            lease,
            policy,
        } => claim::again(row, now, token, lease, policy),
        Request::ParkUnresolved { fence, policy } => {
            claim::park_unresolved(row, now, fence, policy)
        }
        Request::Renew { held, lease } => hold::renew(row, now, held, lease),
        Request::Record { held } => hold::record(row, now, held),
        Request::Fail {
            held,
            effect,
            delay,
        } => hold::fail(row, now, held, effect, delay),
        Request::Sweep { grace } => sweep::sweep(row, now, grace),
        Request::Release { fence } => operate::release(row, now, fence),
        Request::Resolve { fence } | Request::Discard { fence } => operate::close(row, now, fence),
        Request::Prune { window } => sweep::prune(row, now, window),
    }
}

/// Without a row there is only something to claim.
fn absent(now: DbTime, request: &Request) -> Decision {
    match *request {
        Request::Claim {
            token,
            lease,
            policy,
        } => claim::first(now, token, lease, policy),
        Request::ParkUnresolved { .. } => Decision::say(Answer::InProgress {
            retry_after: Duration::ZERO,
        }),
        Request::Renew { .. } | Request::Record { .. } | Request::Fail { .. } => {
            Decision::say(Answer::LeaseLost)
        }
        Request::Sweep { .. }
        | Request::Release { .. }
        | Request::Resolve { .. }
        | Request::Discard { .. }
        | Request::Prune { .. } => Decision::say(Answer::Nothing),
    }
}
