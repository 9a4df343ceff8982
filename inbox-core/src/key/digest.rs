//! SHA-256 of keys and of content that stands for a key.

use std::fmt;

use sha2::{Digest as _, Sha256};

use super::{KeyEncoder, MessageKey};

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

/// Bytes as hexadecimal digits in lower case.
struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
