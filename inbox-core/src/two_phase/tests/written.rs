//! What each request writes, column by column.

use std::time::Duration;

use super::{DELAY, GRACE, HELD, HORIZON, LEASE, NOW, OURS, THEIRS, ago, park, retry, row};
use crate::two_phase::{Change, Effect, OnUnknown, Policy, Request, Row, State, decide};

/// What a request writes.
#[track_caller]
fn written(row: Option<&Row>, request: Request) -> Row {
    match decide(row, NOW, &request).change {
        Change::Write(row) => row,
        other => panic!("{other:?}"),
    }
}

fn expired() -> Row {
    Row {
        lease_until: Some(ago(GRACE)),
        ..row(State::Claimed, retry())
    }
}

#[test]
fn the_first_claim() {
    let request = Request::Claim {
        token: OURS,
        lease: LEASE,
        policy: retry(),
    };
    assert_eq!(
        written(None, request),
        Row {
            state: State::Claimed,
            fence: 1,
            token: Some(OURS),
            attempts: 1,
            lost_leases: 0,
            lease_until: Some(NOW.plus(LEASE)),
            next_at: None,
            first_call_at: Some(NOW),
            processed_at: None,
            parked_at: None,
            policy: Some(retry()),
        }
    );
}

#[test]
fn a_take_over_keeps_the_first_call_and_the_higher_limit() {
    let new = Policy::new(
        OnUnknown::Retry {
            horizon: HORIZON * 2,
        },
        3,
    )
    .expect("valid");
    let request = Request::Claim {
        token: THEIRS,
        lease: LEASE,
        policy: new,
    };
    let limit = Policy::new(
        OnUnknown::Retry {
            horizon: HORIZON * 2,
        },
        5,
    )
    .expect("valid");
    assert_eq!(
        written(Some(&expired()), request),
        Row {
            state: State::Claimed,
            fence: 8,
            token: Some(THEIRS),
            attempts: 3,
            lost_leases: 1,
            lease_until: Some(NOW.plus(LEASE)),
            next_at: None,
            first_call_at: Some(ago(Duration::from_mins(10))),
            processed_at: None,
            parked_at: None,
            policy: Some(limit),
        }
    );
}

#[test]
fn a_renewal_moves_the_lease_only() {
    let before = row(State::Claimed, park());
    assert_eq!(
        written(
            Some(&before),
            Request::Renew {
                held: HELD,
                lease: LEASE
            }
        ),
        Row {
            lease_until: Some(NOW.plus(LEASE)),
            ..before
        }
    );
}

#[test]
fn a_record_ends_everything_that_was_pending() {
    for before in [
        row(State::Claimed, park()),
        row(State::Parked, park()),
        Row {
            next_at: Some(NOW.plus(DELAY)),
            ..row(State::Released, park())
        },
    ] {
        assert_eq!(
            written(Some(&before), Request::Record { held: HELD }),
            Row {
                state: State::Processed,
                lease_until: None,
                next_at: None,
                processed_at: Some(NOW),
                parked_at: None,
                ..before
            }
        );
    }
}

#[test]
fn a_failure_is_put_back_or_parked() {
    let before = row(State::Claimed, retry());
    let fail = |effect| Request::Fail {
        held: HELD,
        effect,
        delay: DELAY,
    };
    assert_eq!(
        written(Some(&before), fail(Effect::Unknown)),
        Row {
            state: State::Released,
            lease_until: None,
            next_at: Some(NOW.plus(DELAY)),
            ..before
        }
    );
    assert_eq!(
        written(Some(&before), fail(Effect::Rejected)),
        Row {
            state: State::Parked,
            lease_until: None,
            parked_at: Some(NOW),
            ..before
        }
    );
}

#[test]
fn a_swept_claim_keeps_fence_and_token() {
    let sweep = Request::Sweep { grace: GRACE };
    let before = expired();
    assert_eq!(
        written(Some(&before), sweep),
        Row {
            state: State::Released,
            lost_leases: 1,
            lease_until: None,
            ..before
        }
    );
    let before = Row {
        policy: Some(park()),
        ..before
    };
    assert_eq!(
        written(Some(&before), sweep),
        Row {
            state: State::Parked,
            lost_leases: 1,
            lease_until: None,
            parked_at: Some(NOW),
            ..before
        }
    );
}

#[test]
fn an_operator_gives_one_attempt_more_and_a_new_horizon() {
    let before = Row {
        attempts: 5,
        first_call_at: Some(ago(HORIZON)),
        ..row(State::Parked, retry())
    };
    let released = written(Some(&before), Request::Release { fence: 7 });
    assert_eq!(
        released,
        Row {
            state: State::Released,
            fence: 8,
            first_call_at: None,
            parked_at: None,
            policy: Some(Policy::new(OnUnknown::Retry { horizon: HORIZON }, 6).expect("valid")),
            ..before
        }
    );

    let claimed = written(
        Some(&released),
        Request::Claim {
            token: THEIRS,
            lease: LEASE,
            policy: retry(),
        },
    );
    assert_eq!(claimed.attempts, 6);
    assert_eq!(claimed.fence, 9);
    assert_eq!(claimed.first_call_at, Some(NOW));
}

#[test]
fn an_operator_closes_with_a_new_fence() {
    let before = row(State::Parked, park());
    assert_eq!(
        written(Some(&before), Request::Resolve { fence: 7 }),
        Row {
            state: State::Processed,
            fence: 8,
            processed_at: Some(NOW),
            parked_at: None,
            ..before
        }
    );
}
