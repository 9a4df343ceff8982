//! `KeyEncoder`: writes the canonical text of a key, within its limits.

use std::fmt::{self, Display, Write as _};

use super::{KeyError, MAX_KEY_BYTES, MessageKey};

/// Receives the value of a [`MessageKey`] and writes its canonical text.
///
/// An implementation of [`MessageKey`] calls exactly one of [`text`](Self::text), [`display`](Self::display),
/// [`tuple`](Self::tuple) and [`refuse`](Self::refuse), or hands the encoder to a value that does. Nothing is checked
/// by return value: the first mistake is kept and reported by [`Key::new`](super::Key::new).
#[derive(Debug)]
pub struct KeyEncoder {
    /// The canonical text, as long as it fits.
    text: String,
    /// The length of the whole canonical text, also of what was not stored.
    length: usize,
    /// How many tuples are open. Only text inside of a tuple is escaped.
    depth: usize,
    /// How many single values were written, in all tuples together.
    values: usize,
    /// Whether the current place (the key, or one part of a tuple) has its value.
    filled: bool,
    error: Option<KeyError>,
}

impl KeyEncoder {
    pub(super) fn new() -> Self {
        Self {
            text: String::new(),
            length: 0,
            depth: 0,
            values: 0,
            filled: false,
            error: None,
        }
    }

    /// Writes the value as text.
    pub fn text(&mut self, text: &str) {
        self.display(text);
    }

    /// Writes the value as the text that `Display` gives.
    ///
    /// The text must be stable: it names the message for as long as its marker is kept.
    ///
    /// ```
    /// use inbox_core::{Key, KeyEncoder, MessageKey};
    ///
    /// struct Serial(u32);
    ///
    /// impl MessageKey for Serial {
    ///     fn encode(&self, encoder: &mut KeyEncoder) {
    ///         encoder.display(format_args!("{:08x}", self.0));
    ///     }
    /// }
    ///
    /// assert_eq!(Key::new(&Serial(48_879))?.as_str(), "0000beef");
    /// # Ok::<(), inbox_core::KeyError>(())
    /// ```
    pub fn display(&mut self, value: impl Display) {
        self.fill();
        self.values += 1;
        let mut leaf = Leaf {
            encoder: self,
            blank: true,
        };
        // A type whose `Display` fails has no reliable text, whatever it has written so far.
        let failed = write!(leaf, "{value}").is_err();
        if leaf.blank || failed {
            self.refuse_as_empty();
        }
    }

