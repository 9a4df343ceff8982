//! SHA-256 of keys and of content that stands for a key.

use std::fmt;

use sha2::{Digest as _, Sha256};

use super::{Key, KeyEncoder, MessageKey};
use crate::Consumer;

/// The SHA-256 of some content, to be used as a key; made by [`Key::digest`](super::Key::digest).
///
/// Its text is 64 hexadecimal digits in lower case. The digest of blank content exists as a value but is refused when a
/// key is made from it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DigestKey {
    /// Nothing if the content was blank.
    sha256: Option<[u8; 32]>,
}

impl DigestKey {
    pub(super) fn of(content: &[u8]) -> Self {
        let blank = str::from_utf8(content).is_ok_and(|text| text.trim_start().is_empty());
        Self {
            sha256: (!blank).then(|| Sha256::digest(content).into()),
        }
    }
}

impl MessageKey for DigestKey {
    fn encode(&self, encoder: &mut KeyEncoder) {
        match &self.sha256 {
            Some(bytes) => encoder.display(Hex(bytes)),
            None => encoder.text(""),
        }
    }
}

/// `k:` and the first eight hexadecimal digits of the SHA-256.
pub(super) fn short(text: &str) -> String {
    let digest = Sha256::digest(text);
    format!("k:{}", Hex(&digest[..4]))
}

/// What names the effect of a message to another system: 64 hexadecimal digits, the same at every attempt.
///
/// The SHA-256 of the pair in the encoding of tuples, so that different pairs of consumer and message id never share one,
/// as `consumer:id` would. Stable for ever: the other side may remember it for days.
///
/// ```
/// use inbox_core::{Consumer, Key, idempotency_key};
///
/// let (mail, key) = (Consumer::new("mail")?, Key::new("m-17")?);
/// assert_eq!(idempotency_key(&mail, &key), idempotency_key(&mail, &key));
/// assert_eq!(idempotency_key(&mail, &key).len(), 64);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn idempotency_key(consumer: &Consumer, key: &Key) -> String {
    let escaped = |text: &str| {
        text.chars().fold(String::new(), |mut escaped, character| {
            if matches!(character, '\\' | '(' | ')' | ',') {
                escaped.push('\\');
            }
            escaped.push(character);
            escaped
        })
    };
    let pair = format!("({},{})", escaped(consumer.as_str()), escaped(key.as_str()));
    Hex(&Sha256::digest(pair)).to_string()
}

/// Bytes as hexadecimal digits in lower case.
struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Hex, idempotency_key};
    use crate::{Consumer, Key};
    use sha2::{Digest as _, Sha256};

    fn of(consumer: &'static str, key: &str) -> String {
        let (consumer, key) = (Consumer::new(consumer).unwrap(), Key::new(key).unwrap());
        idempotency_key(&consumer, &key)
    }

    #[test]
    fn it_is_the_digest_of_the_tuple() {
        let tuple = Key::new(&("mail, (new)", "m\\17")).unwrap();
        let digest = Hex(&Sha256::digest(tuple.as_str())).to_string();
        assert_eq!(of("mail, (new)", "m\\17"), digest);
    }

    /// A call that is repeated after an update of this library must carry the key of the first one.
    #[test]
    fn it_is_stable_for_ever() {
        assert_eq!(
            of("mail", "m-17"),
            "4316a92a277f2cc15c6802b82fcb224f70af88b0d18de5b317844a7e02385086"
        );
    }

    #[test]
    fn pairs_whose_plain_concatenations_are_equal_differ() {
        assert_ne!(of("mail", ":m"), of("mail:", "m"));
        assert_ne!(of("a,b", "c"), of("a", "b,c"));
    }
}
