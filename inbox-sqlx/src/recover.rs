//! What happens when a transaction does not end the way it should: was the marker committed early?
//!
//! The probe decides. Rolling back to the canary works while the transaction that set it is alive, also
//! when it is aborted, and fails only if that transaction was ended or replaced. In the second case the
//! marker, recognised by its token, is either gone (rolled back) or was committed early:
//!
//! | the body returned | the marker | is |
//! |---|---|---|
//! | `Ok` | committed early, what is open commits | kept: the work is whole |
//! | `Ok` | committed early, what is open is aborted | deleted: the work is not whole |
//! | `Err` | committed early | deleted, so that the redelivery is not swallowed |
//! | either | gone | nothing to do |
//!
//! Losing is worse than doubling, doubling is worse than noise.

use std::time::Duration;

use crate::{
    backend::{Backend, Fault, OwnMarker, driver::Driver as _, fault},
    error::{EarlyMarker, Error, MessageRef},
    guard::Guard,
    inbox::Inbox,
};

/// How long to try for a second connection when ours is lost. It only serves to find a marker that was
/// committed early, which takes two mistakes at once, so nobody should wait long for it.
const SECOND_CONNECTION: Duration = Duration::from_secs(2);

/// How the body ended.
#[derive(Debug)]
pub(crate) enum Body {
    /// With `Ok`, and this is the answer when we tried to commit.
    Succeeded(sqlx::Error),
    /// With `Err`.
    Failed,
}

/// Ends a transaction that cannot be committed. `Ok` means that nothing was kept and there is nothing to
/// report; the caller returns the body's error.
pub(crate) async fn recover<DB: Backend>(
    inbox: &Inbox<DB>,
    mut guard: Guard<DB>,
    own: &OwnMarker<'_>,
    message: &MessageRef,
    body: Body,
) -> Result<(), Error> {
    let mut ended = false;
    let probe = DB::Driver::run(guard.connection(), inbox.statements().probe.clone()).await;
    let marker = match probe {
        Ok(()) => {
            return match body {
                Body::Failed => {
                    guard.roll_back_and_release();
                    Ok(())
                }
                // The guard closes the connection, and with it the transaction.
                Body::Succeeded(source) => Err(Error::TransactionAborted {
                    message: message.clone(),
                    source,
                }),
            };
        }
        Err(error) if connection_is_lost(&error) => {
            guard.close().await;
            elsewhere(inbox, own).await
        }
        Err(_) => {
            ended = true;
            let whole = matches!(body, Body::Succeeded(_));
            match end(inbox, guard.connection(), own, whole).await {
                Err(error) if connection_is_lost(&error) => {
                    guard.close().await;
                    elsewhere(inbox, own).await
                }
                ended => {
                    guard.close().await;
                    ended
                }
            }
        }
    };
    if let (true, Err(error)) = (ended, &marker) {
        // Two mistakes and an outage at once. Nobody else will notice, so it is said here.
        tracing::error!(
            %message,
            error = error as &dyn std::error::Error,
            "the transaction had ended, and whether its marker was committed early could not be checked: \
             if the body ended it, the redelivery would be taken for a duplicate; look at the row"
        );
    }
    match (marker, body) {
        // An ordinary error that had ended the transaction, such as a deadlock on MariaDB; or a lost
        // connection and no second one: the body's own error tells it best.
        (Ok(EarlyMarker::NotFound) | Err(_), Body::Failed) => Ok(()),
        (Ok(marker), _) => Err(Error::TransactionEnded {
            message: message.clone(),
            marker,
            source: None,
        }),
        (Err(source), Body::Succeeded(_)) => Err(Error::Unknown {
            message: message.clone(),
            source,
        }),
    }
}

fn connection_is_lost(error: &sqlx::Error) -> bool {
    matches!(fault(error), Fault::Unavailable | Fault::Ambiguous)
}

/// Brings what is open to an end, then keeps or deletes a marker that was committed early.
async fn end<DB: Backend>(
    inbox: &Inbox<DB>,
    conn: &mut DB::Connection,
    own: &OwnMarker<'_>,
    whole: bool,
) -> sqlx::Result<EarlyMarker> {
    let sql = inbox.statements();
    if whole {
        if let Some(undo) = &sql.undo_seal {
            match DB::Driver::run(conn, undo.clone()).await {
                Err(error) if connection_is_lost(&error) => return Err(error),
                // Without an open, living transaction there is nothing to take back.
                _ => {}
            }
        }
        // The look comes first: in an aborted transaction it fails, where PostgreSQL would answer
        // COMMIT with a silent ROLLBACK.
        match DB::Driver::find_own(conn, sql, own).await {
            Ok(true) => match DB::Driver::run(conn, sql.commit.clone()).await {
                Ok(()) => return Ok(EarlyMarker::Kept),
                Err(error) if fault(&error) == Fault::NothingOpen => return Ok(EarlyMarker::Kept),
                Err(error) if connection_is_lost(&error) => return Err(error),
                Err(_) => {}
            },
            Err(error) if connection_is_lost(&error) => return Err(error),
            Ok(false) | Err(_) => {}
        }
    }
    match DB::Driver::run(conn, sql.rollback.clone()).await {
        Err(error) if fault(&error) != Fault::NothingOpen => return Err(error),
        _ => {}
    }
    delete(inbox, conn, own).await
}

/// Deletes the marker if it is there, outside any transaction of the body.
async fn delete<DB: Backend>(
    inbox: &Inbox<DB>,
    conn: &mut DB::Connection,
    own: &OwnMarker<'_>,
) -> sqlx::Result<EarlyMarker> {
    let sql = inbox.statements();
    if !DB::Driver::find_own(conn, sql, own).await? {
        return Ok(EarlyMarker::NotFound);
    }
    let deleted = match DB::Driver::delete_own(conn, sql, own).await {
        // The body may have switched autocommit off.
        Ok(_) => match DB::Driver::run(conn, sql.commit.clone()).await {
            Err(error) if fault(&error) != Fault::NothingOpen => Err(error),
            _ => Ok(()),
        },
        Err(error) => Err(error),
    };
    match deleted {
        Ok(()) => Ok(EarlyMarker::Deleted),
        Err(error) if connection_is_lost(&error) => Err(error),
        Err(error) => Ok(EarlyMarker::Stuck {
            statement: format!("delete from {} where id = {}", inbox.table(), own.row),
            error: Box::new(error),
        }),
    }
}

/// On another connection, because ours is gone. What the body had open went with it, so a marker that
/// was committed early stands for work that is not whole.
async fn elsewhere<DB: Backend>(
    inbox: &Inbox<DB>,
    own: &OwnMarker<'_>,
) -> sqlx::Result<EarlyMarker> {
    let attempt = async {
        let mut guard = Guard::acquire(inbox.own_pool()).await?;
        let marker = delete(inbox, guard.connection(), own).await?;
        guard.release();
        Ok(marker)
    };
    tokio::time::timeout(SECOND_CONNECTION, attempt)
        .await
        .unwrap_or(Err(sqlx::Error::PoolTimedOut))
}
