//! Idempotent message handlers, declared with one attribute and decided by your database.
//!
//! Brokers deliver at least once, and two instances of a service can handle the same message at the same
//! moment. `if already_seen { return }` protects nothing then: both look, both see nothing, both do the work.
//! This crate writes a *marker* row, unique per message and consumer, in the transaction that does the work,
//! so that the database decides.
//!
//! **`Ok` means acknowledge. `Err` means do not acknowledge.** There is nothing else to know:
//!
//! ```
//! use inbox_sqlx::{Disposition, Outcome};
//! # use std::time::Duration;
//! # struct Delivery;
//! # impl Delivery {
//! #     async fn ack(self) {}
//! #     async fn nack_after(self, _: Option<Duration>) {}
//! #     async fn reject(self) {}
//! # }
//!
//! async fn finish<T, E: std::error::Error + 'static>(delivery: Delivery, result: Result<Outcome<T>, E>) {
//!     match result {
//!         Ok(_) => delivery.ack().await, // processed now, or before
//!         Err(error) => match Disposition::of(&error) {
//!             Disposition::Retry { after } => delivery.nack_after(after).await,
//!             Disposition::DeadLetter => delivery.reject().await, // e.g. it has no key
//!         },
//!     }
//! }
//! ```
//!
//! # Where to start
//!
//! * [`#[idempotent]`](macro@idempotent): the attribute, what a call does, what a body may do, and the
//!   equivalent code without it.
//! * [`Inbox`]: the table of markers; [`Inbox::install`] creates it, [`Inbox::verify`] checks it at start-up.
//! * [`MessageKey`](trait@MessageKey): what can identify a message.
//! * [Effects outside the database](guide::effects_outside_the_database): e-mail, cards, other people's APIs.
//! * [Retention](guide::retention) and [least privilege](guide::least_privilege).
//! * [`Error`] and [`Disposition`]: what can go wrong, and what to do with the delivery then.
//! * [`violated_index`]: telling the violations of *your* unique indexes apart, on all three databases.
//!
//! # What is promised
//!
//! Seen from any other connection, at all times:
//!
//! 1. `Ok` is returned only when the marker is committed.
//! 2. The number of committed effects per message and consumer is 0 before the first
//!    [`Processed`](Outcome::Processed), and exactly 1 from then on for as long as the marker is kept.
//! 3. Any `Err` leaves no effect and no marker; except [`Error::Unknown`], where both are there or neither,
//!    and [`Error::TransactionEnded`], where the body itself broke its transaction.
//! 4. Delivering again what was not acknowledged ends in `Ok`, or in a dead letter somebody can see.
//!
//! It holds as far as the database keeps what it committed. `synchronous_commit = off`,
//! `innodb_flush_log_at_trx_commit <> 1`, fail-over to an asynchronous replica and SQLite's
//! `synchronous = NORMAL` at a power loss can forget a commit that was acknowledged to us, and then to the
//! broker.
//!
//! What is *not* promised: anything about effects outside this database (they need the [two-phase
//! mode](guide::effects_outside_the_database)), order between messages, and anything about two messages
//! with different keys.
//!
//! # Databases and features
//!
//! `postgres` (12 or later), `mysql` (MySQL 8.0.16 or later, MariaDB 10.6 or later) and `sqlite` (bundled),
//! none by default and each alone if you like. `uuid` makes `Uuid` a key. The crate never chooses TLS: your
//! application adds `sqlx = { version = "0.9", features = ["tls-rustls"] }` or whichever it wants, and Cargo
//! unifies the two.
//!
//! # Sharing a pool
//!
//! [`Inbox::connect`] opens a pool of its own; [`Inbox::new`] works on yours. Either way a call takes one
//! connection and gives it back only after a clean end: after an error in the protocol, a panic or a dropped
//! future the connection is closed, because sqlx 0.9 hands connections back in states in which the next
//! user's writes are silently lost.

#![cfg_attr(
    not(all(feature = "postgres", feature = "mysql", feature = "sqlite")),
    allow(
        dead_code,
        unused_imports,
        unused_macros,
        reason = "what one database needs of the shared parts is not what another one needs"
    )
)]

#[doc(hidden)]
pub mod __private;
#[expect(
    unnameable_types,
    reason = "the sealed trait and what it speaks of are public only in form"
)]
mod backend;
mod builder;
mod claim;
mod connect;
mod disposition;
mod error;
mod guard;
pub mod guide;
mod handlers;
mod inbox;
mod operator;
mod prune;
mod recover;
mod schema;
mod status;
mod sweeper;
mod transaction;
mod two_phase;
mod violated;

pub use inbox_core::{
    Consumer, ConsumerError, DigestKey, Key, KeyEncoder, KeyError, MAX_CONSUMER_BYTES,
    MAX_KEY_BYTES, MessageKey, Outcome, Retention, RetentionBuilder, RetentionError, TableName,
    TableNameError, ViolatedIndex,
};
/// Makes a newtype a [`MessageKey`](trait@MessageKey): its key is that of its one field.
///
/// ```
/// use inbox_sqlx::{Key, MessageKey};
///
/// #[derive(MessageKey)]
/// struct OrderId(u64);
///
/// assert_eq!(Key::new(&OrderId(17))?.as_str(), "17");
/// # Ok::<(), inbox_sqlx::KeyError>(())
/// ```
pub use inbox_macros::MessageKey;
#[doc = include_str!("docs/idempotent.md")]
pub use inbox_macros::idempotent;

pub use inbox_core::two_phase::{Backoff, Effect, OnUnknown, Policy, Terms, TermsError};

pub use crate::{
    backend::Backend,
    builder::InboxBuilder,
    claim::{Begin, ClaimedTx},
    disposition::{Disposition, Remedy},
    error::{ConfigError, EarlyMarker, Error, MessageRef},
    inbox::Inbox,
    operator::{Decided, ListedMessage, Page, Payload},
    prune::{Pruned, Pruner},
    schema::{IndexFault, SchemaError, SchemaProblem},
    status::{MessageState, MessageStatus, StateCount},
    sweeper::{Sweep, Sweeper},
    two_phase::{Claim, TwoPhase},
    violated::{is_violation_of, violated_index},
};

/// The inbox that belongs to a connection type: `InboxOf<PgConnection>` is `Inbox<Postgres>`.
pub type InboxOf<C> = Inbox<<C as __private::HandlerConnection>::Database>;

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