    /// Writes a tuple, part by part.
    ///
    /// ```
    /// use inbox_core::{Key, KeyEncoder, MessageKey};
    ///
    /// struct Position { topic: String, partition: i32, offset: i64 }
    ///
    /// impl MessageKey for Position {
    ///     fn encode(&self, encoder: &mut KeyEncoder) {
    ///         encoder.tuple(|tuple| {
    ///             tuple.part(&self.topic).part(&self.partition).part(&self.offset);
    ///         });
    ///     }
    /// }
    ///
    /// let position = Position { topic: "orders".to_owned(), partition: 0, offset: 42 };
    /// assert_eq!(Key::new(&position)?.as_str(), "(orders,0,42)");
    /// # Ok::<(), inbox_core::KeyError>(())
    /// ```
    pub fn tuple(&mut self, write_parts: impl FnOnce(&mut TupleEncoder<'_>)) {
        self.fill();
        self.push("(");
        self.depth += 1;
        let mut tuple = TupleEncoder {
            encoder: self,
            parts: 0,
        };
        write_parts(&mut tuple);
        let parts = tuple.parts;
        self.depth -= 1;
        self.push(")");
        if parts == 0 {
            self.values += 1;
            self.refuse_as_empty();
        }
        self.filled = true;
    }

    /// Refuses the value. If several refuse, the first one is reported.
    pub fn refuse(&mut self, error: KeyError) {
        self.filled = true;
        self.error.get_or_insert(error);
    }

    /// The canonical text, or what is wrong with it.
    pub(super) fn finish(self) -> Result<Box<str>, KeyError> {
        match self.error {
            Some(error) => Err(error),
            None if !self.filled => Err(KeyError::Empty),
            None if self.length > MAX_KEY_BYTES => Err(KeyError::too_long(self.length)),
            None => Ok(self.text.into_boxed_str()),
        }
    }

    /// Takes the current place for a value.
    fn fill(&mut self) {
        if self.filled {
            self.refuse(KeyError::SeveralValues);
        }
        self.filled = true;
    }

    /// Refuses the value written last because nothing is in it.
    fn refuse_as_empty(&mut self) {
        self.refuse(match self.depth {
            0 => KeyError::Empty,
            _ => KeyError::EmptyPart {
                position: self.values,
            },
        });
    }

    /// Appends to the canonical text. Past the limit it only counts, so that a huge value costs no memory.
    fn push(&mut self, text: &str) {
        if let Some(at) = text.find('\0') {
            self.refuse(KeyError::Nul {
                offset: self.length + at,
            });
        }
        self.length += text.len();
        if self.length <= MAX_KEY_BYTES {
            self.text.push_str(text);
        }
    }
}

/// Writes the parts of one tuple; see [`KeyEncoder::tuple`].
#[derive(Debug)]
pub struct TupleEncoder<'a> {
    encoder: &'a mut KeyEncoder,
    parts: usize,
}

impl TupleEncoder<'_> {
    /// Writes the next part.
    pub fn part(&mut self, value: &(impl MessageKey + ?Sized)) -> &mut Self {
        if self.parts > 0 {
            self.encoder.push(",");
        }
        self.parts += 1;
        self.encoder.filled = false;
        value.encode(self.encoder);
        if !self.encoder.filled {
            self.encoder.values += 1;
            self.encoder.refuse_as_empty();
        }
        self
    }
}

/// One single value on its way into the text: escapes it, and sees whether anything but white space is in it.
struct Leaf<'a> {
    encoder: &'a mut KeyEncoder,
    blank: bool,
}

impl fmt::Write for Leaf<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.blank = self.blank && text.trim_start().is_empty();
        if self.encoder.depth == 0 {
            self.encoder.push(text);
            return Ok(());
        }
        let mut rest = text;
        while let Some(at) = rest.find(['\\', '(', ')', ',']) {
            self.encoder.push(&rest[..at]);
            self.encoder.push("\\");
            self.encoder.push(&rest[at..=at]);
            rest = &rest[at + 1..];
        }
        self.encoder.push(rest);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{KeyEncoder, KeyError, MessageKey};

    fn encoded(value: &(impl MessageKey + ?Sized)) -> KeyEncoder {
        let mut encoder = KeyEncoder::new();
        value.encode(&mut encoder);
        encoder
    }

    #[test]
    fn a_huge_value_is_counted_and_not_stored() {
        let huge = "x".repeat(100_000_000);

        let encoder = encoded(huge.as_str());
        assert!(encoder.text.capacity() <= 2 * super::MAX_KEY_BYTES);
        assert_eq!(encoder.finish(), Err(KeyError::too_long(100_000_000)));

        // Fewer, because looking for what to escape is slow without optimisation.
        let encoder = encoded(&("a", &huge[..10_000_000]));
        assert!(encoder.text.capacity() <= 2 * super::MAX_KEY_BYTES);
        assert_eq!(encoder.finish(), Err(KeyError::too_long(10_000_004)));
    }

    #[test]
    fn many_pieces_past_the_limit_are_not_stored_either() {
        let commas = ",".repeat(100_000);
        let encoder = encoded(&("a", commas.as_str()));
        assert!(encoder.text.capacity() <= 2 * super::MAX_KEY_BYTES);
        assert_eq!(encoder.finish(), Err(KeyError::too_long(200_004)));
    }
}
