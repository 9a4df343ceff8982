//! Tests of the state machine: a table of every state × event, what each of them writes, and what holds for all of them.

use std::time::Duration;

use super::{DbTime, Held, OnUnknown, Policy, Row, State, Token};

mod properties;
mod sizing;
mod table;
mod written;

const NOW: DbTime = DbTime::from_millis(1_700_000_000_000);
const LEASE: Duration = Duration::from_mins(1);
const GRACE: Duration = Duration::from_secs(5);
const DELAY: Duration = Duration::from_secs(3);
const HORIZON: Duration = Duration::from_hours(1);
const WINDOW: Duration = Duration::from_hours(48);

/// The token of the row, and one that is not in it.
const OURS: Token = Token([1; 16]);
const THEIRS: Token = Token([2; 16]);

/// The holder of every row in these tests.
const HELD: Held = Held {
    fence: 7,
    token: OURS,
};

fn ago(duration: Duration) -> DbTime {
    NOW.minus(duration)
}

fn park() -> Policy {
    Policy::new(OnUnknown::Park, 5).expect("valid")
}

fn retry() -> Policy {
    Policy::new(OnUnknown::Retry { horizon: HORIZON }, 5).expect("valid")
}

/// The second attempt, first called ten minutes ago, under that policy.
fn row(state: State, policy: Policy) -> Row {
    let when = |wanted, time| (state == wanted).then_some(time);
    Row {
        state,
        fence: HELD.fence,
        token: Some(HELD.token),
        attempts: 2,
        lost_leases: 0,
        lease_until: when(State::Claimed, NOW.plus(Duration::from_secs(20))),
        next_at: None,
        first_call_at: Some(ago(Duration::from_mins(10))),
        processed_at: when(State::Processed, ago(Duration::from_secs(30))),
        parked_at: when(State::Parked, ago(Duration::from_secs(30))),
        policy: Some(policy),
    }
}
