//! Transactional mode: claim the marker, run the body, commit both or neither.

use std::{fmt, time::Duration};

use inbox_core::{Consumer, Key, Outcome};
use tracing::Span;

use crate::{
    backend::{Backend, Claimed, Fault, NewClaim, OwnMarker, Token, driver::Driver as _, fault},
    error::{BoxError, ConfigError, Error, MessageRef},
    guard::Guard,
    inbox::Inbox,
    recover::{self, Body},
    schema::{SchemaError, SchemaProblem},
    status::MessageState,
    transaction,
};

/// How often a claim is tried in all when the database breaks it off (a deadlock among waiters, MariaDB)
/// or it lost against a marker that was gone a moment later. Nothing has run by then, so it is safe.
const CLAIM_TRIES: u32 = 4;

/// When to come back after having waited in vain for a claim in another transaction, which tells nobody
/// how long it will take.
const AFTER_LOCK_WAIT: Duration = Duration::from_secs(1);

/// What became of a claim.
#[derive(Debug)]
#[must_use = "a fresh claim that is dropped is rolled back"]
pub enum Begin<DB: Backend> {
    /// The message is ours: do the work on [`ClaimedTx::connection`], then [`ClaimedTx::settle`].
    Fresh(ClaimedTx<DB>),
    /// The message was processed before: acknowledge it.
    Duplicate,
}

/// A claimed message: an open transaction that holds its marker.
///
/// # Drop
///
/// Dropped without [`settle`](Self::settle), also by a panic or a cancelled future, it closes the
/// connection, and the database rolls back marker and work.
#[must_use = "a claim that is dropped is rolled back"]
pub struct ClaimedTx<DB: Backend> {
    inbox: Inbox<DB>,
    guard: Guard<DB>,
    message: MessageRef,
    row: i64,
    token: Token,
    span: Span,
}

/// Claims a message; see [`Inbox::begin`].
pub(crate) async fn begin<DB: Backend>(
    inbox: &Inbox<DB>,
    consumer: Consumer,
    key: Key,
) -> Result<Begin<DB>, Error> {
    let span = tracing::info_span!(
        "inbox",
        consumer = consumer.as_str(),
        mode = "transactional",
        attempt = 1,
        key = tracing::field::Empty,
        outcome = tracing::field::Empty,
    );
    if !span.is_disabled() {
        span.record("key", key.short_digest());
    }
    tracing::debug!(parent: &span, key = key.as_str(), "claiming");

    let message = MessageRef::new(consumer, key);
    let mut tries = 1;
    loop {
        match claim(inbox, &message, &span, tries == CLAIM_TRIES).await {
            Ok(Some(begun)) => return Ok(begun),
            Ok(None) => tries += 1,
            Err(error) => {
                span.record("outcome", outcome_of(&error));
                return Err(error);
            }
        }
    }
}

/// One try; `None` means another one is worth it.
async fn claim<DB: Backend>(
    inbox: &Inbox<DB>,
    message: &MessageRef,
    span: &Span,
    last: bool,
) -> Result<Option<Begin<DB>>, Error> {
    let sql = inbox.statements();
    let token = token()?;
    let claim = NewClaim {
        consumer: message.consumer(),
        key: message.key(),
        token: &token,
    };

    let mut guard = transaction::open(inbox).await?;
    let refused_by = match DB::Driver::claim(guard.connection(), sql, &claim).await {
        Ok(Claimed::Inserted(row)) => {
            return Ok(Some(Begin::Fresh(ClaimedTx {
                inbox: inbox.clone(),
                guard,
                message: message.at(row),
                row,
                token,
                span: span.clone(),
            })));
        }
        Ok(Claimed::Refused) => None,
        Ok(Claimed::RefusedBy(error)) => Some(error),
        Err(error) => {
            return match fault(&error) {
                Fault::LockWait => {
                    guard.roll_back_and_release();
                    Err(Error::in_progress(message.clone(), AFTER_LOCK_WAIT))
                }
                Fault::Conflict if !last => {
                    guard.roll_back_and_release();
                    Ok(None)
                }
                _ => Err(inbox.refusal(error)),
            };
        }
    };

    // Nothing was inserted. That alone proves nothing: a trigger can swallow an insert, and the marker
    // may belong to a claim that is not finished. A second statement, because at READ COMMITTED it sees
    // what was committed while the first one waited.
    let found = DB::Driver::look(guard.connection(), sql, &claim)
        .await
        .map_err(|error| inbox.refusal(error))?;
    guard.roll_back_and_release();
    let Some(found) = found else {
        // The marker may have been deleted in between; then the next try inserts it.
        if !last {
            return Ok(None);
        }
        return Err(match refused_by {
            Some(error) => Error::Database(error),
            None => SchemaError::new(inbox.table(), vec![SchemaProblem::ClaimSwallowed]).into(),
        });
    };
    let message = message.at(found.row);
    match MessageState::from_column(found.state) {
        MessageState::Processed => {
            span.record("outcome", "duplicate");
            Ok(Some(Begin::Duplicate))
        }
        MessageState::Parked => Err(Error::parked(message)),
        // A state we do not know belongs to a newer version of the library: never acknowledge it.
        MessageState::Claimed | MessageState::Released | MessageState::Newer => {
            Err(Error::in_progress(message, found.wait.max(AFTER_LOCK_WAIT)))
        }
    }
}

