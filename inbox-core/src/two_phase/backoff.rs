//! `Backoff`: how long to wait after a failed attempt.

use std::time::Duration;

/// How long to wait after a failed attempt: between nothing and `min(cap, base × 2^attempts)`, at random.
///
/// *Full jitter*: messages that failed together, because something they all need was down, do not come back together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Backoff {
    base: Duration,
    cap: Duration,
}

impl Backoff {
    /// A back-off that begins with `base` and does not exceed `cap`.
    pub const fn new(base: Duration, cap: Duration) -> Self {
        Self { base, cap }
    }

    /// The longest wait after that many attempts: `min(cap, base × 2^attempts)`.
    pub fn ceiling(&self, attempts: u32) -> Duration {
        1_u32
            .checked_shl(attempts)
            .and_then(|factor| self.base.checked_mul(factor))
            .map_or(self.cap, |delay| delay.min(self.cap))
    }

    /// The wait after that many attempts, for a random number the caller draws from the whole range of `u64`.
    ///
    /// In whole milliseconds, each from 0 to the ceiling equally likely.
    pub fn delay(&self, attempts: u32, random: u64) -> Duration {
        let choices = self.ceiling(attempts).as_millis() + 1;
        let millis = choices.saturating_mul(u128::from(random)) >> 64;
        Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
    }

    /// The longest wait there is.
    pub const fn cap(&self) -> Duration {
        self.cap
    }
}

impl Default for Backoff {
    /// From a second to five minutes.
    fn default() -> Self {
        Self::new(Duration::from_secs(1), Duration::from_mins(5))
    }
}
