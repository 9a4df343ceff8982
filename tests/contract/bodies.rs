//! Bodies that break their transaction: what the caller is told, and what is kept, by database.
//!
//! What a body does here is a list of statements whose errors it swallows. The tables of `dialect` say for each what
//! is right; the rules behind them:
//!
//! - `Ok` is never `Processed` unless marker and work were committed together;
//! - after `Err` no marker is left, however early the body committed it, so that the redelivery is not swallowed;
//! - after `Ok` a marker that was committed early stays, because its work is whole.

use inbox_sqlx::{EarlyMarker, Error, Outcome};
use sqlx::raw_sql;

use super::bench::{Bench, CONSUMER, HandlerError, Kept, text};
use crate::{Conn, dialect::bodies::BODIES};

/// A row that a body writes after its mistake: is it kept, too?
pub(crate) const LATE: &str = "insert into ledger (message, amount) values ('late', 1)";

/// What a body does after it has applied the effect of its message, and what comes of it.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) name: &'static str,
    pub(crate) statements: &'static [&'static str],
    /// When it returns `Ok` in the end.
    pub(crate) ok: Verdict,
    /// When it returns an error of its own.
    pub(crate) err: Verdict,
}

/// What the caller is told, and what an observer finds afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) said: Said,
    pub(crate) marker: i64,
    pub(crate) effect: i64,
    pub(crate) late: i64,
}

/// What the caller is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    Processed,
    /// The body's own error, untouched.
    Own,
    /// [`Error::TransactionAborted`].
    Aborted,
    /// [`Error::TransactionEnded`], and the marker was never committed.
    EndedNotFound,
    /// [`Error::TransactionEnded`], and the marker was committed early and stays.
    EndedKept,
    /// [`Error::TransactionEnded`], and the marker was committed early and deleted.
    EndedDeleted,
}

/// One line of a table: said, then how many markers, effects and late rows are kept.
pub(crate) const fn verdict(said: Said, marker: i64, effect: i64, late: i64) -> Verdict {
    Verdict {
        said,
        marker,
        effect,
        late,
    }
}

impl Said {
    pub(crate) fn of(result: &Result<Outcome<()>, HandlerError>) -> Self {
        match result {
            Ok(Outcome::Processed(())) => Self::Processed,
            Err(HandlerError::Business) => Self::Own,
            Err(HandlerError::Inbox(Error::TransactionAborted { .. })) => Self::Aborted,
            Err(HandlerError::Inbox(Error::TransactionEnded { marker, .. })) => match marker {
                EarlyMarker::NotFound => Self::EndedNotFound,
                EarlyMarker::Kept => Self::EndedKept,
                EarlyMarker::Deleted => Self::EndedDeleted,
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }
}

/// Runs a statement and swallows its error, as these bodies do.
pub(crate) async fn swallow(connection: &mut Conn, statement: &str) {
    drop(
        raw_sql(text(statement.to_owned()))
            .execute(connection)
            .await,
    );
}

#[tokio::test]
async fn a_body_that_breaks_its_transaction_and_returns_ok_is_judged_by_what_was_committed() {
    judge(Ending::Ok).await;
}

#[tokio::test]
async fn a_body_that_breaks_its_transaction_and_returns_err_never_leaves_a_marker() {
    judge(Ending::Err).await;
}

/// How a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Ok,
    Err,
}

impl Ending {
    pub(crate) fn result(self) -> Result<(), HandlerError> {
        match self {
            Self::Ok => Ok(()),
            Self::Err => Err(HandlerError::Business),
        }
    }
}

/// All bodies of the table in one database, so that all mistakes of one change are seen at once.
async fn judge(ending: Ending) {
    let bench = Bench::new().await;
    let mut wrong = Vec::new();
    for body in BODIES {
        let wanted = match ending {
            Ending::Ok => body.ok,
            Ending::Err => body.err,
        };
        bench.observe("delete from ledger").await;
        let result = bench
            .deliver(body.name, async |connection| {
                for statement in body.statements {
                    swallow(connection, statement).await;
                }
                ending.result()
            })
            .await;
        let found = found(&bench, body.name, Said::of(&result)).await;
        bench.expect_sane_pool().await;
        if found != wanted {
            wrong.push(format!(
                "{}: wanted {wanted:?}\nfound  {found:?}",
                body.name
            ));
        }
        assert!(ending == Ending::Ok || found.marker == 0, "{}", body.name);
        expect_redelivery(&bench, body.name, found).await;
    }
    assert!(wrong.is_empty(), "{ending:?}\n{}", wrong.join("\n"));
}

pub(crate) async fn found(bench: &Bench, key: &str, said: Said) -> Verdict {
    Verdict {
        said,
        marker: bench.markers(CONSUMER, key).await,
        effect: bench.effects(key).await,
        late: bench.effects("late").await,
    }
}

/// Whatever a body broke: with a marker its redelivery is a duplicate, without one it runs.
pub(crate) async fn expect_redelivery(bench: &Bench, key: &str, before: Verdict) {
    let outcome = bench.credit(key).await.unwrap();
    assert_eq!(outcome.is_duplicate(), before.marker == 1, "{key}");
    let effects = before.effect + i64::from(before.marker == 0);
    assert_eq!(bench.effects(key).await, effects, "{key}");
    assert_eq!(bench.markers(CONSUMER, key).await, 1, "{key}");
    if effects == 1 {
        bench.expect(key, Kept::Once).await;
    }
}
