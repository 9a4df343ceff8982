//! Every state × event, as tables that can be read next to the documentation of the module.
//!
//! A cell is what the caller is told, and what is written: the new state (C claimed, R released, D processed, P parked)
//! with what is added to fence, attempts and lost leases; X is a deleted row.

use std::fmt::Write as _;
use std::time::Duration;

use super::{DELAY, GRACE, HELD, HORIZON, LEASE, NOW, OURS, THEIRS, WINDOW, ago, park, retry, row};
use crate::two_phase::{
    Answer, Change, Decision, Effect, Held, Policy, Request, Row, State, Token, decide,
};

/// The rows of the tables.
fn situations(policy: Policy, change: impl Fn(&mut Row)) -> [(&'static str, Option<Row>); 9] {
    let claimed_until = |until| Row {
        lease_until: Some(until),
        ..row(State::Claimed, policy)
    };
    [
        ("absent", None),
        ("claimed, 20 s", Some(row(State::Claimed, policy))),
        ("claimed, over", Some(claimed_until(NOW))),
        ("claimed, long over", Some(claimed_until(ago(GRACE)))),
        ("released, due", Some(row(State::Released, policy))),
        (
            "released, in 7 s",
            Some(Row {
                next_at: Some(NOW.plus(Duration::from_secs(7))),
                ..row(State::Released, policy)
            }),
        ),
        ("parked", Some(row(State::Parked, policy))),
        ("processed", Some(row(State::Processed, policy))),
        (
            "processed, old",
            Some(Row {
                processed_at: Some(ago(WINDOW + Duration::from_millis(1))),
                ..row(State::Processed, policy)
            }),
        ),
    ]
    .map(|(name, row)| {
        let row = row.map(|mut row| {
            change(&mut row);
            row
        });
        (name, row)
    })
}

fn claim(token: Token, policy: Policy) -> Request {
    Request::Claim {
        token,
        lease: LEASE,
        policy,
    }
}

fn fail(held: Held, effect: Effect) -> Request {
    Request::Fail {
        held,
        effect,
        delay: DELAY,
    }
}

/// The columns of the tables.
fn events(policy: Policy) -> [(&'static str, Request); 12] {
    let fence = HELD.fence;
    [
        ("claim", claim(THEIRS, policy)),
        ("again", claim(OURS, policy)),
        ("unresolved", Request::ParkUnresolved { fence, policy }),
        (
            "renew",
            Request::Renew {
                held: HELD,
                lease: LEASE,
            },
        ),
        ("record", Request::Record { held: HELD }),
        ("not happened", fail(HELD, Effect::NotHappened)),
        ("unknown", fail(HELD, Effect::Unknown)),
        ("rejected", fail(HELD, Effect::Rejected)),
        ("sweep", Request::Sweep { grace: GRACE }),
        ("release", Request::Release { fence }),
        ("resolve", Request::Resolve { fence }),
        ("prune", Request::Prune { window: WINDOW }),
    ]
}

/// One cell.
fn cell(before: Option<&Row>, decision: Decision) -> String {
    let mut cell = match decision.answer {
        Answer::Run { .. } => "run".to_owned(),
        Answer::InProgress { retry_after } => format!("wait {}", retry_after.as_secs()),
        Answer::Duplicate => "dup".to_owned(),
        Answer::Parked => "parked".to_owned(),
        Answer::Renewed => "renewed".to_owned(),
        Answer::Recorded => "recorded".to_owned(),
        Answer::Released { retry_after } => format!("back {}", retry_after.as_secs()),
        Answer::LeaseLost => "lost".to_owned(),
        Answer::Done => "done".to_owned(),
        Answer::Nothing => "-".to_owned(),
    };
    match decision.change {
        Change::Nothing => {}
        Change::Delete => cell.push_str(" X"),
        Change::Write(after) => {
            let (fence, attempts, lost) = before.map_or((0, 0, 0), |before| {
                (before.fence, before.attempts, before.lost_leases)
            });
            let state = match after.state {
                State::Claimed => 'C',
                State::Released => 'R',
                State::Processed => 'D',
                State::Parked => 'P',
            };
            write!(
                cell,
                " {state}{}{}{}",
                after.fence - fence,
                after.attempts - attempts,
                after.lost_leases - lost
            )
            .expect("a String takes everything");
        }
    }
    cell
}

/// Compares cell by cell, so that a failure names the row and the column.
#[track_caller]
fn check<const ROWS: usize, const COLUMNS: usize>(
    situations: [(&str, Option<Row>); ROWS],
    events: [(&str, Request); COLUMNS],
    table: &str,
) {
    let mut lines = table.trim().lines().map(|line| {
        line.split('|')
            .map(|cell| cell.trim().to_owned())
            .collect::<Vec<_>>()
    });
    let header = lines.next().expect("a header");
    let names: Vec<_> = events.iter().map(|(name, _)| *name).collect();
    assert_eq!(header[1..], names, "the columns");
    for (situation, row) in situations {
        let line = lines.next().expect("a line for each situation");
        assert_eq!(line[0], situation);
        for ((event, request), expected) in events.iter().zip(&line[1..]) {
            let decision = decide(row.as_ref(), NOW, request);
            assert_eq!(
                &cell(row.as_ref(), decision),
                expected,
                "{situation} × {event}"
            );
        }
        assert_eq!(line.len(), COLUMNS + 1, "a cell for each event");
    }
    assert_eq!(lines.next(), None, "no line is left over");
}

#[test]
fn under_retry() {
    check(
        situations(retry(), |_| {}),
        events(retry()),
        "
                           | claim    | again    | unresolved | renew        | record        | not happened | unknown     | rejected    | sweep     | release   | resolve   | prune
        absent             | run C110 | run C110 | wait 0     | lost         | lost          | lost         | lost        | lost        | -         | -         | -         | -
        claimed, 20 s      | wait 20  | run      | wait 20    | renewed C000 | recorded D000 | back 3 R000  | back 3 R000 | parked P000 | -         | wait 20   | wait 20   | -
        claimed, over      | run C111 | run C111 | wait 0     | renewed C000 | recorded D000 | back 3 R000  | back 3 R000 | parked P000 | -         | done R101 | done D101 | -
        claimed, long over | run C111 | run C111 | wait 0     | renewed C000 | recorded D000 | back 3 R000  | back 3 R000 | parked P000 | done R001 | done R101 | done D101 | -
        released, due      | run C110 | run C110 | wait 0     | lost         | recorded D000 | lost         | lost        | lost        | -         | done R100 | done D100 | -
        released, in 7 s   | wait 7   | wait 7   | wait 7     | lost         | recorded D000 | lost         | lost        | lost        | -         | done R100 | done D100 | -
        parked             | parked   | parked   | parked     | lost         | recorded D000 | lost         | lost        | lost        | -         | done R100 | done D100 | -
        processed          | dup      | dup      | dup        | lost         | recorded      | dup          | dup         | dup         | -         | dup       | dup       | -
        processed, old     | dup      | dup      | dup        | lost         | recorded      | dup          | dup         | dup         | -         | dup       | dup       | done X
        ",
    );
}

#[test]
fn under_park() {
    check(
        situations(park(), |_| {}),
        events(park()),
        "
                           | claim       | again       | unresolved  | renew        | record        | not happened | unknown     | rejected    | sweep     | release   | resolve   | prune
        absent             | run C110    | run C110    | wait 0      | lost         | lost          | lost         | lost        | lost        | -         | -         | -         | -
        claimed, 20 s      | wait 20     | run         | wait 20     | renewed C000 | recorded D000 | back 3 R000  | parked P000 | parked P000 | -         | wait 20   | wait 20   | -
        claimed, over      | parked P001 | parked P001 | parked P001 | renewed C000 | recorded D000 | back 3 R000  | parked P000 | parked P000 | -         | done R101 | done D101 | -
        claimed, long over | parked P001 | parked P001 | parked P001 | renewed C000 | recorded D000 | back 3 R000  | parked P000 | parked P000 | done P001 | done R101 | done D101 | -
        released, due      | run C110    | run C110    | wait 0      | lost         | recorded D000 | lost         | lost        | lost        | -         | done R100 | done D100 | -
        released, in 7 s   | wait 7      | wait 7      | wait 7      | lost         | recorded D000 | lost         | lost        | lost        | -         | done R100 | done D100 | -
        parked             | parked      | parked      | parked      | lost         | recorded D000 | lost         | lost        | lost        | -         | done R100 | done D100 | -
        processed          | dup         | dup         | dup         | lost         | recorded      | dup          | dup         | dup         | -         | dup       | dup       | -
        processed, old     | dup         | dup         | dup         | lost         | recorded      | dup          | dup         | dup         | -         | dup       | dup       | done X
        ",
    );
}

/// Attempts that are used up end what `retry` would repeat.
#[test]
fn under_retry_with_all_attempts_used_up() {
    check(
        situations(retry(), |row| row.attempts = 5),
        events(retry()),
        "
                           | claim       | again       | unresolved  | renew        | record        | not happened | unknown     | rejected    | sweep     | release   | resolve   | prune
        absent             | run C110    | run C110    | wait 0      | lost         | lost          | lost         | lost        | lost        | -         | -         | -         | -
        claimed, 20 s      | wait 20     | run         | wait 20     | renewed C000 | recorded D000 | parked P000  | parked P000 | parked P000 | -         | wait 20   | wait 20   | -
        claimed, over      | parked P001 | parked P001 | parked P001 | renewed C000 | recorded D000 | parked P000  | parked P000 | parked P000 | -         | done R101 | done D101 | -
        claimed, long over | parked P001 | parked P001 | parked P001 | renewed C000 | recorded D000 | parked P000  | parked P000 | parked P000 | done P001 | done R101 | done D101 | -
        released, due      | parked P000 | parked P000 | parked P000 | lost         | recorded D000 | lost         | lost        | lost        | -         | done R100 | done D100 | -
        released, in 7 s   | wait 7      | wait 7      | wait 7      | lost         | recorded D000 | lost         | lost        | lost        | -         | done R100 | done D100 | -
        parked             | parked      | parked      | parked      | lost         | recorded D000 | lost         | lost        | lost        | -         | done R100 | done D100 | -
        processed          | dup         | dup         | dup         | lost         | recorded      | dup          | dup         | dup         | -         | dup       | dup       | -
        processed, old     | dup         | dup         | dup         | lost         | recorded      | dup          | dup         | dup         | -         | dup       | dup       | done X
        ",
    );
}

/// The same table: a limit is a limit.
#[test]
fn under_park_with_all_attempts_used_up() {
    check(
        situations(park(), |row| row.attempts = 5),
        events(park()),
        "
                           | claim       | again       | unresolved  | renew        | record        | not happened | unknown     | rejected    | sweep     | release   | resolve   | prune
        absent             | run C110    | run C110    | wait 0      | lost         | lost          | lost         | lost        | lost        | -         | -         | -         | -
        claimed, 20 s      | wait 20     | run         | wait 20     | renewed C000 | recorded D000 | parked P000  | parked P000 | parked P000 | -         | wait 20   | wait 20   | -
        claimed, over      | parked P001 | parked P001 | parked P001 | renewed C000 | recorded D000 | parked P000  | parked P000 | parked P000 | -         | done R101 | done D101 | -
        claimed, long over | parked P001 | parked P001 | parked P001 | renewed C000 | recorded D000 | parked P000  | parked P000 | parked P000 | done P001 | done R101 | done D101 | -
        released, due      | parked P000 | parked P000 | parked P000 | lost         | recorded D000 | lost         | lost        | lost        | -         | done R100 | done D100 | -
        released, in 7 s   | wait 7      | wait 7      | wait 7      | lost         | recorded D000 | lost         | lost        | lost        | -         | done R100 | done D100 | -
        parked             | parked      | parked      | parked      | lost         | recorded D000 | lost         | lost        | lost        | -         | done R100 | done D100 | -
        processed          | dup         | dup         | dup         | lost         | recorded      | dup          | dup         | dup         | -         | dup       | dup       | -
        processed, old     | dup         | dup         | dup         | lost         | recorded      | dup          | dup         | dup         | -         | dup       | dup       | done X
        ",
    );
}

/// A failure that is known is put back even then; the next claim parks it.
#[test]
fn under_retry_past_the_horizon() {
    check(
        situations(retry(), |row| row.first_call_at = Some(ago(HORIZON))),
        events(retry()),
        "
                           | claim       | again       | unresolved  | renew        | record        | not happened | unknown     | rejected    | sweep     | release   | resolve   | prune
        absent             | run C110    | run C110    | wait 0      | lost         | lost          | lost         | lost        | lost        | -         | -         | -         | -
        claimed, 20 s      | wait 20     | run         | wait 20     | renewed C000 | recorded D000 | back 3 R000  | back 3 R000 | parked P000 | -         | wait 20   | wait 20   | -
        claimed, over      | parked P001 | parked P001 | parked P001 | renewed C000 | recorded D000 | back 3 R000  | back 3 R000 | parked P000 | -         | done R101 | done D101 | -
        claimed, long over | parked P001 | parked P001 | parked P001 | renewed C000 | recorded D000 | back 3 R000  | back 3 R000 | parked P000 | done P001 | done R101 | done D101 | -
        released, due      | parked P000 | parked P000 | parked P000 | lost         | recorded D000 | lost         | lost        | lost        | -         | done R100 | done D100 | -
        released, in 7 s   | wait 7      | wait 7      | wait 7      | lost         | recorded D000 | lost         | lost        | lost        | -         | done R100 | done D100 | -
        parked             | parked      | parked      | parked      | lost         | recorded D000 | lost         | lost        | lost        | -         | done R100 | done D100 | -
        processed          | dup         | dup         | dup         | lost         | recorded      | dup          | dup         | dup         | -         | dup       | dup       | -
        processed, old     | dup         | dup         | dup         | lost         | recorded      | dup          | dup         | dup         | -         | dup       | dup       | done X
        ",
    );
}

/// `park` has no horizon: what it repeats is known not to have happened.
#[test]
fn under_park_the_first_call_may_be_long_ago() {
    check(
        situations(park(), |row| row.first_call_at = Some(ago(HORIZON))),
        events(park()),
        "
                           | claim       | again       | unresolved  | renew        | record        | not happened | unknown     | rejected    | sweep     | release   | resolve   | prune
        absent             | run C110    | run C110    | wait 0      | lost         | lost          | lost         | lost        | lost        | -         | -         | -         | -
        claimed, 20 s      | wait 20     | run         | wait 20     | renewed C000 | recorded D000 | back 3 R000  | parked P000 | parked P000 | -         | wait 20   | wait 20   | -
        claimed, over      | parked P001 | parked P001 | parked P001 | renewed C000 | recorded D000 | back 3 R000  | parked P000 | parked P000 | -         | done R101 | done D101 | -
        claimed, long over | parked P001 | parked P001 | parked P001 | renewed C000 | recorded D000 | back 3 R000  | parked P000 | parked P000 | done P001 | done R101 | done D101 | -
        released, due      | run C110    | run C110    | wait 0      | lost         | recorded D000 | lost         | lost        | lost        | -         | done R100 | done D100 | -
        released, in 7 s   | wait 7      | wait 7      | wait 7      | lost         | recorded D000 | lost         | lost        | lost        | -         | done R100 | done D100 | -
        parked             | parked      | parked      | parked      | lost         | recorded D000 | lost         | lost        | lost        | -         | done R100 | done D100 | -
        processed          | dup         | dup         | dup         | lost         | recorded      | dup          | dup         | dup         | -         | dup       | dup       | -
        processed, old     | dup         | dup         | dup         | lost         | recorded      | dup          | dup         | dup         | -         | dup       | dup       | done X
        ",
    );
}

/// A row that says nothing about the policy is not repeated.
#[test]
fn without_a_policy_in_the_row_it_is_as_under_park() {
    let situations = situations(park(), |row| row.policy = None);
    let [.., long_over, _, _, _, _, _] = situations;
    let (_, row) = long_over;
    for (request, expected) in [
        (claim(THEIRS, retry()), "parked P001"),
        (Request::Sweep { grace: GRACE }, "done P001"),
        (fail(HELD, Effect::NotHappened), "parked P000"),
        (fail(HELD, Effect::Unknown), "parked P000"),
        (Request::Record { held: HELD }, "recorded D000"),
    ] {
        let decision = decide(row.as_ref(), NOW, &request);
        assert_eq!(cell(row.as_ref(), decision), expected, "{request:?}");
    }
}

/// A deployment may change the policy while an attempt runs or waits.
#[test]
fn an_interrupted_attempt_is_repeated_only_if_both_policies_say_so() {
    for (stored, new, expected) in [
        (retry(), retry(), "run C111"),
        (retry(), park(), "parked P001"),
        (park(), retry(), "parked P001"),
        (park(), park(), "parked P001"),
    ] {
        let row = Row {
            lease_until: Some(NOW),
            ..row(State::Claimed, stored)
        };
        let decision = decide(Some(&row), NOW, &claim(THEIRS, new));
        assert_eq!(cell(Some(&row), decision), expected, "{stored:?}, {new:?}");
    }
}

/// Nobody but the latest holder, and no operator with an old list, changes anything.
#[test]
fn a_stale_fence_or_token_changes_nothing() {
    let old = Held {
        fence: HELD.fence - 1,
        ..HELD
    };
    let other = Held {
        token: THEIRS,
        ..HELD
    };
    let fence = old.fence;
    let mut requests: Vec<_> = vec![
        Request::ParkUnresolved {
            fence,
            policy: park(),
        },
        Request::Release { fence },
        Request::Resolve { fence },
        Request::Discard { fence },
    ];
    for held in [old, other] {
        requests.extend([
            Request::Renew { held, lease: LEASE },
            Request::Record { held },
            fail(held, Effect::NotHappened),
            fail(held, Effect::Unknown),
            fail(held, Effect::Rejected),
        ]);
    }
    for policy in [park(), retry()] {
        for (name, row) in situations(policy, |_| {}) {
            for request in &requests {
                let decision = decide(row.as_ref(), NOW, request);
                assert_eq!(decision.change, Change::Nothing, "{name} × {request:?}");
            }
        }
    }
}

/// What a late holder is told decides whether the delivery is acknowledged.
#[test]
fn a_late_holder_is_told_duplicate_only_if_the_message_is_processed() {
    let late = Held {
        fence: HELD.fence - 1,
        ..HELD
    };
    for (name, row) in situations(retry(), |_| {}) {
        let expected = match row {
            Some(row) if row.state == State::Processed => Answer::Duplicate,
            _ => Answer::LeaseLost,
        };
        for request in [Request::Record { held: late }, fail(late, Effect::Unknown)] {
            assert_eq!(
                decide(row.as_ref(), NOW, &request).answer,
                expected,
                "{name} × {request:?}"
            );
        }
    }
}

#[test]
fn discard_is_written_like_resolve() {
    let fence = HELD.fence;
    for (name, row) in situations(park(), |_| {}) {
        assert_eq!(
            decide(row.as_ref(), NOW, &Request::Discard { fence }),
            decide(row.as_ref(), NOW, &Request::Resolve { fence }),
            "{name}"
        );
    }
}
