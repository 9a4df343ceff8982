//! What the inbox decides without touching a database.
//!
//! A broker that promises *at least once* delivers some messages twice. The inbox makes the second delivery harmless:
//! a handler writes a **marker** in the same database transaction as its own changes, and a unique index on the marker
//! decides, once and for all, who was first.
//!
//! Users depend on `inbox-sqlx`, which re-exports everything here. This crate holds the rules, as plain data and pure
//! functions, so that they can be read and tested without a server.
//!
//! # The model
//!
//! | word | meaning | type |
//! |---|---|---|
//! | message | what the broker delivers, perhaps more than once | yours |
//! | key | one text that names the message, the same at every delivery | [`Key`], made from any [`MessageKey`] |
//! | consumer | the handler, by a name that survives refactoring | [`Consumer`] |
//! | marker | the row (key, consumer) in the inbox table | [`TableName`] says where |
//! | claim | the insert of the marker: it succeeds for exactly one delivery | |
//! | outcome | what became of a delivery that was handled without an error | [`Outcome`] |
//! | verdict | what a unique violation means: our index, another one, or not readable | [`Verdict`] |
//! | decision | what becomes of a claim that is committed before the work, in the two-phase mode | [`two_phase`] |
//!
//! # Three rules that everything else follows from
//!
//! 1. **A key is never guessed.** Nothing, the empty text, white space and the nil UUID are refused ([`KeyError`])
//!    before anything is touched. Each of them would become one key shared by unrelated messages, and all but the first
//!    of those would be lost.
//! 2. **Different keys never meet.** A key is compared byte for byte, is never cut, and a tuple is not a concatenation:
//!    `("a:b", "c")` and `("a", "b:c")` are two keys.
//! 3. **Only our own index says "duplicate".** A unique violation is told apart by the name of the index
//!    ([`Violation::verdict`]); one that cannot be read for certain is an error, never an acknowledgement. The same
//!    reading serves handlers that want to recognise a violation of their own tables ([`ViolatedIndex`]).
//!
//! ```
//! use inbox_core::{Key, KeyError};
//!
//! let key = Key::new(&("orders", 7, 12_345_u64))?;
//! assert_eq!(key.as_str(), "(orders,7,12345)");
//!
//! assert_eq!(Key::new(""), Err(KeyError::Empty));
//! # Ok::<(), KeyError>(())
//! ```
//!
//! # Features
//!
//! `uuid`: [`Uuid`](https://docs.rs/uuid) is a [`MessageKey`].

mod classify;
mod consumer;
mod key;
mod outcome;
mod retention;
mod table;
pub mod two_phase;

pub use classify::{Verdict, ViolatedIndex, Violation};
pub use consumer::{Consumer, ConsumerError, MAX_CONSUMER_BYTES};
pub use key::{
    DigestKey, Key, KeyEncoder, KeyError, MAX_KEY_BYTES, MessageKey, TupleEncoder, idempotency_key,
};
pub use outcome::Outcome;
pub use retention::{Retention, RetentionBuilder, RetentionError};
pub use table::{MAX_SCHEMA_BYTES, MAX_TABLE_BYTES, TableName, TableNameError, TableNameRule};
pub use two_phase::{Backoff, Effect, OnUnknown, Policy, Terms, TermsError};
