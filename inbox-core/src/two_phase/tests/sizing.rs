//! Which numbers fit together, and the waits they lead to.

use std::time::Duration;

use crate::two_phase::{
    Backoff, DEFAULT_HORIZON, DEFAULT_LEASE, DEFAULT_MAX_ATTEMPTS, MAX_ATTEMPTS, MAX_DURATION,
    OnUnknown, Policy, Terms, TermsError,
};

const SECOND: Duration = Duration::from_secs(1);

fn retry(horizon: Duration, max_attempts: u32) -> Result<Policy, TermsError> {
    Policy::new(OnUnknown::Retry { horizon }, max_attempts)
}

fn terms(lease: Duration, policy: Policy) -> Result<Terms, TermsError> {
    Terms::new(lease, policy, Backoff::default())
}

#[test]
fn the_defaults_fit_together() {
    let policy = retry(DEFAULT_HORIZON, DEFAULT_MAX_ATTEMPTS).expect("valid");
    let terms = terms(DEFAULT_LEASE, policy).expect("valid");
    assert_eq!(terms.renew_every(), 20 * SECOND);
    assert_eq!(terms.check_retention(DEFAULT_HORIZON + SECOND), Ok(()));
    assert_eq!(
        terms.check_retention(DEFAULT_HORIZON),
        Err(TermsError::RetentionTooShort {
            horizon: DEFAULT_HORIZON,
            retention: DEFAULT_HORIZON,
        })
    );
}

#[test]
fn what_makes_no_sense_is_refused() {
    let park = Policy::new(OnUnknown::Park, 1).expect("valid");
    assert_eq!(Policy::new(OnUnknown::Park, 0), Err(TermsError::NoAttempts));
    assert_eq!(
        Policy::new(OnUnknown::Park, MAX_ATTEMPTS + 1),
        Err(TermsError::TooManyAttempts {
            max_attempts: MAX_ATTEMPTS + 1
        })
    );
    assert_eq!(retry(Duration::ZERO, 1), Err(TermsError::NoHorizon));
    assert_eq!(terms(Duration::ZERO, park), Err(TermsError::NoLease));
    assert_eq!(
        terms(Duration::from_micros(999), park),
        Err(TermsError::NoLease)
    );

    let duration = MAX_DURATION + SECOND;
    let too_long = TermsError::TooLong { duration };
    assert_eq!(retry(duration, 1), Err(too_long.clone()));
    assert_eq!(terms(duration, park), Err(too_long.clone()));
    let backoff = Backoff::new(SECOND, duration);
    assert_eq!(Terms::new(SECOND, park, backoff), Err(too_long));
}

/// Three leases of 10 s, and waits of at most 2 s and 4 s between them.
#[test]
fn the_attempts_end_before_the_horizon() {
    let needed = 36 * SECOND;
    assert_eq!(
        terms(10 * SECOND, retry(needed, 3).expect("valid")),
        Err(TermsError::HorizonTooShort {
            horizon: needed,
            needed
        })
    );
    assert!(terms(10 * SECOND, retry(needed + SECOND, 3).expect("valid")).is_ok());
    assert!(
        terms(
            MAX_DURATION,
            Policy::new(OnUnknown::Park, MAX_ATTEMPTS).expect("valid")
        )
        .is_ok()
    );
}

#[test]
fn a_policy_survives_its_columns() {
    for policy in [Policy::new(OnUnknown::Park, 5), retry(DEFAULT_HORIZON, 7)] {
        let policy = policy.expect("valid");
        let (on_unknown, max_attempts, horizon_ms) = policy.columns();
        assert_eq!(
            Policy::from_columns(Some(on_unknown), Some(max_attempts), horizon_ms),
            Some(policy)
        );
    }
    for (on_unknown, max_attempts, horizon_ms) in [
        (None, None, None),
        (Some(0), None, None),
        (Some(0), Some(0), None),
        (Some(0), Some(-1), None),
        (Some(1), Some(5), None),
        (Some(1), Some(5), Some(0)),
        (Some(2), Some(5), Some(1)),
    ] {
        assert_eq!(
            Policy::from_columns(on_unknown, max_attempts, horizon_ms),
            None
        );
    }
}

#[test]
fn the_wait_doubles_up_to_the_cap() {
    let backoff = Backoff::new(SECOND, 300 * SECOND);
    for (attempts, seconds) in [
        (0, 1),
        (1, 2),
        (2, 4),
        (8, 256),
        (9, 300),
        (31, 300),
        (32, 300),
        (u32::MAX, 300),
    ] {
        assert_eq!(backoff.ceiling(attempts), seconds * SECOND, "{attempts}");
    }
}

#[test]
fn the_wait_is_spread_from_nothing_to_the_ceiling() {
    let backoff = Backoff::new(SECOND, 300 * SECOND);
    assert_eq!(backoff.delay(2, 0), Duration::ZERO);
    assert_eq!(backoff.delay(2, u64::MAX / 2), 2 * SECOND);
    assert_eq!(backoff.delay(2, u64::MAX), 4 * SECOND);
    assert_eq!(
        Backoff::new(SECOND, Duration::ZERO).delay(5, u64::MAX),
        Duration::ZERO
    );
    assert_eq!(
        Backoff::new(Duration::MAX, Duration::MAX).delay(5, u64::MAX),
        Duration::from_millis(u64::MAX)
    );
}
