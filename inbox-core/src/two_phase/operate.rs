//! An operator decides about a message that nobody holds: parked, released, or claimed with its lease over.
//!
//! Every decision moves the fence, so that a worker that comes back later changes nothing. It is made about the row the
//! operator saw: if the fence moved since, nothing happens.

use super::claim::lost_leases;
use super::hold::processed;
use super::{Answer, DbTime, Decision, Policy, Row, State};

/// Another attempt, now, and one more than the limit said. The horizon starts anew with it.
pub(super) fn release(row: &Row, now: DbTime, fence: i64) -> Decision {
    if let Some(answer) = refusal(row, now, fence) {
        return Decision::say(answer);
    }
    let released = Row {
        state: State::Released,
        fence: row.fence.saturating_add(1),
        lost_leases: lost_leases(row),
        lease_until: None,
        next_at: None,
        first_call_at: None,
        parked_at: None,
        policy: row.policy.map(Policy::with_one_more),
        ..*row
    };
    Decision::write(released, Answer::Done)
}

/// Done by hand, or never to be done: either way a late redelivery is acknowledged.
pub(super) fn close(row: &Row, now: DbTime, fence: i64) -> Decision {
    if let Some(answer) = refusal(row, now, fence) {
        return Decision::say(answer);
    }
    let closed = Row {
        fence: row.fence.saturating_add(1),
        lost_leases: lost_leases(row),
        ..processed(row, now)
    };
    Decision::write(closed, Answer::Done)
}

fn refusal(row: &Row, now: DbTime, fence: i64) -> Option<Answer> {
    match (row.state, row.lease_until) {
        (State::Processed, _) => Some(Answer::Duplicate),
        _ if row.fence != fence => Some(Answer::Nothing),
        (State::Claimed, Some(until)) if until > now => Some(Answer::InProgress {
            retry_after: now.until(until),
        }),
        _ => None,
    }
}
