//! A clock that goes on while the machine sleeps, for the local side of a lease.

use std::time::Duration;

/// A moment of this machine.
///
/// Not `std::time::Instant`: on Linux that is `CLOCK_MONOTONIC`, which stands still while the machine is
/// suspended, so that a worker that wakes up would believe in a lease that is long over.
/// <https://man7.org/linux/man-pages/man2/clock_gettime.2.html>
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment(Duration);

impl Moment {
    #[cfg(target_os = "linux")]
    pub(super) fn now() -> Self {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        Self(Duration::new(
            u64::try_from(now.tv_sec).unwrap_or(0),
            u32::try_from(now.tv_nsec).unwrap_or(0),
        ))
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn now() -> Self {
        use std::{sync::OnceLock, time::Instant};
        static START: OnceLock<Instant> = OnceLock::new();
        Self(START.get_or_init(Instant::now).elapsed())
    }

    pub(super) fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration))
    }

    /// How long until this moment; zero when it is over.
    pub(super) fn left(self) -> Duration {
        self.0.saturating_sub(Self::now().0)
    }
}
