//! Every situation a row can be in, and every request that can be made of it.
//!
//! All times are minutes away from now, so that no case changes its meaning while it is tried.

use std::time::Duration;

use inbox_core::two_phase::{Effect, Held, OnUnknown, Policy, Request, State, Token};

use super::stored::{PolicyColumns, Stored};

pub(crate) const FENCE: i64 = 7;

/// The token in the rows, and one that is in none.
pub(crate) const OURS: Token = Token([0xa1; 16]);
pub(crate) const THEIRS: Token = Token([0xb2; 16]);

/// The holder of a row that is held.
pub(crate) const HELD: Held = Held {
    fence: FENCE,
    token: OURS,
};

pub(crate) const LEASE: Duration = Duration::from_mins(1);
pub(crate) const GRACE: Duration = Duration::from_mins(5);
pub(crate) const DELAY: Duration = Duration::from_mins(3);
pub(crate) const WINDOW: Duration = Duration::from_hours(48);

const HOUR: i64 = 60 * MINUTE;
const MINUTE: i64 = 60_000;

/// Within the sweeper's grace; before the pruner's window.
const LATELY: i64 = -2 * MINUTE;
const LONG_AGO: i64 = -1_000 * HOUR;

/// A state that a newer version of the library may know.
const UNKNOWN_STATE: i64 = 7;

/// One request of one row.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// Nothing: the message is absent. Times are milliseconds from now.
    pub(crate) row: Option<Stored>,
    pub(crate) request: Request,
}

/// Every case that is about one message.
pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |row: Option<&Stored>, requests: &[Request]| {
        cases.extend(requests.iter().map(|&request| Case {
            row: row.cloned(),
            request,
        }));
    };
    for row in rows().into_iter().filter(|row| is_about_one(row.as_ref())) {
        add(row.as_ref(), &claims());
        add(row.as_ref(), &holders(HELD));
        add(row.as_ref(), &operators());
    }
    // Whoever is not the holder is refused whatever the row says otherwise, so not all of that is tried.
    for row in plain_rows() {
        for wrong in [
            (FENCE - 1, OURS),
            (FENCE + 1, OURS),
            (FENCE, THEIRS),
            (FENCE + 1, THEIRS),
        ] {
            let (fence, token) = wrong;
            add(row.as_ref(), &holders(Held { fence, token }));
        }
        for policy in [park(5), retry(5, 1)] {
            for fence in [FENCE - 1, FENCE + 1] {
                add(row.as_ref(), &[Request::ParkUnresolved { fence, policy }]);
            }
        }
    }
    cases
}

/// Every row, and none.
pub(crate) fn rows() -> Vec<Option<Stored>> {
    let mut rows = vec![None];
    for policy in POLICIES {
        // Below the limits of the claims, at one of them, above all of them.
        for attempts in [1, 5, 6] {
            for first_call_at in [None, Some(-10 * MINUTE), Some(-2 * HOUR)] {
                rows.extend(STATES.map(|state| Some(row(state, policy, attempts, first_call_at))));
            }
        }
    }
    rows
}

/// Not those that only sweeping and pruning tell apart, and which multiply the rest.
fn is_about_one(row: Option<&Stored>) -> bool {
    row.is_none_or(|row| {
        let times = [row.lease_until, row.processed_at, row.parked_at];
        let told_apart = times.contains(&Some(LATELY)) || times.contains(&Some(LONG_AGO));
        !told_apart && (row.first_call_at.is_some() || row.attempts == 1)
    })
}

/// The states with few policies.
fn plain_rows() -> Vec<Option<Stored>> {
    let mut rows = vec![None];
    for policy in [NONE, PARK, RETRY] {
        for state in STATES {
            let held = row(state, policy, 2, Some(-10 * MINUTE));
            rows.push(Some(Stored {
                token: None,
                ..held.clone()
            }));
            rows.push(Some(held));
        }
    }
    rows
}

