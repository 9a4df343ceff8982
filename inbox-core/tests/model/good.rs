//! The protocol itself.

use inbox_core::{OnUnknown, Policy};

use crate::scenario::{Faults, Prune, Scenario};
use crate::verdict::Verdict;

/// Three faults in any combination, two of a kind where it says so.
const THREE: Faults = Faults {
    total: 3,
    ..Faults::ONE_OF_EACH
};

const TWO: Faults = Faults { total: 2, ..THREE };

/// A second call may come from an older claim than the first (I8). With a stable key it does no harm: I6 holds.
const AS_FAR_AS_A_LEASE_GOES: &[&str] = &["I8"];
const ALL_HOLD: &[&str] = &[];

#[track_caller]
fn check(name: &str, scenario: Scenario, broken: &[&str]) -> Verdict {
    let verdict = Verdict::of(scenario);
    eprintln!("{name}: {verdict}");
    assert_eq!(verdict.broken, broken, "{name}: {:#?}", verdict.paths);
    verdict
}

/// One fault of each kind, all six in one run, for a single copy; three of them for two copies.
#[test]
fn retry_with_every_fault() {
    let one_copy = Scenario {
        copies: 1,
        ..Scenario::retry()
    };
    check(
        "retry, one copy, every fault",
        one_copy,
        AS_FAR_AS_A_LEASE_GOES,
    );
    let verdict = check(
        "retry",
        Scenario::retry().with_faults(THREE),
        AS_FAR_AS_A_LEASE_GOES,
    );
    assert_eq!(
        verdict.possible,
        [
            "a late finisher can record",
            "processed at the second attempt",
            "rejected, then processed",
            "two may call",
            "waits for a person"
        ]
    );
}

/// Without any key, the effect happens at most once.
#[test]
fn park_with_every_fault() {
    let verdict = check("park, every fault", Scenario::park(), ALL_HOLD);
    assert_eq!(
        verdict.possible,
        [
            "a late finisher can record",
            "processed at the second attempt",
            "rejected, then processed",
            "waits for a person"
        ]
    );
}

#[test]
fn retry_with_everybody_around() {
    let retry = Scenario::retry().with_faults(THREE);
    for (name, scenario) in around(retry) {
        check(&format!("retry, {name}"), scenario, AS_FAR_AS_A_LEASE_GOES);
    }
}

#[test]
fn park_with_everybody_around() {
    let park = Scenario::park().with_faults(THREE);
    for (name, scenario) in around(park) {
        check(&format!("park, {name}"), scenario, ALL_HOLD);
    }
}

fn around(plain: Scenario) -> [(&'static str, Scenario); 5] {
    let swept = Scenario {
        sweeper: true,
        ..plain
    };
    let twice = Faults {
        crashes: 2,
        expiries: 2,
        failures: 0,
        lost_answers: 0,
        total: 3,
        ..THREE
    };
    let losses = Faults {
        losses: 2,
        timeouts: 0,
        ..TWO
    };
    [
        ("a sweeper", swept),
        (
            "a sweeper and an operator",
            Scenario {
                decisions: 1,
                ..swept
            }
            .with_faults(TWO),
        ),
        (
            "pruned after the window",
            Scenario {
                prune: Prune::AfterTheWindow,
                ..plain
            }
            .with_faults(TWO),
        ),
        ("two crashes and two expiries", plain.with_faults(twice)),
        (
            "a broker that loses copies, and a sweeper with the payload",
            Scenario {
                payload: true,
                ..swept
            }
            .with_faults(losses),
        ),
    ]
}

#[test]
fn three_workers() {
    let retry = Scenario::retry().with_workers(3).with_faults(TWO);
    check("retry, three workers", retry, AS_FAR_AS_A_LEASE_GOES);
    let park = Scenario::park().with_workers(3).with_faults(TWO);
    check("park, three workers", park, ALL_HOLD);
}

/// The other side can do what a lease cannot: refuse a fence that is older than one it has seen.
#[test]
fn retry_with_fences_checked_on_the_other_side() {
    let scenario = Scenario {
        fences_checked: true,
        ..Scenario::retry()
    };
    check(
        "retry, fences checked by the other side",
        scenario.with_faults(TWO),
        ALL_HOLD,
    );
}

/// The other side forgets the key, but only after the horizon.
#[test]
fn retry_until_the_horizon() {
    let scenario = Scenario {
        sweeper: true,
        horizon_passes: true,
        keys_forgotten: true,
        ..Scenario::retry()
    };
    check(
        "retry, keys forgotten after the horizon, a sweeper",
        scenario.with_faults(TWO),
        AS_FAR_AS_A_LEASE_GOES,
    );
}

/// The limit of attempts parks what would go on for ever.
#[test]
fn with_a_single_attempt_nothing_is_repeated() {
    let horizon = crate::world::HORIZON;
    let policy = Policy::new(OnUnknown::Retry { horizon }, 1).expect("valid");
    let scenario = Scenario {
        policy,
        key: crate::scenario::Key::None,
        sweeper: true,
        ..Scenario::retry()
    };
    check(
        "a single attempt, no key",
        scenario.with_faults(THREE),
        ALL_HOLD,
    );
}
