//! `Outcome`: what became of a delivery that was handled without an error.

/// What became of a delivery that was handled without an error.
///
/// Acknowledge the delivery in all three cases: the work of the message is done. A caller that has nothing else to do
/// with the value may ignore it, so this is not `#[must_use]`; the `Result` around it is.
///
/// ```
/// use inbox_core::Outcome;
///
/// # fn credit() -> Result<Outcome<u32>, std::fmt::Error> { Ok(Outcome::Processed(7)) }
/// match credit()? {
///     Outcome::Processed(balance) => println!("credited, the balance is now {balance}"),
///     Outcome::Replayed(balance) => println!("credited before, the balance was {balance} then"),
///     Outcome::Duplicate => println!("credited before"),
/// }
/// # Ok::<(), std::fmt::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome<T> {
    /// The handler ran now, and its work is committed together with the marker.
    Processed(T),
    /// An earlier delivery was processed. The handler did not run; this is the value it returned then.
    Replayed(T),
    /// An earlier delivery was processed. The handler did not run.
    Duplicate,
}

impl<T> Outcome<T> {
    /// Whether an earlier delivery was processed, so that the handler did not run now.
    ///
    /// True for [`Replayed`](Self::Replayed) too.
    pub const fn is_duplicate(&self) -> bool {
        matches!(self, Self::Replayed(_) | Self::Duplicate)
    }

    /// What the handler returned, now or then.
    pub fn into_value(self) -> Option<T> {
        match self {
            Self::Processed(value) | Self::Replayed(value) => Some(value),
            Self::Duplicate => None,
        }
    }

    /// Changes the value, if there is one.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Outcome<U> {
        match self {
            Self::Processed(value) => Outcome::Processed(change(value)),
            Self::Replayed(value) => Outcome::Replayed(change(value)),
            Self::Duplicate => Outcome::Duplicate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Outcome;

    #[test]
    fn a_replay_is_a_duplicate_with_a_value() {
        assert!(!Outcome::Processed(1).is_duplicate());
        assert!(Outcome::Replayed(1).is_duplicate());
        assert!(Outcome::<i32>::Duplicate.is_duplicate());

        assert_eq!(Outcome::Processed(1).into_value(), Some(1));
        assert_eq!(Outcome::Replayed(1).into_value(), Some(1));
        assert_eq!(Outcome::<i32>::Duplicate.into_value(), None);
    }

    #[test]
    fn map_keeps_the_kind() {
        assert_eq!(Outcome::Processed(1).map(|n| n + 1), Outcome::Processed(2));
        assert_eq!(Outcome::Replayed(1).map(|n| n + 1), Outcome::Replayed(2));
        assert_eq!(Outcome::<i32>::Duplicate.map(|n| n + 1), Outcome::Duplicate);
    }
}
