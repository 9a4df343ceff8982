//! What holds for every request to every row, and for every sequence of requests.

use std::time::Duration;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::two_phase::{
    Answer, Change, DbTime, Effect, Held, OnUnknown, Policy, Request, Row, State, Token, decide,
};

/// Small numbers, so that equal fences, tokens and times are frequent.
fn time() -> impl Strategy<Value = DbTime> {
    (0_i64..20).prop_map(DbTime::from_millis)
}

fn duration() -> impl Strategy<Value = Duration> {
    (0_u64..8).prop_map(Duration::from_millis)
}

fn token() -> impl Strategy<Value = Token> {
    (0_u8..3).prop_map(|byte| Token([byte; 16]))
}

fn held() -> impl Strategy<Value = Held> {
    (1_i64..5, token()).prop_map(|(fence, token)| Held { fence, token })
}

fn policy() -> impl Strategy<Value = Policy> {
    let on_unknown = prop_oneof![
        Just(OnUnknown::Park),
        (1_u64..20).prop_map(|millis| OnUnknown::Retry {
            horizon: Duration::from_millis(millis)
        }),
    ];
    (on_unknown, 1_u32..5)
        .prop_map(|(on_unknown, max)| Policy::new(on_unknown, max).expect("valid"))
}

fn request() -> impl Strategy<Value = Request> {
    let effect = prop_oneof![
        Just(Effect::NotHappened),
        Just(Effect::Unknown),
        Just(Effect::Rejected)
    ];
    let lease = || duration().prop_map(|lease| lease.max(Duration::from_millis(1)));
    prop_oneof![
        4 => (token(), lease(), policy())
            .prop_map(|(token, lease, policy)| Request::Claim { token, lease, policy }),
        1 => (1_i64..5, policy())
            .prop_map(|(fence, policy)| Request::ParkUnresolved { fence, policy }),
        1 => (held(), lease()).prop_map(|(held, lease)| Request::Renew { held, lease }),
        1 => held().prop_map(|held| Request::Record { held }),
        2 => (held(), effect, duration())
            .prop_map(|(held, effect, delay)| Request::Fail { held, effect, delay }),
        1 => duration().prop_map(|grace| Request::Sweep { grace }),
        1 => (1_i64..5).prop_map(|fence| Request::Release { fence }),
        1 => (1_i64..5).prop_map(|fence| Request::Resolve { fence }),
        1 => (1_i64..5).prop_map(|fence| Request::Discard { fence }),
        1 => duration().prop_map(|window| Request::Prune { window }),
    ]
}

/// Any row that the table's own checks admit, reachable or not.
fn row() -> impl Strategy<Value = Row> {
    let state = prop_oneof![
        Just(State::Claimed),
        Just(State::Released),
        Just(State::Processed),
        Just(State::Parked)
    ];
    (
        state,
        (1_i64..5, option::of(token()), 1_u32..5, 0_u32..3),
        (time(), option::of(time()), option::of(time())),
        option::of(policy()),
    )
        .prop_map(
            |(state, (fence, token, attempts, lost_leases), times, policy)| {
                let (time, next_at, first_call_at) = times;
                let when = |wanted| (state == wanted).then_some(time);
                Row {
                    state,
                    fence,
                    token,
                    attempts,
                    lost_leases,
                    lease_until: when(State::Claimed),
                    next_at: next_at.filter(|_| state == State::Released),
                    first_call_at,
                    processed_at: when(State::Processed),
                    parked_at: when(State::Parked),
                    policy,
                }
            },
        )
}

fn holder(request: &Request) -> Option<Held> {
    match *request {
        Request::Renew { held, .. } | Request::Record { held } | Request::Fail { held, .. } => {
            Some(held)
        }
        _ => None,
    }
}

fn seen_fence(request: &Request) -> Option<i64> {
    match *request {
        Request::ParkUnresolved { fence, .. }
        | Request::Release { fence }
        | Request::Resolve { fence }
        | Request::Discard { fence } => Some(fence),
        _ => None,
    }
}

