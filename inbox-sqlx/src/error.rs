//! What can go wrong between a delivery and its outcome, and what the caller is to do about it.

use std::{error::Error as StdError, fmt, sync::Arc, time::Duration};

use inbox_core::{Consumer, ConsumerError, Key, KeyError, TableNameError, two_phase::TermsError};

use crate::{
    backend::fault,
    disposition::{Disposition, Remedy},
    schema::SchemaError,
};

/// Any error that can be carried as a source.
pub(crate) type BoxError = Box<dyn StdError + Send + Sync>;

/// Why a delivery was not handled. **Never acknowledge on any of these.**
///
/// A handler returns its own error type, made from this one by `From`; [`Disposition::of`] tells a consumer
/// loop what to do with either. Texts name a message by the digest of its key; the key itself is in
/// [`MessageRef::key`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The message has no usable key. Nothing was touched; redelivery cannot help.
    Key(KeyError),

    /// Somebody else holds an unfinished claim of this message, or it failed and waits for its next attempt.
    /// Nothing was run; come back later.
    #[non_exhaustive]
    InProgress {
        /// The message.
        message: MessageRef,
        /// When it is worth coming back.
        retry_after: Duration,
        /// What to do, as the source: it survives an error type that is `transparent`.
        source: Remedy,
    },

    /// The message waits for a person: its outcome is unknown or it failed too often. Nothing was run.
    #[non_exhaustive]
    Parked {
        /// The message.
        message: MessageRef,
        /// What to do, as the source: it survives an error type that is `transparent`.
        source: Remedy,
    },

    /// The body returned `Ok` although a database error it swallowed had aborted the transaction.
    /// Nothing was kept.
    #[non_exhaustive]
    TransactionAborted {
        /// The message.
        message: MessageRef,
        /// The answer of the database when it was asked to commit.
        source: sqlx::Error,
    },

    /// The body itself ended the transaction it was given, so its work and the marker were no longer one.
    ///
    /// This is a bug in the handler. It commits or rolls back as text, runs a statement that commits
    /// implicitly (DDL on MySQL and MariaDB), or goes on after a deadlock that rolled everything back.
    /// What it wrote after that point was committed statement by statement and cannot be taken back.
    #[non_exhaustive]
    TransactionEnded {
        /// The message.
        message: MessageRef,
        /// What was found of the marker, and what was done about it.
        marker: EarlyMarker,
        /// The error the body returned, if it returned one that can be carried.
        source: Option<BoxError>,
    },

    /// The claim was taken over, or an operator decided, before the effect could be recorded. The effect may
    /// have happened more than once.
    #[non_exhaustive]
    LeaseLost {
        /// The message.
        message: MessageRef,
    },

    /// The connection was lost while committing: the work is either committed whole or not at all.
    /// The redelivery finds out.
    #[non_exhaustive]
    Unknown {
        /// The message.
        message: MessageRef,
        /// How the answer got lost.
        source: sqlx::Error,
    },

    /// The inbox's tables are missing or would not keep its promises. Nothing was run.
    Schema(SchemaError),

    /// The inbox was set up wrongly. Nothing was run.
    Config(ConfigError),

    /// The database failed, before or in the commit. Nothing was kept.
    Database(sqlx::Error),
}

/// What became of a marker whose transaction the body ended by itself.
#[derive(Debug)]
#[non_exhaustive]
pub enum EarlyMarker {
    /// There is none: the redelivery runs the body again.
    NotFound,
    /// It had been committed early, and stays, because the body returned `Ok` and its work is whole:
    /// the redelivery is a duplicate.
    Kept,
    /// It had been committed early, and was deleted, because the work is not whole: the redelivery
    /// runs the body again.
    Deleted,
    /// It had been committed early, and could not be deleted. **The redelivery would be taken for a
    /// duplicate** until somebody runs the statement.
    Stuck {
        /// The statement to run.
        statement: String,
        /// Why it could not be run here: most often a missing `delete` privilege.
        error: Box<sqlx::Error>,
    },
}

/// Which message an error is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageRef {
    // Behind a pointer: error types should be small, and key and consumer are only read.
    message: Arc<(Consumer, Key)>,
    row: Option<i64>,
}

