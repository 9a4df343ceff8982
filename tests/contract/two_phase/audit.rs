//! Every change of every row, logged by triggers and replayed against what the decision function can do.
//!
//! End states do not show that somebody released a claim that another worker held: the row looks the same later. The
//! log does.

use std::{collections::BTreeSet, sync::OnceLock};

use inbox_core::two_phase::{DbTime, OnUnknown, Request, Row, State, decide};
use sqlx::Row as _;

use super::situations::{GRACE, WINDOW, cases, rows};
use crate::{
    Db,
    contract::bench::{Bench, text},
    dialect::leases,
};

/// One change of a row, as far as it must be one of a few.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Step {
    /// Nothing: there was no row.
    pub(crate) from: Option<i64>,
    pub(crate) to: Option<i64>,
    pub(crate) fence: i64,
    pub(crate) attempts: i64,
    /// Whether a lease ran.
    pub(crate) leased: bool,
    /// Whether the row said that an unknown outcome may be repeated.
    pub(crate) retries: bool,
}

impl Step {
    fn is_change(&self) -> bool {
        self.from != self.to || (self.fence, self.attempts) != (0, 0)
    }
}

/// Every step that the decision function takes for some row and some request.
pub(crate) fn allowed() -> &'static BTreeSet<Step> {
    static ALLOWED: OnceLock<BTreeSet<Step>> = OnceLock::new();
    ALLOWED.get_or_init(|| {
        let now = DbTime::from_millis(1_700_000_000_000);
        let mut steps = BTreeSet::new();
        let mut decided = |row: Option<Row>, request: &Request| {
            let change = decide(row.as_ref(), now, request).change;
            let after = change.applied_to(row);
            if after != row {
                steps.insert(step(row.as_ref(), after.as_ref(), now));
            }
        };
        for case in cases() {
            let row = case.row.filter(|row| !row.is_unknown());
            decided(row.map(|row| row.from(now).row()), &case.request);
        }
        for row in rows().into_iter().flatten() {
            if !row.is_unknown() {
                let row = Some(row.from(now).row());
                decided(row, &Request::Sweep { grace: GRACE });
                decided(row, &Request::Prune { window: WINDOW });
            }
        }
        steps
    })
}

fn step(before: Option<&Row>, after: Option<&Row>, now: DbTime) -> Step {
    let number = |of: fn(&Row) -> i64| match (before, after) {
        (_, None) => 0,
        (before, Some(after)) => of(after) - before.map_or(0, of),
    };
    let retries = before
        .and_then(|row| row.policy)
        .is_some_and(|policy| matches!(policy.on_unknown(), OnUnknown::Retry { .. }));
    Step {
        from: before.map(|row| row.state.column()),
        to: after.map(|row| row.state.column()),
        fence: number(|row| row.fence),
        attempts: number(|row| i64::from(row.attempts)),
        leased: before.is_some_and(|row| row.is_leased(now)),
        retries,
    }
}

/// Begins to log; the inbox must be empty.
pub(crate) async fn start(bench: &Bench) {
    for statement in leases::AUDIT {
        bench.observe(statement).await;
    }
}

/// What was logged so far, in order; not what only moved a time, such as a renewal, or a case that lets one end.
pub(crate) async fn steps(bench: &Bench) -> Vec<(i64, Step)> {
    let columns = [
        "id",
        "old_state",
        "new_state",
        "old_fence",
        "new_fence",
        "old_attempts",
        "new_attempts",
        "(case when leased then 1 else 0 end)",
        "(case when retries then 1 else 0 end)",
    ]
    .map(leases::integer);
    let select = format!("select {} from inbox_log order by n", columns.join(", "));
    let rows = sqlx::query::<Db>(text(select))
        .fetch_all(&bench.observer)
        .await
        .unwrap();
    let steps = rows.iter().map(|row| {
        let difference = |before: usize| {
            row.get::<Option<i64>, _>(before + 1).map_or(0, |after| {
                after - row.get::<Option<i64>, _>(before).unwrap_or(0)
            })
        };
        let step = Step {
            from: row.get(1),
            to: row.get(2),
            fence: difference(3),
            attempts: difference(5),
            leased: row.get::<i64, _>(7) == 1,
            retries: row.get::<i64, _>(8) == 1,
        };
        (row.get(0), step)
    });
    steps.filter(|(_, step)| step.is_change()).collect()
}

/// Replays the log: every step is one that the decision function can take, and begins where the last one ended.
pub(crate) async fn replay(bench: &Bench) {
    let steps = steps(bench).await;
    assert!(!steps.is_empty(), "nothing was logged");
    let mut stands: Vec<(i64, Option<i64>)> = Vec::new();
    for (id, step) in &steps {
        assert!(
            allowed().contains(step),
            "nobody may do this: {step:?} to row {id}, in\n{steps:#?}"
        );
        let at = stands.iter().position(|(row, _)| row == id);
        let before = at.and_then(|at| stands.swap_remove(at).1);
        assert_eq!(before, step.from, "row {id}, in\n{steps:#?}");
        stands.push((*id, step.to));
    }
}

#[test]
fn the_steps_that_are_allowed_are_those_of_the_state_machine() {
    let (claimed, released) = (State::Claimed.column(), State::Released.column());
    let (processed, parked) = (State::Processed.column(), State::Parked.column());
    let step = |from, to, fence, attempts| Step {
        from,
        to,
        fence,
        attempts,
        leased: false,
        retries: true,
    };
    let taken_over = step(Some(claimed), Some(claimed), 1, 1);
    let granted = Step {
        retries: false,
        ..step(None, Some(claimed), 1, 1)
    };
    for known in [
        granted,
        taken_over,
        step(Some(released), Some(claimed), 1, 1),
        step(Some(parked), Some(released), 1, 0),
        step(Some(parked), Some(processed), 0, 0),
        step(Some(processed), None, 0, 0),
    ] {
        assert!(allowed().contains(&known), "{known:?}");
    }
    // Nobody takes over while a lease runs or under `park`, goes back, or ends what is processed.
    for forbidden in [
        Step {
            leased: true,
            ..taken_over
        },
        Step {
            retries: false,
            ..taken_over
        },
        step(Some(parked), Some(claimed), 1, 1),
        step(Some(parked), Some(released), 0, 0),
        step(Some(claimed), Some(claimed), 0, 1),
        step(Some(claimed), None, 0, 0),
        step(Some(processed), Some(processed), 1, 0),
        step(Some(processed), Some(claimed), 1, 1),
    ] {
        assert!(!allowed().contains(&forbidden), "{forbidden:?}");
    }
}