impl<DB: Backend> ClaimedTx<DB> {
    /// The connection whose open transaction holds the marker. Work done elsewhere commits on its own.
    ///
    /// Nested transactions (`begin()` on it) are savepoints and fine. Ending the transaction as text
    /// (`COMMIT`, `ROLLBACK`) is noticed by [`settle`](Self::settle) and reported as
    /// [`Error::TransactionEnded`].
    pub fn connection(&mut self) -> &mut DB::Connection {
        self.guard.connection()
    }

    /// Ends the claim: `Ok` commits marker and work together, `Err` rolls both back.
    ///
    /// # Errors
    ///
    /// The body's own error, untouched. Or, made by `From`: [`Error::TransactionAborted`],
    /// [`Error::TransactionEnded`], [`Error::Unknown`], and [`Error::Database`] if the commit was refused
    /// (a deferred constraint, a serialization failure).
    ///
    /// # Cancel safety
    ///
    /// Dropped half-way, the work is committed whole or not at all; the redelivery finds out.
    pub async fn settle<T, E>(self, result: Result<T, E>) -> Result<Outcome<T>, E>
    where
        E: From<Error> + Into<BoxError>,
    {
        self.settle_with(result, E::from, |error| Some(error.into()))
            .await
    }

    /// [`settle`](Self::settle) for error types of which less is known: generated code calls it.
    pub(crate) async fn settle_with<T, E>(
        self,
        result: Result<T, E>,
        from_inbox: fn(Error) -> E,
        boxed: fn(E) -> Option<BoxError>,
    ) -> Result<Outcome<T>, E> {
        let span = self.span.clone();
        match result {
            Ok(value) => match self.commit().await {
                Ok(()) => {
                    span.record("outcome", "processed");
                    Ok(Outcome::Processed(value))
                }
                Err(error) => {
                    report(&span, &error);
                    Err(from_inbox(error))
                }
            },
            Err(body) => match self.roll_back().await {
                Ok(()) => {
                    span.record("outcome", "failed");
                    Err(body)
                }
                Err(ended) => {
                    report(&span, &ended);
                    Err(from_inbox(with_source(ended, boxed(body))))
                }
            },
        }
    }

    /// Seals and commits.
    async fn commit(mut self) -> Result<(), Error> {
        // One, unless the body left a nested transaction open, or lost ours to a driver's trap.
        let clean = self.guard.depth() == 1;
        let sealed =
            DB::Driver::seal_and_commit(self.guard.connection(), self.inbox.statements()).await;
        let Err(error) = sealed else {
            if clean {
                self.guard.release();
            }
            return Ok(());
        };
        match fault(&error) {
            Fault::SavepointMissing | Fault::Aborted => self.recover(Body::Succeeded(error)).await,
            Fault::Unavailable | Fault::Ambiguous => Err(Error::Unknown {
                message: self.message,
                source: error,
            }),
            _ => Err(Error::Database(error)),
        }
    }

    /// Rolls back, after having made sure that there is something to roll back.
    async fn roll_back(self) -> Result<(), Error> {
        self.recover(Body::Failed).await
    }

    async fn recover(self, body: Body) -> Result<(), Error> {
        let own = OwnMarker {
            row: self.row,
            claim: NewClaim {
                consumer: self.message.consumer(),
                key: self.message.key(),
                token: &self.token,
            },
        };
        recover::recover(&self.inbox, self.guard, &own, &self.message, body).await
    }

    pub(crate) fn span(&self) -> Span {
        self.span.clone()
    }
}

impl<DB: Backend> fmt::Debug for ClaimedTx<DB> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClaimedTx")
            .field("message", &self.message)
            .finish_non_exhaustive()
    }
}

/// Sixteen bytes only this claim knows.
pub(crate) fn token() -> Result<Token, Error> {
    let mut token = Token::default();
    getrandom::fill(&mut token).map_err(ConfigError::Random)?;
    Ok(token)
}

fn with_source(mut error: Error, body: Option<BoxError>) -> Error {
    if let Error::TransactionEnded { source, .. } = &mut error {
        *source = body;
    }
    error
}

/// A body that breaks its transaction is a bug somebody has to see, also when the caller only retries.
fn report(span: &Span, error: &Error) {
    span.record("outcome", outcome_of(error));
    if matches!(
        error,
        Error::TransactionAborted { .. } | Error::TransactionEnded { .. }
    ) {
        tracing::error!(parent: span, "{error}");
    }
}

pub(crate) fn outcome_of(error: &Error) -> &'static str {
    match error {
        Error::Key(_) => "invalid key",
        Error::InProgress { .. } => "in progress",
        Error::Parked { .. } => "parked",
        Error::TransactionAborted { .. } => "transaction aborted",
        Error::TransactionEnded { .. } => "transaction ended",
        Error::LeaseLost { .. } => "lease lost",
        Error::Unknown { .. } => "unknown",
        Error::Schema(_) => "schema",
        Error::Config(_) => "config",
        Error::Database(_) => "database",
    }
}
