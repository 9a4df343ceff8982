//! `DbTime`: a moment of the database's clock.

use std::time::Duration;

/// A moment of the **database's** clock, in milliseconds since 1970.
///
/// No clock of an application ever takes part in a decision: applications send durations, the database adds them to its
/// own clock. So a worker whose clock is ten minutes off decides nothing wrongly.
///
/// Durations count in whole milliseconds; what is shorter is cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DbTime(i64);

impl DbTime {
    /// The moment that many milliseconds after the beginning of 1970.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the beginning of 1970.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// The moment so much later.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(millis(duration)))
    }

    /// The moment so much earlier.
    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(millis(duration)))
    }

    /// How long it is until `later`; nothing if that is over.
    pub fn until(self, later: Self) -> Duration {
        let left = later.0.saturating_sub(self.0);
        Duration::from_millis(u64::try_from(left).unwrap_or(0))
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::DbTime;

    #[test]
    fn arithmetic_is_in_whole_milliseconds_and_never_overflows() {
        let noon = DbTime::from_millis(43_200_000);
        assert_eq!(
            noon.plus(Duration::from_micros(1_999)).as_millis(),
            43_200_001
        );
        assert_eq!(noon.minus(Duration::from_secs(1)).as_millis(), 43_199_000);
        assert_eq!(
            noon.until(noon.plus(Duration::from_secs(2))),
            Duration::from_secs(2)
        );
        assert_eq!(
            noon.until(noon.minus(Duration::from_secs(2))),
            Duration::ZERO
        );
        assert_eq!(noon.plus(Duration::MAX).as_millis(), i64::MAX);
        assert_eq!(noon.minus(Duration::MAX).as_millis(), 43_200_000 - i64::MAX);
    }
}