proptest! {
    #[test]
    fn fence_attempts_and_lost_leases_never_go_down(row in row(), now in time(), request in request()) {
        if let Change::Write(after) = decide(Some(&row), now, &request).change {
            prop_assert!(after.fence >= row.fence);
            prop_assert!(after.attempts >= row.attempts);
            prop_assert!(after.lost_leases >= row.lost_leases);
            prop_assert!(after.policy.map(|policy| policy.max_attempts())
                >= row.policy.map(|policy| policy.max_attempts()));
        }
    }

    #[test]
    fn processed_is_final(row in row(), now in time(), request in request()) {
        let decision = decide(Some(&row), now, &request);
        if row.state == State::Processed {
            let forgotten = matches!(request, Request::Prune { .. }) && decision.change == Change::Delete;
            prop_assert!(decision.change == Change::Nothing || forgotten);
        } else {
            prop_assert_ne!(decision.change, Change::Delete, "only processed rows are forgotten");
        }
    }

    #[test]
    fn a_stale_fence_or_token_changes_nothing(row in row(), now in time(), request in request()) {
        let stale = holder(&request).is_some_and(|held| !row.is_held_by(held))
            || seen_fence(&request).is_some_and(|fence| fence != row.fence);
        if stale {
            prop_assert_eq!(decide(Some(&row), now, &request).change, Change::Nothing);
        }
    }

    #[test]
    fn an_unprocessed_row_is_never_a_duplicate(row in row(), now in time(), request in request()) {
        let answer = decide(Some(&row), now, &request).answer;
        prop_assert_ne!(decide(None, now, &request).answer, Answer::Duplicate);
        if row.state != State::Processed {
            prop_assert_ne!(answer, Answer::Duplicate);
        } else if matches!(request, Request::Claim { .. }) {
            prop_assert_eq!(answer, Answer::Duplicate);
        }
    }

    #[test]
    fn who_may_run_the_body_holds_the_claim(row in option::of(row()), now in time(), request in request()) {
        let decision = decide(row.as_ref(), now, &request);
        if let Answer::Run { fence, attempt } = decision.answer {
            let Request::Claim { token, .. } = request else {
                return Err(TestCaseError::fail("only a claim runs a body"));
            };
            let after = decision.change.applied_to(row).expect("a row");
            prop_assert!(after.is_leased(now));
            let held = Held { fence, token };
            prop_assert!(after.is_held_by(held));
            prop_assert_eq!(after.attempts, attempt);

            // A lost answer: the same claim once more is the same claim.
            let again = decide(Some(&after), now, &request);
            prop_assert_eq!(again.change, Change::Nothing);
            prop_assert_eq!(again.answer, decision.answer);
        }
    }

    /// Not by a redelivery, not by the sweeper, not by an operator.
    #[test]
    fn nobody_but_the_holder_touches_a_running_lease(row in row(), now in time(), request in request()) {
        if row.is_leased(now) && holder(&request).is_none() {
            prop_assert_eq!(decide(Some(&row), now, &request).change, Change::Nothing);
        }
    }

    #[test]
    fn what_ran_under_park_is_not_repeated_after_an_unknown_outcome(
        row in row(), now in time(), request in request()
    ) {
        let parks = |policy: Policy| policy.on_unknown() == OnUnknown::Park;
        let interrupted = row.is_expired(now) && row.policy.is_none_or(parks);
        let other_reasons = matches!(
            request,
            Request::Renew { .. } | Request::Release { .. } | Request::Fail { effect: Effect::NotHappened, .. }
        );
        if let Change::Write(after) = decide(Some(&row), now, &request).change
            && interrupted && !other_reasons
        {
            prop_assert!(matches!(after.state, State::Parked | State::Processed));
        }
    }

    /// The checks of the table, and what the documentation of `Row` says about its columns.
    #[test]
    fn the_columns_agree_with_the_state(requests in vec((request(), 0_i64..4), 1..30)) {
        let mut row = None;
        let mut now = DbTime::from_millis(0);
        for (request, passed) in requests {
            now = DbTime::from_millis(now.as_millis() + passed);
            row = decide(row.as_ref(), now, &request).change.applied_to(row);
            let Some(row) = row else { continue };
            prop_assert_eq!(row.lease_until.is_some(), row.state == State::Claimed);
            prop_assert_eq!(row.processed_at.is_some(), row.state == State::Processed);
            prop_assert_eq!(row.parked_at.is_some(), row.state == State::Parked);
            prop_assert!(row.next_at.is_none() || row.state == State::Released);
            prop_assert!(row.attempts <= row.policy.map_or(0, |policy| policy.max_attempts()));
            prop_assert!(row.lost_leases <= row.attempts);
            prop_assert!(i64::from(row.attempts) <= row.fence);
        }
    }
}
