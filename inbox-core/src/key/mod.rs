//! `Key`: the canonical text that names one message.

mod digest;
mod encoder;
mod error;
mod impls;
mod message_key;
#[cfg(test)]
mod tests;

use std::fmt;

pub use self::digest::{DigestKey, idempotency_key};
pub use self::encoder::{KeyEncoder, TupleEncoder};
pub use self::error::KeyError;
pub use self::message_key::MessageKey;

/// The longest canonical text of a key, in bytes of UTF-8, on every database.
///
/// For longer ids there is [`Key::digest`].
pub const MAX_KEY_BYTES: usize = 255;

/// A valid key: 1 to 255 bytes of UTF-8 that name one message.
///
/// Keys are compared byte for byte, here and in the database: `abc`, `ABC`, `abc ` and composed and decomposed accents
/// are different messages. Ordering is by bytes too; claiming several keys in this order avoids deadlocks.
///
/// A key may carry personal data, so `Debug` shows only [`short_digest`](Key::short_digest) and there is no `Display`.
///
/// # The canonical text
///
/// It is stable for ever, because the markers in the database were made from it.
///
/// * The key of a single value is its text: `"m-1"` is `m-1`, `42` is `42`, a `Uuid` is hyphenated and in lower case.
/// * The key of a tuple is its parts between parentheses and commas: `("topic", 0, 42)` is `(topic,0,42)`. Inside of a
///   part, `\`, `(`, `)` and `,` are preceded by a backslash: `("a,b", "c")` is `(a\,b,c)`. Tuples nest. Two different
///   tuples never have the same text.
///
/// Types are not part of the text. A number and its decimal text are the same key, and so are a tuple and a string that
/// spells the tuple's canonical text. That is deliberate (an id may change its type without its messages being
/// processed again), and means that one consumer should not mix kinds of key.
///
/// # Examples
///
/// ```
/// use inbox_core::Key;
///
/// assert_eq!(Key::new("m-1")?.as_str(), "m-1");
/// assert_eq!(Key::new(&42_i64)?, Key::new("42")?);
/// assert_ne!(Key::new(&("doc-7", 12))?, Key::new(&("doc-71", 2))?);
/// assert_eq!(format!("{:?}", Key::new("someone@example.org")?), "Key(k:79a6123c)");
/// # Ok::<(), inbox_core::KeyError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Box<str>);

impl Key {
    /// Encodes a value and checks the result.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the value, or a part of a tuple, is empty or only white space, if the text is longer than
    /// [`MAX_KEY_BYTES`] or contains a NUL, or if the type refuses the value (the nil UUID).
    pub fn new(value: &(impl MessageKey + ?Sized)) -> Result<Self, KeyError> {
        let mut encoder = KeyEncoder::new();
        value.encode(&mut encoder);
        encoder.finish().map(Self)
    }

    /// The canonical text, as it stands in the database.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A short name for logs that does not reveal the key: `k:` and eight hexadecimal digits of its SHA-256.
    pub fn short_digest(&self) -> String {
        digest::short(self.as_str())
    }

    /// A key made from content of any length: the 64 hexadecimal digits of its SHA-256.
    ///
    /// For ids that do not fit into [`MAX_KEY_BYTES`], and for messages that have no id but whose *whole content*
    /// identifies them. Do not leave out fields: two messages that differ only in what is left out become one.
    ///
    /// Empty content and white space give [`KeyError::Empty`] when the key is made, never one shared key.
    ///
    /// ```
    /// use inbox_core::{Key, KeyError};
    ///
    /// let long_url = format!("https://example.org/?q={}", "x".repeat(1000));
    /// let key = Key::new(&("crawler", Key::digest(&long_url)))?;
    /// assert_eq!(key.as_str().len(), "(crawler,)".len() + 64);
    ///
    /// assert_eq!(Key::new(&Key::digest("")), Err(KeyError::Empty));
    /// # Ok::<(), KeyError>(())
    /// ```
    pub fn digest(content: impl AsRef<[u8]>) -> DigestKey {
        DigestKey::of(content.as_ref())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.short_digest())
    }
}

impl AsRef<str> for Key {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl MessageKey for Key {
    fn encode(&self, encoder: &mut KeyEncoder) {
        encoder.text(self.as_str());
    }
}
