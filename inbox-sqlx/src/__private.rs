//! What generated code calls. Not public API: it changes without notice.

use std::{error::Error as StdError, marker::PhantomData};

use inbox_core::{Consumer, Key, KeyEncoder, KeyError, MessageKey, Outcome};
use tracing::{Instrument as _, Span, instrument::Instrumented};

use crate::{
    backend::Backend,
    claim::{self, ClaimedTx},
    error::{BoxError, Error},
    inbox::Inbox,
};

pub mod requests;
pub mod two_phase;

pub use crate::{claim::Begin, handlers::Site};

/// A connection whose database can hold an inbox: what a body may be handed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a connection an inbox can hand out",
    label = "not a connection",
    note = "write `&mut PgConnection`, `&mut MySqlConnection` or `&mut SqliteConnection`"
)]
pub trait HandlerConnection {
    /// Its database.
    type Database: Backend;
}

// One by one: of a blanket implementation rustc explains the bound, and the text above is not shown. Handlers
// that are generic over the database have the bound from `Backend`.
#[cfg(feature = "postgres")]
#[diagnostic::do_not_recommend]
impl HandlerConnection for sqlx::PgConnection {
    type Database = sqlx::Postgres;
}

#[cfg(feature = "mysql")]
#[diagnostic::do_not_recommend]
impl HandlerConnection for sqlx::MySqlConnection {
    type Database = sqlx::MySql;
}

#[cfg(feature = "sqlite")]
#[diagnostic::do_not_recommend]
impl HandlerConnection for sqlx::SqliteConnection {
    type Database = sqlx::Sqlite;
}

/// Takes a `Result` apart whose two types are hidden by an alias.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a `Result`",
    label = "a handler returns a `Result`",
    note = "`Ok` means acknowledge, `Err` means do not acknowledge"
)]
pub trait ResultType {
    /// What the handler returns when all went well.
    type Ok;
    /// What it returns otherwise.
    type Err;

    /// Itself.
    fn into_result(self) -> Result<Self::Ok, Self::Err>;
}

#[diagnostic::do_not_recommend]
impl<T, E> ResultType for Result<T, E> {
    type Ok = T;
    type Err = E;

    fn into_result(self) -> Self {
        self
    }
}

/// What a body returns. Like the next two it is the same place in rustc's eyes, which complains once about a place.
pub type Returned<R> = R;

/// What the handler returns to callers, if its body returns an alias.
pub type Guarded<R> = Result<Outcome<<R as ResultType>::Ok>, ErrorOf<R>>;

/// The error in it.
pub type ErrorOf<R> = <R as ResultType>::Err;

/// The error type of a handler: anything made from ours by `From`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no place for an error of the inbox",
    label = "this error type needs `From<inbox_sqlx::Error>`",
    note = "add a variant, for example with thiserror: `#[error(transparent)] Inbox(#[from] inbox_sqlx::Error)`",
    note = "`sqlx::Error`, `anyhow::Error` and `Box<dyn Error + Send + Sync>` can be used as they are"
)]
pub trait HandlerError: Sized {
    /// Converts.
    fn from_inbox(error: Error) -> Self;
}

#[diagnostic::do_not_recommend]
impl<E: From<Error>> HandlerError for E {
    fn from_inbox(error: Error) -> Self {
        Self::from(error)
    }
}

/// The one place that demands a handler's error type to have room for ours.
pub fn error_from_inbox<E: HandlerError>() -> fn(Error) -> E {
    E::from_inbox
}

/// Runs the key expression. `Fn`, so that it cannot consume what it looks at.
///
/// # Errors
///
/// Those of the expression.
pub fn key(evaluate: impl Fn() -> Result<Key, KeyError>) -> Result<Key, KeyError> {
    evaluate()
}

/// The bound that makes rustc talk about the user's key expression.
///
/// # Errors
///
/// [`KeyError`] if the value makes no key.
pub fn encode<K: MessageKey + ?Sized>(value: &K) -> Result<Key, KeyError> {
    Key::new(value)
}

/// One part of a tuple. It is a key whatever it is made from, so that a part of the wrong type is reported once.
#[expect(
    missing_debug_implementations,
    reason = "a value that may not be printed is behind it"
)]
pub struct Part<'a>(&'a dyn MessageKey);

impl MessageKey for Part<'_> {
    fn encode(&self, encoder: &mut KeyEncoder) {
        self.0.encode(encoder);
    }
}

/// The same bound for one part of a tuple.
pub fn part<'a, K: MessageKey + ?Sized>(value: &'a &'a K) -> Part<'a> {
    Part(value)
}

/// Claims the message, and notices a second handler of the same consumer name.
///
/// # Errors
///
/// See [`Inbox::begin`].
pub async fn begin<DB: Backend>(
    inbox: &Inbox<DB>,
    consumer: &'static str,
    key: Result<Key, KeyError>,
    site: &'static Site,
) -> Result<Begin<DB>, Error> {
    let key = key?;
    let name = Consumer::new(consumer)?;
    inbox.handlers().note(consumer, site);
    claim::begin(inbox, name, key).await
}

/// The span the body runs in.
pub fn body_span<DB: Backend>(claimed: &ClaimedTx<DB>) -> Span {
    claimed.span()
}

/// Runs the body in its span.
pub fn in_span<F: Future>(span: Span, body: F) -> Instrumented<F> {
    body.instrument(span)
}

/// Ends the claim; see [`ClaimedTx::settle`].
///
/// # Errors
///
/// See [`ClaimedTx::settle`].
pub async fn settle<DB: Backend, T, E>(
    claimed: ClaimedTx<DB>,
    result: Result<T, E>,
    from_inbox: fn(Error) -> E,
    boxed: fn(E) -> Option<BoxError>,
) -> Result<Outcome<T>, E> {
    claimed.settle_with(result, from_inbox, boxed).await
}

/// Pins the type of a body by a statement that never runs.
///
/// # Panics
///
/// Always.
#[track_caller]
pub fn typed<R>() -> R {
    unreachable!("this call stands behind `if false`")
}

/// Chooses how a body's error becomes the source of ours: the inherent function wins where the error can
/// be boxed, the trait's is for the rest.
#[derive(Debug)]
pub struct BodyError<E>(PhantomData<fn() -> E>);

impl<E: Into<Box<dyn StdError + Send + Sync>>> BodyError<E> {
    /// Keeps the error.
    pub fn boxed() -> fn(E) -> Option<BoxError> {
        |error| Some(error.into())
    }
}

/// The rest: an error that is no [`std::error::Error`] cannot be a source.
pub trait Opaque<E> {
    /// Drops the error.
    fn boxed() -> fn(E) -> Option<BoxError> {
        |_| None
    }
}

impl<E> Opaque<E> for BodyError<E> {}
