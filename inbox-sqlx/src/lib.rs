//! Idempotent message handlers, declared with one attribute and decided by your database.

#[doc(hidden)]
pub mod __private;
#[expect(
    unnameable_types,
    reason = "the sealed trait and what it speaks of are public only in form"
)]
mod backend;
mod claim;
mod connect;
mod disposition;
mod error;
mod guard;
mod handlers;
mod inbox;
mod recover;
mod schema;
mod status;
mod violated;

pub use inbox_core::{
    Consumer, ConsumerError, DigestKey, Key, KeyEncoder, KeyError, MAX_CONSUMER_BYTES,
    MAX_KEY_BYTES, MessageKey, Outcome, TableName, TableNameError, ViolatedIndex,
};
pub use inbox_macros::{MessageKey, idempotent};

pub use crate::{
    backend::Backend,
    claim::{Begin, ClaimedTx},
    disposition::{Disposition, Remedy},
    error::{ConfigError, EarlyMarker, Error, MessageRef},
    inbox::{Inbox, InboxBuilder},
    schema::{IndexFault, SchemaError, SchemaProblem},
    status::{MessageState, MessageStatus},
    violated::{is_violation_of, violated_index},
};

/// The inbox that belongs to a connection type: `InboxOf<PgConnection>` is `Inbox<Postgres>`.
pub type InboxOf<C> = Inbox<<C as __private::HandlerConnection>::Database>;