impl MessageRef {
    pub(crate) fn new(consumer: Consumer, key: Key) -> Self {
        Self {
            message: Arc::new((consumer, key)),
            row: None,
        }
    }

    pub(crate) fn at(&self, row: i64) -> Self {
        Self {
            message: Arc::clone(&self.message),
            row: Some(row),
        }
    }

    /// The consumer the message was delivered to.
    pub fn consumer(&self) -> &Consumer {
        &self.message.0
    }

    /// The key of the message, in full.
    pub fn key(&self) -> &Key {
        &self.message.1
    }

    /// The `id` of its row in the inbox table, if it has one.
    pub fn row(&self) -> Option<i64> {
        self.row
    }
}

impl fmt::Display for MessageRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "message {} of consumer {:?}",
            self.key().short_digest(),
            self.consumer().as_str()
        )?;
        match self.row {
            Some(row) => write!(f, " (row {row})"),
            None => Ok(()),
        }
    }
}

/// What was set up wrongly.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The consumer's name breaks a rule.
    #[error(transparent)]
    Consumer(#[from] ConsumerError),
    /// The table's name breaks a rule.
    #[error(transparent)]
    Table(#[from] TableNameError),
    /// The database URL cannot be used.
    #[error("this is not a usable URL; it looks like `{example}`")]
    Url {
        /// A URL of the right kind.
        example: &'static str,
        /// What is wrong with the one that was given.
        #[source]
        source: sqlx::Error,
    },
    /// The URL names a server, but no database.
    #[error("the URL names no database; it looks like `{example}`")]
    NoDatabase {
        /// A URL of the right kind.
        example: &'static str,
    },
    /// A claim must be allowed to wait a little, and not for ever.
    #[error("claim_timeout is {given:?}, it must be between 1 ms and 24 h")]
    ClaimTimeout {
        /// What was given.
        given: Duration,
    },
    /// Each connection to an in-memory database may see another database, so duplicates are not seen.
    #[error(
        "an in-memory SQLite database allows one connection, this pool allows {connections}; \
         use `.max_connections(1)`, or a file"
    )]
    MemoryDatabaseWithSeveralConnections {
        /// What the pool allows.
        connections: u32,
    },
    /// A private in-memory database is gone, with its markers, as soon as its connection closes.
    #[error(
        "this in-memory SQLite database vanishes with its connection; open it by the URL \
         `sqlite::memory:`, or use a file"
    )]
    PrivateMemoryDatabase,
    /// The payload of a message cannot be written as JSON.
    #[error("the payload cannot be written as JSON")]
    Payload {
        /// Why not.
        #[source]
        source: serde_json::Error,
    },
    /// The payload of a message is too long to be kept.
    #[error(
        "the payload has {length} bytes of JSON, the limit is {limit}; keep a reference to it instead"
    )]
    PayloadTooLong {
        /// How long it is, in bytes.
        length: usize,
        /// The limit, in bytes.
        limit: usize,
    },
    /// Lease, attempts and horizon do not fit together.
    #[error(transparent)]
    Terms(#[from] TermsError),
    /// The database accepts no writes.
    #[error(
        "the database is read-only; point the URL at the primary, or make the file and its folder \
         writable"
    )]
    ReadOnly(#[source] sqlx::Error),
    /// The operating system gave no random bytes.
    #[error("the operating system gave no random bytes: {0}")]
    Random(getrandom::Error),
}

impl Error {
    /// Finds the inbox's error in a chain of sources.
    ///
    /// An error type that wraps it with `#[error(transparent)]` hides it from the chain, and from this
    /// function; [`Disposition::of`] sees through that as well.
    pub fn find<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a Self> {
        chain(error).find_map(|error| error.downcast_ref())
    }

