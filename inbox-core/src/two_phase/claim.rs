//! A delivery asks for the body to run.

use std::time::Duration;

use super::{Answer, DbTime, Decision, OnUnknown, Policy, Row, State, Token};

/// Nobody claimed the message before.
pub(super) fn first(now: DbTime, token: Token, lease: Duration, policy: Policy) -> Decision {
    let row = Row {
        state: State::Claimed,
        fence: 1,
        token: Some(token),
        attempts: 1,
        lost_leases: 0,
        lease_until: Some(now.plus(lease)),
        next_at: None,
        first_call_at: Some(now),
        processed_at: None,
        parked_at: None,
        policy: Some(policy),
    };
    Decision::write(row, run(&row))
}

/// Somebody claimed it before: perhaps this very delivery, whose answer was lost.
pub(super) fn again(
    row: &Row,
    now: DbTime,
    token: Token,
    lease: Duration,
    policy: Policy,
) -> Decision {
    if row.is_leased(now) && row.token == Some(token) {
        Decision::say(run(row))
    } else if let Some(answer) = refusal(row, now) {
        Decision::say(answer)
    } else if is_spent(row, now, policy) {
        Decision::write(parked(row, now), Answer::Parked)
    } else {
        let claimed = Row {
            state: State::Claimed,
            fence: row.fence.saturating_add(1),
            token: Some(token),
            attempts: row.attempts.saturating_add(1),
            lost_leases: lost_leases(row),
            lease_until: Some(now.plus(lease)),
            next_at: None,
            first_call_at: row.first_call_at.or(Some(now)),
            policy: Some(policy.with_limit_of(row.policy)),
            ..*row
        };
        Decision::write(claimed, run(&claimed))
    }
}

/// Parks a row that a claim was refused for good. It is decided anew, because time passed since: the row may have been
/// recorded, released or taken over in between.
pub(super) fn park_unresolved(row: &Row, now: DbTime, fence: i64, policy: Policy) -> Decision {
    if let Some(answer) = refusal(row, now) {
        Decision::say(answer)
    } else if row.fence == fence && is_spent(row, now, policy) {
        Decision::write(parked(row, now), Answer::Parked)
    } else {
        Decision::say(Answer::InProgress {
            retry_after: Duration::ZERO,
        })
    }
}

/// Why the row cannot be claimed now, whoever asks; nothing if its lease or its back-off is over.
fn refusal(row: &Row, now: DbTime) -> Option<Answer> {
    let wait_until = match row.state {
        State::Processed => return Some(Answer::Duplicate),
        State::Parked => return Some(Answer::Parked),
        State::Claimed => row.lease_until,
        State::Released => row.next_at,
    };
    wait_until
        .filter(|until| *until > now)
        .map(|until| Answer::InProgress {
            retry_after: now.until(until),
        })
}

/// Whether no body may run any more although nothing is in the way: interrupted under `park`, no attempt left, or past
/// the horizon.
///
/// The policy of the interrupted attempt and that of the new one can differ, after a deployment. Each of them may say
/// "never again": a call that was made under `park` is not repeated by `retry`, and the other way round. Of two limits
/// of attempts the higher one counts, because an operator may have raised the one in the row.
fn is_spent(row: &Row, now: DbTime, policy: Policy) -> bool {
    let retries = |policy: Policy| matches!(policy.on_unknown(), OnUnknown::Retry { .. });
    let interrupted = row.is_expired(now);
    let may_repeat = row.policy.is_some_and(retries) && retries(policy);
    let max_attempts = policy.with_limit_of(row.policy).max_attempts();

    interrupted && !may_repeat
        || row.attempts >= max_attempts
        || is_past_horizon(row, now, Some(policy))
        || is_past_horizon(row, now, row.policy)
}

/// Whether the other side may have forgotten the first call.
pub(super) fn is_past_horizon(row: &Row, now: DbTime, policy: Option<Policy>) -> bool {
    let horizon = policy.and_then(|policy| policy.horizon());
    match (row.first_call_at, horizon) {
        (Some(first_call_at), Some(horizon)) => first_call_at <= now.minus(horizon),
        _ => false,
    }
}

/// The row as it waits for a person.
pub(super) fn parked(row: &Row, now: DbTime) -> Row {
    Row {
        state: State::Parked,
        lost_leases: lost_leases(row),
        lease_until: None,
        next_at: None,
        parked_at: Some(now),
        ..*row
    }
}

/// One more if somebody other than the holder ends a claim, which they can only when its lease is over.
pub(super) fn lost_leases(row: &Row) -> u32 {
    let lost = u32::from(row.state == State::Claimed);
    row.lost_leases.saturating_add(lost)
}

fn run(row: &Row) -> Answer {
    Answer::Run {
        fence: row.fence,
        attempt: row.attempts,
    }
}
