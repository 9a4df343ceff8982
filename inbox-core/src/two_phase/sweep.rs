//! Nobody asks any more: the sweeper ends abandoned claims, and the pruner forgets finished rows.

use std::time::Duration;

use super::claim::{is_past_horizon, lost_leases, parked};
use super::{Answer, Change, DbTime, Decision, OnUnknown, Row, State};

/// Ends a claim whose lease is over since `grace`, by the policy in the row. Fence and token stay, so that a holder who
/// was only slow can still record.
pub(super) fn sweep(row: &Row, now: DbTime, grace: Duration) -> Decision {
    if !row.is_expired(now.minus(grace)) {
        return Decision::say(Answer::Nothing);
    }
    let repeat = row.policy.is_some_and(|policy| {
        matches!(policy.on_unknown(), OnUnknown::Retry { .. })
            && row.attempts < policy.max_attempts()
            && !is_past_horizon(row, now, Some(policy))
    });
    if !repeat {
        return Decision::write(parked(row, now), Answer::Done);
    }
    let released = Row {
        state: State::Released,
        lost_leases: lost_leases(row),
        lease_until: None,
        next_at: None,
        ..*row
    };
    Decision::write(released, Answer::Done)
}

/// Forgets a row that was processed before the window. Unfinished and parked rows stay, however old they are.
pub(super) fn prune(row: &Row, now: DbTime, window: Duration) -> Decision {
    let old = row
        .processed_at
        .is_some_and(|processed_at| processed_at < now.minus(window));
    if row.state == State::Processed && old {
        Decision {
            change: Change::Delete,
            answer: Answer::Done,
        }
    } else {
        Decision::say(Answer::Nothing)
    }
}
