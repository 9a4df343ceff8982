//! `MessageKey`: the types that can name a message, and what the compiler says about all others.

use super::KeyEncoder;

/// A value that names one message, the same at every delivery.
///
/// Implemented for `str` and `String`, all integers, `Uuid` (feature `uuid`), tuples of 2 to 4 keys, [`Key`] and
/// [`DigestKey`], and for references and smart pointers to them (`&T`, `Box`, `Rc`, `Arc`, `Cow`). A newtype gets it with
/// `#[derive(MessageKey)]`; other types implement [`encode`](Self::encode) by hand.
///
/// # What makes a good key
///
/// The producer assigns it once, together with the message: a CloudEvents `(source, id)`, an outbox row's id, a Kafka
/// `(topic, partition, offset)`. What a *delivery* brings along (a receipt handle, a delivery count, the time of arrival)
/// is different the next time, so a redelivery would be processed again. What several messages share (a correlation id,
/// an account number) makes all but the first of them duplicates, and they are lost.
///
/// # What is not a key
///
/// `Option` (what should a message without an id be a duplicate of?), `bool` and `char` (too few values), floats (no
/// single text), `()`, times. They do not compile:
///
/// ```compile_fail,E0277
/// # use inbox_core::Key;
/// let id: Option<String> = None;
/// let key = Key::new(&id);
/// ```
///
/// Refuse such a message before the handler is called:
///
/// ```
/// # use inbox_core::Key;
/// # struct Message { id: Option<String> }
/// # struct MissingId;
/// fn id_of(message: &Message) -> Result<&str, MissingId> {
///     message.id.as_deref().ok_or(MissingId)
/// }
/// ```
///
/// [`Key`]: super::Key
/// [`DigestKey`]: super::DigestKey
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the key of a message",
    label = "this value does not name a message",
    note = "a key names one message: the same value at every redelivery, and a different one for every other message",
    note = "keys are strings, integers, `Uuid` (with the feature `uuid`), and tuples of 2 to 4 of them: `key = (msg.source, msg.id)`",
    note = "if the id can be missing (`Option`), refuse the message before the handler is called: `let id = msg.id.ok_or(MissingId)?;`",
    note = "if it is a newtype around an id, write `#[derive(MessageKey)]` on it; if it is long or bytes, use `Key::digest(..)`",
    note = "times, floats, flags and `()` are no ids: they change between deliveries or are shared by many messages; use the id that the producer assigned"
)]
pub trait MessageKey {
    /// Writes the value into the encoder, as one text or as one tuple.
    ///
    /// Must write the same text for ever: markers of messages that were processed years ago are compared with it.
    fn encode(&self, encoder: &mut KeyEncoder);
}
