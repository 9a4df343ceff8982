//! Negative control: the protocol that everybody writes first.
//!
//! Insert a claim, commit, call, set `processed_at`; if the claim is there already, it is a duplicate. It acknowledges
//! messages that nobody has processed, and a sweeper that deletes old claims only adds second effects.

use crate::scenario::{Faults, Flaw, Scenario};
use crate::verdict::Verdict;

fn naive(faults: Faults) -> Scenario {
    Scenario {
        copies: 1,
        ..Scenario::retry().flawed(Flaw::Naive)
    }
    .with_faults(faults)
}

/// The scenario breaks these invariants, and the first of them in this way.
#[track_caller]
fn check(name: &str, scenario: Scenario, broken: &[&str], path: &[&str]) {
    let verdict = Verdict::of(scenario);
    eprintln!("{name}: {verdict}");
    for step in path {
        eprintln!("    {step}");
    }
    assert_eq!(verdict.broken, broken, "{name}: {:#?}", verdict.paths);
    assert_eq!(verdict.paths[broken[0]], path, "{name}");
}

/// No crash, one copy, one handler that fails once.
#[test]
fn one_error_loses_the_message() {
    check(
        "naive, one error",
        naive(Faults {
            failures: 1,
            ..Faults::NONE
        }),
        &["I1", "I7", "L1"],
        &[
            "A receives a copy",
            "A claims",
            "A calls, fails, it did not happen",
            "A says that it failed",
            "A answers the broker",
            "A receives a copy",
            "A claims",
            "A looks at the row",
            "A answers the broker",
        ],
    );
}

#[test]
fn one_crash_loses_the_message() {
    check(
        "naive, one crash",
        naive(Faults {
            crashes: 1,
            ..Faults::NONE
        }),
        &["I1", "I7", "L1"],
        &[
            "A receives a copy",
            "A claims",
            "A is killed",
            "A receives a copy",
            "A claims",
            "A looks at the row",
            "A answers the broker",
        ],
    );
}

/// The worker takes its own claim for somebody else's.
#[test]
fn one_lost_answer_loses_the_message() {
    check(
        "naive, one lost answer",
        naive(Faults {
            lost_answers: 1,
            ..Faults::NONE
        }),
        &["I1", "I7", "L1"],
        &[
            "A receives a copy",
            "A claims, committed, the answer is lost",
            "A claims",
            "A looks at the row",
            "A answers the broker",
        ],
    );
}

/// Two copies are enough: the second worker acknowledges while the first one still works, or does not any more.
#[test]
fn a_second_copy_is_acknowledged_too_early() {
    check(
        "naive, two copies, no fault",
        Scenario {
            copies: 2,
            ..naive(Faults::NONE)
        },
        &["I1"],
        &[
            "A receives a copy",
            "A claims",
            "B receives a copy",
            "B claims",
            "B looks at the row",
            "B answers the broker",
        ],
    );
}

/// Deleting stale claims gives up what they were for.
#[test]
fn a_sweeper_that_deletes_makes_it_worse() {
    let one = Faults {
        total: 1,
        ..Faults::ONE_OF_EACH
    };
    check(
        "naive, a sweeper that deletes, any one fault",
        Scenario {
            copies: 2,
            sweeper: true,
            ..naive(one)
        },
        &["I1", "I3", "I4", "I7", "L1"],
        &[
            "A receives a copy",
            "A claims, committed, the answer is lost",
            "A claims",
            "A looks at the row",
            "A answers the broker",
        ],
    );
}
