//! `KeyError`: why a value cannot be the key of a message.

use super::MAX_KEY_BYTES;

/// Why a value cannot be the key of a message.
///
/// Every variant is permanent: the same delivery will be refused again, so it belongs into a dead-letter queue. No
/// variant carries the key itself, which may be personal data.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// There is no text, or only white space: most often a header that is missing.
    ///
    /// Accepting it would give all such messages one shared key, and all but the first would be lost.
    #[error("the message key is empty or only white space, so it does not name a message")]
    Empty,
    /// A part of a tuple has no text, or only white space.
    #[error(
        "part {position} of the message key is empty or only white space, so the key does not name a message"
    )]
    EmptyPart {
        /// The number of the value, from left to right, starting with 1; the values of nested tuples count.
        position: usize,
    },
    /// The canonical text is too long. Keys are never cut, because two long keys may begin alike.
    #[error(
        "the message key has {length} bytes, the limit is {limit}; use `Key::digest(..)` for long ids"
    )]
    TooLong {
        /// How long the canonical text is, in bytes.
        length: usize,
        /// How long it may be: [`MAX_KEY_BYTES`].
        limit: usize,
    },
    /// The text contains a NUL character, which PostgreSQL cannot store.
    #[error("the message key contains a NUL character at byte {offset}")]
    Nul {
        /// Where the NUL stands in the canonical text, in bytes.
        offset: usize,
    },
    /// The UUID is `00000000-0000-0000-0000-000000000000`.
    ///
    /// RFC 9562, section 5.9, defines it as the absence of a value. It is what a field holds that nobody has set.
    #[error(
        "the message key is the nil UUID, which stands for a value that is absent (RFC 9562, section 5.9)"
    )]
    NilUuid,
    /// An implementation of [`MessageKey`](super::MessageKey) wrote more than one value without
    /// [`KeyEncoder::tuple`](super::KeyEncoder::tuple).
    ///
    /// Written next to each other, `"ab", "c"` and `"a", "bc"` would be the same key.
    #[error(
        "the message key was written in several pieces; an implementation of `MessageKey` must use `KeyEncoder::tuple`"
    )]
    SeveralValues,
}

impl KeyError {
    /// The error for a canonical text of `length` bytes.
    pub(super) fn too_long(length: usize) -> Self {
        Self::TooLong {
            length,
            limit: MAX_KEY_BYTES,
        }
    }
}