/// State and one time.
type When = (i64, Option<i64>);

const STATES: [When; 11] = [
    (State::Claimed.column(), Some(10 * MINUTE)),
    (State::Claimed.column(), Some(LATELY)),
    (State::Claimed.column(), Some(-10 * MINUTE)),
    (State::Released.column(), None),
    (State::Released.column(), Some(-10 * MINUTE)),
    (State::Released.column(), Some(10 * MINUTE)),
    (State::Processed.column(), Some(-MINUTE)),
    (State::Processed.column(), Some(LONG_AGO)),
    (State::Parked.column(), Some(-MINUTE)),
    (State::Parked.column(), Some(LONG_AGO)),
    (UNKNOWN_STATE, Some(10 * MINUTE)),
];

const NONE: PolicyColumns = (None, None, None);
const PARK: PolicyColumns = (Some(0), Some(5), None);
const RETRY: PolicyColumns = (Some(1), Some(5), Some(HOUR));

const POLICIES: [PolicyColumns; 12] = [
    NONE,
    PARK,
    RETRY,
    // The horizon is longer or shorter than that of the claims.
    (Some(1), Some(5), Some(3 * HOUR)),
    (Some(1), Some(5), Some(MINUTE)),
    // An operator raised the limit, or another version of the handler had a lower one.
    (Some(0), Some(6), None),
    (Some(1), Some(7), Some(3 * HOUR)),
    (Some(1), Some(2), Some(3 * HOUR)),
    // Nobody can read these.
    (Some(1), Some(5), None),
    (Some(1), Some(5), Some(0)),
    (Some(9), Some(5), Some(HOUR)),
    (Some(1), Some(0), Some(HOUR)),
];

fn row(
    (state, time): When,
    policy: PolicyColumns,
    attempts: i64,
    first_call_at: Option<i64>,
) -> Stored {
    let when = |wanted: State| (state == wanted.column()).then_some(time).flatten();
    Stored {
        state,
        fence: FENCE,
        token: Some(OURS),
        attempts,
        lost_leases: 3,
        lease_until: when(State::Claimed),
        next_at: when(State::Released),
        first_call_at,
        processed_at: when(State::Processed),
        parked_at: when(State::Parked),
        policy,
        last_error: Some("earlier".into()),
        payload: Some("{}".into()),
    }
}

fn park(max_attempts: u32) -> Policy {
    Policy::new(OnUnknown::Park, max_attempts).unwrap()
}

fn retry(max_attempts: u32, hours: u64) -> Policy {
    let horizon = Duration::from_hours(hours);
    Policy::new(OnUnknown::Retry { horizon }, max_attempts).unwrap()
}

/// By another delivery under every policy, and by the one that holds the row already; then what follows when it was
/// refused for good.
fn claims() -> Vec<Request> {
    let policies = [park(1), park(5), retry(1, 1), retry(5, 1), retry(5, 3)];
    let claim = |token, policy| Request::Claim {
        token,
        lease: LEASE,
        policy,
    };
    let unresolved = |policy| Request::ParkUnresolved {
        fence: FENCE,
        policy,
    };
    let others = policies.map(|policy| claim(THEIRS, policy));
    let own = [park(5), retry(5, 3)].map(|policy| claim(OURS, policy));
    [&others[..], &own, &policies.map(unresolved)].concat()
}

fn holders(held: Held) -> Vec<Request> {
    let effects = [Effect::NotHappened, Effect::Unknown, Effect::Rejected];
    let fail = |effect| Request::Fail {
        held,
        effect,
        delay: DELAY,
    };
    let others = [
        Request::Renew { held, lease: LEASE },
        Request::Record { held },
    ];
    [&others[..], &effects.map(fail)].concat()
}

/// About the row as it is: their statements carry no fence.
fn operators() -> Vec<Request> {
    let fence = FENCE;
    vec![Request::Release { fence }, Request::Resolve { fence }]
}
