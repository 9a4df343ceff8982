//! How long a processed marker must be kept: for as long as its message can come again.

use std::fmt;
use std::time::Duration;

/// Added to every window unless the builder says otherwise: clocks, pauses, and what nobody thought of.
const MARGIN: Duration = Duration::from_hours(24);

/// How long processed markers are kept before they may be pruned.
///
/// A duplicate is recognised by its marker. Once that is gone, the same message is new, and is done again. So the window
/// follows from how long the broker can deliver a message again:
///
/// ```text
/// window = lock timeout × max deliveries + message TTL + replays from a dead-letter queue + margin
/// ```
///
/// ```
/// use std::time::Duration;
///
/// use inbox_core::Retention;
///
/// let retention = Retention::builder()
///     .lock_timeout(Duration::from_mins(5))     // how long the broker waits for an acknowledgement
///     .max_deliveries(10)                       // how often it delivers in all
///     .message_ttl(Duration::from_hours(72))    // how long it keeps a message nobody took
///     .build()?;
/// assert_eq!(retention.window(), Duration::from_mins(50) + Duration::from_hours(72 + 24));
/// # Ok::<(), inbox_core::RetentionError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retention {
    window: Duration,
    parked_payloads: Option<Duration>,
}

impl Retention {
    /// Describes the broker; see [`RetentionBuilder`].
    pub fn builder() -> RetentionBuilder {
        RetentionBuilder::default()
    }

    /// How long a marker is kept after its message was processed.
    pub fn window(&self) -> Duration {
        self.window
    }

    /// How long the payload of a parked message is kept after it was parked; `None` keeps it until somebody decides.
    pub fn parked_payloads(&self) -> Option<Duration> {
        self.parked_payloads
    }
}

/// What the broker may do to a message, from which the window follows.
///
/// The first three have no default: only you know your broker's settings. All durations are whole milliseconds or more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use = "end with `build()`"]
pub struct RetentionBuilder {
    lock_timeout: Option<Duration>,
    max_deliveries: Option<u32>,
    message_ttl: Option<Duration>,
    dead_letter_replays: Duration,
    margin: Option<Duration>,
    window: Option<Duration>,
    parked_payloads: Option<Duration>,
}

impl RetentionBuilder {
    /// How long the broker waits for an acknowledgement before it delivers again (lock duration, visibility timeout,
    /// ack wait).
    pub fn lock_timeout(mut self, timeout: Duration) -> Self {
        self.lock_timeout = Some(timeout);
        self
    }

    /// How often the broker delivers a message in all before it gives up.
    pub fn max_deliveries(mut self, deliveries: u32) -> Self {
        self.max_deliveries = Some(deliveries);
        self
    }

    /// How long the broker keeps a message that nobody took.
    pub fn message_ttl(mut self, ttl: Duration) -> Self {
        self.message_ttl = Some(ttl);
        self
    }

    /// How long after its first delivery a message may still be replayed from a dead-letter queue; zero unless set.
    pub fn dead_letter_replays(mut self, span: Duration) -> Self {
        self.dead_letter_replays = span;
        self
    }

    /// What is added on top, a day unless set.
    pub fn margin(mut self, margin: Duration) -> Self {
        self.margin = Some(margin);
        self
    }

    /// A window of your own. One shorter than the formula is refused.
    pub fn window(mut self, window: Duration) -> Self {
        self.window = Some(window);
        self
    }

    /// Clears the payload of messages that have been parked for this long, which must be at least the window. Only the
    /// payload: the message stays parked.
    pub fn parked_payloads(mut self, window: Duration) -> Self {
        self.parked_payloads = Some(window);
        self
    }

    /// Computes the window.
    ///
    /// # Errors
    ///
    /// [`RetentionError`] names the setting that is missing, or the window that is too short and the shortest one that
    /// is right.
    pub fn build(self) -> Result<Retention, RetentionError> {
        let missing = |setting| RetentionError::Missing { setting };
        let lock_timeout = self.lock_timeout.ok_or(missing("lock_timeout"))?;
        let max_deliveries = self.max_deliveries.ok_or(missing("max_deliveries"))?;
        let message_ttl = self.message_ttl.ok_or(missing("message_ttl"))?;
        if max_deliveries == 0 {
            return Err(RetentionError::NoDeliveries);
        }
        let needed = lock_timeout
            .saturating_mul(max_deliveries)
            .saturating_add(message_ttl)
            .saturating_add(self.dead_letter_replays)
            .saturating_add(self.margin.unwrap_or(MARGIN));
        let window = self.window.unwrap_or(needed);
        if window < needed {
            return Err(RetentionError::TooShort { window, needed });
        }
        if window > LONGEST {
            return Err(RetentionError::TooLong { window });
        }
        match self.parked_payloads {
            Some(given) if given < window => {
                return Err(RetentionError::PayloadsTooShort { given, window });
            }
            Some(given) if given > LONGEST => {
                return Err(RetentionError::TooLong { window: given });
            }
            _ => {}
        }
        Ok(Retention {
            window,
            parked_payloads: self.parked_payloads,
        })
    }
}

