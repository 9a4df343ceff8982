//! Negative controls: the protocol with one mistake, and only the faults that it needs.

use crate::scenario::{Faults, Flaw, Key, Prune, Scenario};
use crate::verdict::Verdict;

const NONE: Faults = Faults::NONE;
const CRASH: Faults = Faults { crashes: 1, ..NONE };
const EXPIRY: Faults = Faults {
    expiries: 1,
    ..NONE
};
const UNKNOWN: Faults = Faults {
    unknowns: 1,
    ..NONE
};

/// The scenario breaks these invariants, and the first of them in so many steps. I8 is left out, because it is broken
/// wherever a lease can run out early.
#[track_caller]
fn check(name: &str, scenario: Scenario, expected: &[&str], steps: usize) {
    let scenario = Scenario {
        anonymous: false,
        ..scenario
    };
    let verdict = Verdict::of(scenario);
    eprintln!("{name}: {verdict}");
    let broken: Vec<_> = verdict
        .broken
        .iter()
        .filter(|name| **name != "I8")
        .collect();
    let broken: Vec<_> = broken.into_iter().copied().collect();
    assert_eq!(broken, expected, "{name}: {:#?}", verdict.paths);
    let shortest = verdict.paths.get(expected[0]);
    for step in shortest.into_iter().flatten() {
        eprintln!("    {step}");
    }
    assert_eq!(shortest.map_or(0, Vec::len), steps, "{name}");
}

fn retry(faults: Faults) -> Scenario {
    Scenario::retry().with_faults(faults)
}

#[test]
fn what_is_acknowledged_too_early_is_lost() {
    check(
        "a claim in progress is acknowledged",
        retry(CRASH).flawed(Flaw::AckInProgress),
        &["I1", "I7", "L1"],
        6,
    );
    check(
        "a record that matched no row is acknowledged",
        retry(EXPIRY).flawed(Flaw::AckLostLease),
        &["I1"],
        8,
    );
    let lost = Faults {
        lost_answers: 1,
        ..NONE
    };
    check(
        "a record whose answer was lost is acknowledged",
        retry(lost).flawed(Flaw::AckLostAnswer),
        &["I1"],
        5,
    );
}

#[test]
fn writes_without_fence_and_token_disturb_a_live_owner() {
    let late_failure = Faults {
        expiries: 1,
        failures: 1,
        ..NONE
    };
    check(
        "record by key only",
        retry(EXPIRY).flawed(Flaw::UnguardedRecord),
        &["I4"],
        9,
    );
    check(
        "release whatever claim is there",
        retry(late_failure).flawed(Flaw::ReleaseByState),
        &["I2"],
        11,
    );
    check(
        "release by key only",
        retry(Faults {
            timeouts: 1,
            ..late_failure
        })
        .flawed(Flaw::UnguardedRelease),
        &["I2", "I4", "I7", "L1"],
        10,
    );
}

/// With the row goes the fence, so that two claims have the same one.
#[test]
fn deleting_what_is_not_processed_brings_fences_back() {
    let late_failure = Faults {
        expiries: 1,
        failures: 1,
        ..NONE
    };
    check(
        "a failed attempt deletes the row",
        retry(late_failure).flawed(Flaw::DeleteOnError),
        &["I2", "I3", "I4"],
        10,
    );
    check(
        "the sweeper deletes expired claims",
        Scenario {
            sweeper: true,
            ..retry(EXPIRY)
        }
        .flawed(Flaw::SweeperDeletes),
        &["I3"],
        6,
    );
    check(
        "pruned by age, in whatever state",
        retry(Faults { losses: 1, ..NONE }).flawed(Flaw::PruneByAge),
        &["I2", "I3", "I4"],
        5,
    );
}

#[test]
fn without_a_stable_key_a_repetition_is_a_second_effect() {
    check(
        "no key",
        Scenario {
            key: Key::None,
            ..retry(UNKNOWN)
        },
        &["I6"],
        8,
    );
    check(
        "a key with the number of the attempt",
        Scenario {
            key: Key::PerAttempt,
            ..retry(UNKNOWN)
        },
        &["I6"],
        8,
    );
    check(
        "errors are parked, lost leases are taken over, no key",
        Scenario {
            key: Key::None,
            ..retry(EXPIRY)
        }
        .flawed(Flaw::ParkErrorsOnly),
        &["I6"],
        7,
    );
}

#[test]
fn a_key_that_is_forgotten_protects_nobody() {
    check(
        "keys are forgotten, no horizon",
        Scenario {
            keys_forgotten: true,
            ..retry(UNKNOWN)
        },
        &["I6"],
        9,
    );
    check(
        "a horizon, but no look at the clock before the call",
        Scenario {
            horizon_passes: true,
            keys_forgotten: true,
            ..retry(EXPIRY)
        }
        .flawed(Flaw::NoDeadline),
        &["I6"],
        10,
    );
}

#[test]
fn a_row_that_is_pruned_early_is_a_new_message() {
    let early = Scenario {
        prune: Prune::Early,
        ..retry(NONE)
    };
    check("pruned early", early, &["I4"], 10);
    check(
        "pruned early, and keys are forgotten",
        Scenario {
            keys_forgotten: true,
            ..early
        },
        &["I4", "I6"],
        10,
    );
}

#[test]
fn somebody_has_to_come_back_for_an_expired_claim() {
    check(
        "nobody takes over, nobody sweeps",
        retry(CRASH).flawed(Flaw::NobodyTakesOver),
        &["L1"],
        0,
    );
    check(
        "the broker loses both copies, and nobody has the payload",
        Scenario {
            sweeper: true,
            ..retry(Faults {
                losses: 2,
                failures: 1,
                ..NONE
            })
        },
        &["I7", "L1"],
        8,
    );
}
