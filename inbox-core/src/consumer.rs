//! `Consumer`: the name under which a handler remembers what it has processed.

use std::borrow::Cow;
use std::fmt;

/// The longest name of a consumer, in bytes of UTF-8, on every database.
pub const MAX_CONSUMER_BYTES: usize = 200;

/// The name under which a handler remembers what it has processed.
///
/// It is the second half of the unique index: two consumers never suppress each other, and a handler that is moved or
/// renamed keeps its memory as long as its consumer name stays.
///
/// A name has 1 to 200 bytes, is not only white space and contains no control characters. It is compared byte for byte.
///
/// ```
/// use inbox_core::Consumer;
///
/// let credit = Consumer::new("credit")?;
/// assert_eq!(credit.as_str(), "credit");
/// assert!(Consumer::new("").is_err());
/// # Ok::<(), inbox_core::ConsumerError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Consumer(Cow<'static, str>);

impl Consumer {
    /// Checks a name.
    ///
    /// # Errors
    ///
    /// [`ConsumerError`] says which rule the name breaks.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Result<Self, ConsumerError> {
        let name = name.into();
        Self::check(&name)?;
        Ok(Self(name))
    }

    /// The rule itself: whether `name` can be the name of a consumer.
    ///
    /// The attribute `#[idempotent]` checks a literal in the same way, at compile time.
    ///
    /// # Errors
    ///
    /// [`ConsumerError`] says which rule the name breaks.
    pub fn check(name: &str) -> Result<(), ConsumerError> {
        if name.len() > MAX_CONSUMER_BYTES {
            return Err(ConsumerError::TooLong {
                value: name.to_owned(),
                limit: MAX_CONSUMER_BYTES,
            });
        }
        // Before the test for white space: a lone line feed is both, and this says more.
        if let Some(character) = name.chars().find(|character| character.is_control()) {
            return Err(ConsumerError::Control {
                value: name.to_owned(),
                character,
            });
        }
        if name.trim_start().is_empty() {
            return Err(ConsumerError::Blank {
                value: name.to_owned(),
            });
        }
        Ok(())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Which rule the name of a consumer breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConsumerError {
    /// The name is empty or only white space.
    #[error("the consumer name {value:?} is empty or only white space")]
    Blank {
        /// The name.
        value: String,
    },
    /// The name is longer than [`MAX_CONSUMER_BYTES`].
    #[error(
        "the consumer name that begins with {:?} has {} bytes, the limit is {limit}",
        &value[..value.floor_char_boundary(40)],
        value.len()
    )]
    TooLong {
        /// The name.
        value: String,
        /// How many bytes it may have.
        limit: usize,
    },
    /// The name contains a control character, such as a NUL or a line feed.
    #[error("the consumer name {value:?} contains the control character {character:?}")]
    Control {
        /// The name.
        value: String,
        /// The first control character in it.
        character: char,
    },
}

impl fmt::Display for Consumer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl AsRef<str> for Consumer {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl From<&Consumer> for Consumer {
    fn from(consumer: &Consumer) -> Self {
        consumer.clone()
    }
}

impl TryFrom<&'static str> for Consumer {
    type Error = ConsumerError;

    fn try_from(name: &'static str) -> Result<Self, ConsumerError> {
        Self::new(name)
    }
}

impl TryFrom<String> for Consumer {
    type Error = ConsumerError;

    fn try_from(name: String) -> Result<Self, ConsumerError> {
        Self::new(name)
    }
}

#[cfg(test)]
mod tests {
    use super::{Consumer, ConsumerError, MAX_CONSUMER_BYTES};

    #[test]
    fn names_that_are_accepted() {
        let longest = "c".repeat(MAX_CONSUMER_BYTES);
        for name in [
            "c",
            "credit",
            "Credit",
            "shop/credit v2",
            " credit",
            "größe",
            "入金",
            &longest,
        ] {
            assert_eq!(Consumer::check(name), Ok(()), "{name:?}");
        }
    }

    #[test]
    fn blank_names_are_refused() {
        for name in ["", " ", "\u{3000}", "\u{2003} "] {
            let value = name.to_owned();
            assert_eq!(Consumer::check(name), Err(ConsumerError::Blank { value }));
        }
    }

    #[test]
    fn control_characters_are_refused() {
        for character in ['\0', '\n', '\t', '\u{1b}', '\u{7f}', '\u{85}', '\u{9f}'] {
            let value = format!("cre{character}dit");
            assert_eq!(
                Consumer::new(value.clone()),
                Err(ConsumerError::Control { value, character })
            );
        }
        assert_eq!(
            Consumer::check("\n").map_err(|error| error.to_string()),
            Err(r#"the consumer name "\n" contains the control character '\n'"#.to_owned())
        );
    }

    #[test]
    fn the_limit_is_in_bytes_and_the_error_names_value_and_limit() {
        let name = "é".repeat(101);
        let error = Consumer::check(&name).expect_err("202 bytes");
        assert_eq!(
            error.to_string(),
            format!(
                "the consumer name that begins with {:?} has 202 bytes, the limit is 200",
                "é".repeat(20)
            )
        );
    }

    #[test]
    fn borrowed_and_owned_names_are_the_same_consumer() {
        assert_eq!(
            Consumer::try_from("credit"),
            Consumer::try_from("credit".to_owned())
        );
    }
}
