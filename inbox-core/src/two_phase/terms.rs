//! `Terms`: lease, policy and back-off of a handler, checked against each other.

use std::time::Duration;

use super::{Backoff, Policy};

/// The most attempts a handler can ask for.
pub const MAX_ATTEMPTS: u32 = 10_000;

/// The longest lease, horizon or back-off: a year. Longer ones are slips of the unit.
pub const MAX_DURATION: Duration = Duration::from_hours(365 * 24);

/// The lease of a handler that names none.
pub const DEFAULT_LEASE: Duration = Duration::from_mins(1);

/// The number of attempts of a handler that names none.
pub const DEFAULT_MAX_ATTEMPTS: u32 = 5;

/// The horizon of a handler that retries and names none: half of what the shortest-lived well-known idempotency keys
/// live.
pub const DEFAULT_HORIZON: Duration = Duration::from_hours(12);

/// What a handler states about its claims, in numbers that fit together.
///
/// | rule | or else |
/// |---|---|
/// | the lease is at least a millisecond | everybody could take over at once |
/// | lease × attempts + all back-offs < horizon (`retry` only) | the horizon parks a message that had attempts left |
/// | horizon < what the other side remembers of a key | a late repetition is a second effect. Only you know that time |
/// | retention > horizon ([`Terms::check_retention`]) | the row is forgotten while the message may still be repeated |
/// | the body's own timeout + the time to record < lease | the lease of a healthy worker runs out when renewals fail |
/// | the broker's redeliveries × its shortest delay > lease | the broker gives up while the claim is only waiting |
///
/// The last two and the third are for you to keep; the others are checked.
///
/// ```
/// use std::time::Duration;
/// use inbox_core::two_phase::{Backoff, OnUnknown, Policy, Terms, TermsError};
///
/// let retry = |hours| OnUnknown::Retry { horizon: Duration::from_hours(hours) };
/// let lease = Duration::from_mins(20);
///
/// let terms = Terms::new(lease, Policy::new(retry(12), 5)?, Backoff::default())?;
/// assert_eq!(terms.renew_every(), Duration::from_secs(400));
///
/// let short = Terms::new(lease, Policy::new(retry(1), 5)?, Backoff::default());
/// assert!(matches!(short, Err(TermsError::HorizonTooShort { .. })));
/// # Ok::<(), TermsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Terms {
    lease: Duration,
    policy: Policy,
    backoff: Backoff,
}

impl Default for Terms {
    /// What plain `two_phase` means: `park`, a lease of a minute, five attempts.
    fn default() -> Self {
        Self {
            lease: DEFAULT_LEASE,
            policy: Policy::default(),
            backoff: Backoff::default(),
        }
    }
}

impl Terms {
    /// Checks the sizing rules.
    ///
    /// # Errors
    ///
    /// [`TermsError`] names the rule that is broken and the numbers.
    pub fn new(lease: Duration, policy: Policy, backoff: Backoff) -> Result<Self, TermsError> {
        if lease < Duration::from_millis(1) {
            return Err(TermsError::NoLease);
        }
        for duration in [lease, backoff.cap()] {
            if duration > MAX_DURATION {
                return Err(TermsError::TooLong { duration });
            }
        }
        let terms = Self {
            lease,
            policy,
            backoff,
        };
        match policy.horizon() {
            Some(horizon) if horizon <= terms.longest() => Err(TermsError::HorizonTooShort {
                horizon,
                needed: terms.longest(),
            }),
            _ => Ok(terms),
        }
    }

    /// How long a claim is its worker's own.
    pub const fn lease(&self) -> Duration {
        self.lease
    }

    /// How often the lease is renewed while the body runs: every third of it, so that two renewals may fail.
    pub fn renew_every(&self) -> Duration {
        (self.lease / 3).max(Duration::from_millis(1))
    }

    /// What is stored in the row.
    pub const fn policy(&self) -> Policy {
        self.policy
    }

    /// How long to wait after a failed attempt.
    pub const fn backoff(&self) -> Backoff {
        self.backoff
    }

    /// Whether rows are kept long enough: longer than the horizon.
    ///
    /// # Errors
    ///
    /// [`TermsError::RetentionTooShort`] otherwise.
    pub fn check_retention(&self, retention: Duration) -> Result<(), TermsError> {
        match self.policy.horizon() {
            Some(horizon) if horizon >= retention => {
                Err(TermsError::RetentionTooShort { horizon, retention })
            }
            _ => Ok(()),
        }
    }

    /// How long it can take until the attempts are used up, if each of them loses its lease.
    fn longest(&self) -> Duration {
        let attempts = self.policy.max_attempts();
        (1..attempts)
            .map(|attempt| self.backoff.ceiling(attempt))
            .fold(
                self.lease.saturating_mul(attempts),
                Duration::saturating_add,
            )
    }
}

/// Numbers that do not fit together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TermsError {
    /// The lease is shorter than a millisecond.
    #[error("a lease of less than a millisecond is over before the body starts")]
    NoLease,
    /// No attempt is allowed.
    #[error("max_attempts = 0 would park every message before its first attempt")]
    NoAttempts,
    /// More attempts than [`MAX_ATTEMPTS`].
    #[error("max_attempts = {max_attempts} is more than {MAX_ATTEMPTS}")]
    TooManyAttempts {
        /// What was asked for.
        max_attempts: u32,
    },
    /// The horizon is shorter than a millisecond.
    #[error("a horizon of less than a millisecond forbids every repetition: use `park`")]
    NoHorizon,
    /// A duration of more than [`MAX_DURATION`].
    #[error("{duration:?} is longer than a year")]
    TooLong {
        /// What was asked for.
        duration: Duration,
    },
    /// The horizon ends before the attempts can be used up.
    #[error(
        "the horizon of {horizon:?} ends before the attempts are used up, which may take {needed:?}: \
         make the lease shorter, the attempts fewer or the horizon longer"
    )]
    HorizonTooShort {
        /// The horizon that was asked for.
        horizon: Duration,
        /// Lease × attempts, and the back-offs between them.
        needed: Duration,
    },
    /// Rows are forgotten while their message may still be repeated.
    #[error("rows kept for {retention:?} are forgotten before the horizon of {horizon:?} ends")]
    RetentionTooShort {
        /// The horizon of the handler.
        horizon: Duration,
        /// How long rows are kept.
        retention: Duration,
    },
}
