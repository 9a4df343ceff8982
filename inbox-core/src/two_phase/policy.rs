//! `Policy`: what the handler wants done about its claims, as it is stored in the row.

use std::time::Duration;

use super::{DEFAULT_MAX_ATTEMPTS, MAX_ATTEMPTS, MAX_DURATION, TermsError};

/// What to do after an attempt whose outcome nobody knows: a timeout, a panic, a killed process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OnUnknown {
    /// Nothing is repeated: the message is parked, and a person decides. The effect happens **at most once**.
    Park,
    /// The body runs again. The effect happens **at least once**; once, if the other side recognises the stable
    /// idempotency key.
    Retry {
        /// How long after the first call it may still be repeated; then the message is parked. It must be shorter than
        /// the other side remembers the key, or a late repetition is a second effect.
        horizon: Duration,
    },
}

/// What the handler wants done about its claims.
///
/// It is stored in the row at every claim, so that sweeper and operator act by the handler's choice and not by their
/// own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Policy {
    on_unknown: OnUnknown,
    max_attempts: u32,
}

impl Default for Policy {
    /// Nothing is repeated after an unknown outcome; five attempts.
    fn default() -> Self {
        Self {
            on_unknown: OnUnknown::Park,
            max_attempts: DEFAULT_MAX_ATTEMPTS,
        }
    }
}

impl Policy {
    /// A policy.
    ///
    /// # Errors
    ///
    /// [`TermsError`] if `max_attempts` is 0 or above [`MAX_ATTEMPTS`], or the horizon is shorter than a millisecond or
    /// longer than [`MAX_DURATION`].
    pub fn new(on_unknown: OnUnknown, max_attempts: u32) -> Result<Self, TermsError> {
        if max_attempts == 0 {
            return Err(TermsError::NoAttempts);
        }
        if max_attempts > MAX_ATTEMPTS {
            return Err(TermsError::TooManyAttempts { max_attempts });
        }
        if let OnUnknown::Retry { horizon } = on_unknown {
            if horizon < Duration::from_millis(1) {
                return Err(TermsError::NoHorizon);
            }
            if horizon > MAX_DURATION {
                return Err(TermsError::TooLong { duration: horizon });
            }
        }
        Ok(Self {
            on_unknown,
            max_attempts,
        })
    }

    /// A policy read back from the columns `on_unknown` (0 is park, 1 is retry), `max_attempts` and `horizon_ms`.
    ///
    /// Nothing if they are not what [`Policy::new`] would accept, except that an operator may have raised
    /// `max_attempts`. A row without a policy is treated as `park`: what cannot be read is not repeated.
    pub fn from_columns(
        on_unknown: Option<i64>,
        max_attempts: Option<i64>,
        horizon_ms: Option<i64>,
    ) -> Option<Self> {
        let max_attempts = u32::try_from(max_attempts?).ok().filter(|max| *max > 0)?;
        let on_unknown = match (on_unknown?, horizon_ms) {
            (0, _) => OnUnknown::Park,
            (1, Some(horizon_ms @ 1..)) => OnUnknown::Retry {
                horizon: Duration::from_millis(horizon_ms.unsigned_abs()),
            },
            _ => return None,
        };
        Some(Self {
            on_unknown,
            max_attempts,
        })
    }

    /// The columns `on_unknown`, `max_attempts` and `horizon_ms`.
    pub fn columns(&self) -> (i64, i64, Option<i64>) {
        let max_attempts = i64::from(self.max_attempts);
        match self.on_unknown {
            OnUnknown::Park => (0, max_attempts, None),
            OnUnknown::Retry { horizon } => {
                let horizon = i64::try_from(horizon.as_millis()).unwrap_or(i64::MAX);
                (1, max_attempts, Some(horizon))
            }
        }
    }

    /// What to do after an unknown outcome.
    pub const fn on_unknown(&self) -> OnUnknown {
        self.on_unknown
    }

    /// How often a body may be started.
    pub const fn max_attempts(&self) -> u32 {
        self.max_attempts
    }

    /// How long after the first call it may be repeated. Only `retry` has a horizon.
    pub const fn horizon(&self) -> Option<Duration> {
        match self.on_unknown {
            OnUnknown::Park => None,
            OnUnknown::Retry { horizon } => Some(horizon),
        }
    }

    /// The same with the higher of two limits: a limit that an operator raised stays raised.
    pub(super) fn with_limit_of(self, other: Option<Self>) -> Self {
        let other = other.map_or(0, |other| other.max_attempts);
        Self {
            max_attempts: self.max_attempts.max(other),
            ..self
        }
    }

    /// The same with one attempt more, for the operator's release.
    pub(super) fn with_one_more(self) -> Self {
        Self {
            max_attempts: self.max_attempts.saturating_add(1),
            ..self
        }
    }
}
