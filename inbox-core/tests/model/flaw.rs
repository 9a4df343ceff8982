//! The protocol under test: the product's own `decide`, or that with one mistake.

use inbox_core::Effect;
use inbox_core::two_phase::{Answer, Change, Decision, Held, Request, Row, State, decide};

use crate::scenario::Flaw;
use crate::world::NOW;

/// What is written and answered.
pub(crate) fn decide_with(flaw: Option<Flaw>, row: Option<&Row>, request: &Request) -> Decision {
    let correct = |request: &Request| decide(row, NOW, request);
    let (Some(flaw), Some(row)) = (flaw, row) else {
        return correct(request);
    };
    match (flaw, *request) {
        (Flaw::Naive, Request::Claim { .. }) => says(Answer::Duplicate),
        (Flaw::Naive, Request::Fail { .. } | Request::Renew { .. }) => says(Answer::LeaseLost),
        (Flaw::Naive | Flaw::UnguardedRecord, Request::Record { .. }) => {
            writes(in_state(row, State::Processed), Answer::Recorded)
        }
        (Flaw::ReleaseByState, Request::Fail { effect, delay, .. }) => {
            let held = Held {
                fence: row.fence,
                token: row.token.expect("a claim has a token"),
            };
            correct(&Request::Fail {
                held,
                effect,
                delay,
            })
        }
        (Flaw::UnguardedRelease, Request::Fail { delay, .. }) => writes(
            in_state(row, State::Released),
            Answer::Released { retry_after: delay },
        ),
        (Flaw::DeleteOnError, Request::Fail { delay, .. }) => Decision {
            change: Change::Delete,
            answer: Answer::Released { retry_after: delay },
        },
        (Flaw::Naive | Flaw::SweeperDeletes, Request::Sweep { .. }) if row.is_expired(NOW) => {
            deletes()
        }
        (Flaw::PruneByAge, Request::Prune { .. }) => deletes(),
        (Flaw::ParkErrorsOnly, Request::Fail { held, delay, .. }) => correct(&Request::Fail {
            held,
            effect: Effect::Rejected,
            delay,
        }),
        (Flaw::NobodyTakesOver, Request::Claim { .. } | Request::ParkUnresolved { .. })
            if row.is_expired(NOW) =>
        {
            says(Answer::InProgress {
                retry_after: crate::world::DELAY,
            })
        }
        _ => correct(request),
    }
}

fn says(answer: Answer) -> Decision {
    Decision {
        change: Change::Nothing,
        answer,
    }
}

fn deletes() -> Decision {
    Decision {
        change: Change::Delete,
        answer: Answer::Done,
    }
}

fn writes(row: Row, answer: Answer) -> Decision {
    Decision {
        change: Change::Write(row),
        answer,
    }
}

/// The row in another state, whatever it was before.
fn in_state(row: &Row, state: State) -> Row {
    Row {
        state,
        lease_until: None,
        next_at: None,
        processed_at: (state == State::Processed).then_some(NOW),
        parked_at: None,
        ..*row
    }
}