    /// Whether running the same delivery again, later, can succeed without anybody mending anything.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::InProgress { .. }
            | Self::LeaseLost { .. }
            | Self::Unknown { .. }
            | Self::Config(ConfigError::ReadOnly(_)) => true,
            Self::Database(error) => fault(error).is_transient(),
            _ => false,
        }
    }

    /// Whether redelivery is pointless: the message is to be dead-lettered.
    pub fn is_permanent(&self) -> bool {
        matches!(self.disposition(), Disposition::DeadLetter)
    }

    /// When it is worth coming back, if that is known.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::InProgress { retry_after, .. } => Some(*retry_after),
            _ => None,
        }
    }

    pub(crate) fn disposition(&self) -> Disposition {
        match self {
            Self::Key(_) | Self::Parked { .. } => Disposition::DeadLetter,
            other => Disposition::Retry {
                after: other.retry_after(),
            },
        }
    }

    pub(crate) fn in_progress(message: MessageRef, retry_after: Duration) -> Self {
        Self::InProgress {
            message,
            retry_after,
            source: Remedy::redeliver(retry_after),
        }
    }

    pub(crate) fn parked(message: MessageRef) -> Self {
        Self::Parked {
            message,
            source: Remedy::dead_letter(),
        }
    }
}

/// An error and everything below it.
pub(crate) fn chain<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    let mut next = Some(error);
    std::iter::from_fn(move || {
        let error = next?;
        next = error.source();
        Some(error)
    })
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(_) => f.write_str("invalid message key"),
            Self::InProgress { message, .. } => write!(
                f,
                "{message} is being handled elsewhere, or waits for its next attempt"
            ),
            Self::Parked { message, .. } => write!(f, "{message} is parked"),
            Self::TransactionAborted { message, .. } => write!(
                f,
                "nothing was kept of {message}: the body returned Ok after an error that aborted \
                 its transaction; pass database errors on with `?`"
            ),
            Self::TransactionEnded {
                message, marker, ..
            } => write!(
                f,
                "the body ended the transaction of {message} by itself (COMMIT or ROLLBACK as text, \
                 DDL on MySQL, or going on after a deadlock): {marker}"
            ),
            Self::LeaseLost { message } => write!(
                f,
                "the claim of {message} was lost while its body ran: somebody else has it"
            ),
            Self::Unknown { message, .. } => write!(
                f,
                "the answer to the commit of {message} was lost; the redelivery finds out whether \
                 it was committed"
            ),
            Self::Schema(_) => f.write_str("the inbox's tables cannot be used"),
            Self::Config(_) => f.write_str("the inbox is set up wrongly"),
            Self::Database(_) => f.write_str("the inbox's database failed"),
        }
    }
}

impl fmt::Display for EarlyMarker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str(
                "the marker is gone and the redelivery runs the body again, but what the body wrote \
                 after that point may have been kept",
            ),
            Self::Kept => f.write_str("its work and its marker are committed and were kept"),
            Self::Deleted => f.write_str(
                "the marker had been committed early and was deleted, so that the redelivery runs \
                 the body again; what it committed before may have been kept",
            ),
            Self::Stuck { statement, error } => write!(
                f,
                "the marker was committed early and could not be deleted ({error}), so that the \
                 redelivery would be taken for a duplicate; run `{statement}`"
            ),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Key(source) => Some(source),
            Self::InProgress { source, .. } | Self::Parked { source, .. } => Some(source),
            Self::TransactionAborted { source, .. }
            | Self::Unknown { source, .. }
            | Self::Database(source) => Some(source),
            Self::TransactionEnded { source, .. } => {
                source.as_ref().map(|source| source.as_ref() as _)
            }
            Self::LeaseLost { .. } => None,
            Self::Schema(source) => Some(source),
            Self::Config(source) => Some(source),
        }
    }
}

impl From<KeyError> for Error {
    fn from(error: KeyError) -> Self {
        Self::Key(error)
    }
}

impl From<SchemaError> for Error {
    fn from(error: SchemaError) -> Self {
        Self::Schema(error)
    }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl From<ConsumerError> for Error {
    fn from(error: ConsumerError) -> Self {
        Self::Config(error.into())
    }
}

impl From<TermsError> for Error {
    fn from(error: TermsError) -> Self {
        Self::Config(error.into())
    }
}

impl From<TableNameError> for Error {
    fn from(error: TableNameError) -> Self {
        Self::Config(error.into())
    }
}

/// Lets a handler return `Result<T, sqlx::Error>`. A database error stays what it was; everything else
/// becomes the source of a [`sqlx::Error::Configuration`], where [`Error::find`] and [`Disposition::of`]
/// find it.
impl From<Error> for sqlx::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Database(error) => error,
            other => Self::Configuration(Box::new(other)),
        }
    }
}
