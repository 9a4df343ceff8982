//! The holder of a claim renews it, records it or gives it up.
//!
//! Fence and token decide whether it is the holder, not the lease: as long as nobody took over, a holder that is late is
//! still the only one.

use std::time::Duration;

use super::claim::parked;
use super::{Answer, DbTime, Decision, Effect, Held, OnUnknown, Row, State};

/// The lease begins anew, even if it was over.
pub(super) fn renew(row: &Row, now: DbTime, held: Held, lease: Duration) -> Decision {
    if row.state != State::Claimed || !row.is_held_by(held) {
        return Decision::say(Answer::LeaseLost);
    }
    let renewed = Row {
        lease_until: Some(now.plus(lease)),
        ..*row
    };
    Decision::write(renewed, Answer::Renewed)
}

/// Processed. Also after the row was swept or parked in the meantime: an unknown outcome has become a known one.
pub(super) fn record(row: &Row, now: DbTime, held: Held) -> Decision {
    if !row.is_held_by(held) {
        return Decision::say(not_held(row));
    }
    if row.state == State::Processed {
        // The answer to an earlier record of the same claim was lost.
        return Decision::say(Answer::Recorded);
    }
    Decision::write(processed(row, now), Answer::Recorded)
}

/// Put back for another attempt, or parked. Only from a claim: what others decided in the meantime stands.
pub(super) fn fail(
    row: &Row,
    now: DbTime,
    held: Held,
    effect: Effect,
    delay: Duration,
) -> Decision {
    if row.state != State::Claimed || !row.is_held_by(held) {
        return Decision::say(not_held(row));
    }
    let Some(policy) = row.policy else {
        return Decision::write(given_up(row, now), Answer::Parked);
    };
    let repeat = match (effect, policy.on_unknown()) {
        (Effect::Rejected, _) | (Effect::Unknown, OnUnknown::Park) => false,
        (Effect::NotHappened, _) | (Effect::Unknown, OnUnknown::Retry { .. }) => true,
    };
    if !repeat || row.attempts >= policy.max_attempts() {
        return Decision::write(given_up(row, now), Answer::Parked);
    }
    let released = Row {
        state: State::Released,
        lease_until: None,
        next_at: Some(now.plus(delay)),
        ..*row
    };
    Decision::write(released, Answer::Released { retry_after: delay })
}

/// The row as it is for ever.
pub(super) fn processed(row: &Row, now: DbTime) -> Row {
    Row {
        state: State::Processed,
        lease_until: None,
        next_at: None,
        processed_at: Some(now),
        parked_at: None,
        ..*row
    }
}

/// Parked by its own holder, who did not lose the lease.
fn given_up(row: &Row, now: DbTime) -> Row {
    Row {
        lost_leases: row.lost_leases,
        ..parked(row, now)
    }
}

/// What a holder is told who is none any more.
fn not_held(row: &Row) -> Answer {
    match row.state {
        State::Processed => Answer::Duplicate,
        State::Claimed | State::Released | State::Parked => Answer::LeaseLost,
    }
}