/// A hundred years: past it a database's own date arithmetic may overflow.
const LONGEST: Duration = Duration::from_hours(100 * 366 * 24);

/// Why there is no window.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RetentionError {
    /// A setting of the broker is missing.
    Missing {
        /// The method of the builder to call.
        setting: &'static str,
    },
    /// A broker that delivers nothing needs no inbox.
    NoDeliveries,
    /// A message could come again after its marker is gone, and would be done again.
    TooShort {
        /// What was asked for.
        window: Duration,
        /// The shortest window that is right.
        needed: Duration,
    },
    /// Payloads would be cleared before the messages they belong to are out of reach.
    PayloadsTooShort {
        /// What was asked for.
        given: Duration,
        /// The window of processed messages.
        window: Duration,
    },
    /// Longer than a hundred years.
    TooLong {
        /// What was asked for, or what the formula gave.
        window: Duration,
    },
}

impl fmt::Display for RetentionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { setting } => write!(
                f,
                "the window depends on the broker's settings, and `{setting}(..)` was not given"
            ),
            Self::NoDeliveries => f.write_str("max_deliveries is 0, it must be at least 1"),
            Self::TooShort { window, needed } => write!(
                f,
                "a window of {window:?} is too short: a message can come again for {needed:?}, and would be done again"
            ),
            Self::PayloadsTooShort { given, window } => write!(
                f,
                "parked payloads must be kept for at least the window of {window:?}, not {given:?}"
            ),
            Self::TooLong { window } => {
                write!(f, "a window of {window:?} is longer than a hundred years")
            }
        }
    }
}

impl std::error::Error for RetentionError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn broker() -> RetentionBuilder {
        Retention::builder()
            .lock_timeout(Duration::from_mins(1))
            .max_deliveries(5)
            .message_ttl(Duration::from_hours(1))
            .margin(Duration::from_mins(10))
    }

    #[test]
    fn the_window_is_all_the_time_a_message_can_come_again() {
        let window = broker().build().unwrap().window();
        assert_eq!(window, Duration::from_mins(5 + 60 + 10));
        let with_replays = broker().dead_letter_replays(Duration::from_hours(48));
        assert_eq!(
            with_replays.build().unwrap().window(),
            window + Duration::from_hours(48)
        );
    }

    /// Purges by too small an age let a manual replay apply twice.
    #[test]
    fn a_window_in_which_a_message_can_come_again_is_refused() {
        let needed = broker().build().unwrap().window();
        let window = needed.checked_sub(Duration::from_millis(1)).unwrap();
        assert_eq!(
            broker().window(window).build(),
            Err(RetentionError::TooShort { window, needed })
        );
        assert_eq!(broker().window(needed).build().unwrap().window(), needed);
    }

    #[test]
    fn what_only_the_user_knows_has_no_default() {
        for (builder, setting) in [
            (Retention::builder(), "lock_timeout"),
            (Retention::builder().lock_timeout(MARGIN), "max_deliveries"),
            (
                Retention::builder().lock_timeout(MARGIN).max_deliveries(1),
                "message_ttl",
            ),
        ] {
            assert_eq!(builder.build(), Err(RetentionError::Missing { setting }));
        }
        assert_eq!(
            broker().max_deliveries(0).build(),
            Err(RetentionError::NoDeliveries)
        );
    }

    #[test]
    fn parked_payloads_outlive_the_window() {
        let window = broker().build().unwrap().window();
        let given = Duration::from_mins(1);
        assert_eq!(
            broker().parked_payloads(given).build(),
            Err(RetentionError::PayloadsTooShort { given, window })
        );
        let retention = broker().parked_payloads(MARGIN).build().unwrap();
        assert_eq!(retention.parked_payloads(), Some(MARGIN));
    }

    #[test]
    fn absurd_settings_are_refused_and_do_not_overflow() {
        let forever = broker().lock_timeout(Duration::MAX);
        assert!(matches!(
            forever.build(),
            Err(RetentionError::TooLong { .. })
        ));
    }
}
