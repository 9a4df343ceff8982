//! Each request of the two-phase mode by the statement that carries it out, on a connection of the caller's.
//!
//! For one caller: the test that writes every row, runs every request on it, and compares what stands there
//! afterwards with what `inbox_core::two_phase::decide` says. It needs the very statements, with tokens and
//! fences of its own choice, which no handler can make.

use inbox_core::{
    Consumer, Key,
    two_phase::{DbTime, Request, Row},
};

use crate::{
    backend::{
        Backend,
        leases::{LeaseClaim, Leases as _, Take as _, millis},
        upkeep::Upkeep as _,
    },
    inbox::Inbox,
};

/// More rows than any test has.
const ALL: i64 = 1_000_000;

/// What a statement answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carried {
    /// A claim was granted.
    Granted {
        /// Its fence.
        fence: i64,
        /// Its attempt.
        attempt: u32,
    },
    /// Something else was done, to so many rows.
    Changed(u64),
    /// No row matched.
    Nothing,
}

/// Runs the statement of one request; sweeping and pruning are not about one message.
///
/// # Errors
///
/// Those of the database.
pub async fn carry_out<DB: Backend>(
    inbox: &Inbox<DB>,
    conn: &mut DB::Connection,
    (consumer, key): (&Consumer, &Key),
    row: i64,
    request: &Request,
) -> sqlx::Result<Carried> {
    let sql = inbox.leases();
    let done = match *request {
        Request::Claim {
            token,
            lease,
            policy,
        } => {
            let claim = LeaseClaim {
                consumer,
                key,
                token,
                lease,
                policy,
                payload: None,
            };
            let mut granted = DB::Driver::claim_lease(conn, sql, &claim).await?;
            if granted.is_none() && DB::Driver::TAKES_SEPARATELY {
                granted = DB::Driver::take_lease(conn, sql, &claim).await?;
            }
            return Ok(
                granted.map_or(Carried::Nothing, |granted| Carried::Granted {
                    fence: granted.fence,
                    attempt: granted.attempt,
                }),
            );
        }
        Request::ParkUnresolved { fence, policy } => {
            DB::Driver::park_unresolved(conn, sql, row, fence, policy, REASON).await?
        }
        Request::Renew { held, lease } => DB::Driver::renew(conn, sql, row, held, lease).await?,
        Request::Record { held } => DB::Driver::record(conn, sql, row, held).await?,
        Request::Fail {
            held,
            effect,
            delay,
        } => DB::Driver::fail(conn, sql, row, held, effect, delay, REASON).await?,
        // An operator names a row, and decides about it as it is: there is no fence in these two.
        Request::Release { .. } => DB::Driver::release(conn, sql, row).await?,
        Request::Resolve { .. } | Request::Discard { .. } => {
            DB::Driver::close(conn, sql, row, REASON).await?
        }
        Request::Sweep { grace } => {
            let swept = DB::Driver::sweep(conn, sql, grace, ALL).await?;
            return Ok(Carried::Changed(swept.len() as u64));
        }
        Request::Prune { window } => {
            let window_ms = millis(window);
            let deleted = DB::Driver::prune(conn, inbox.upkeep(), window_ms, ALL).await?;
            return Ok(Carried::Changed(deleted));
        }
    };
    Ok(if done {
        Carried::Changed(1)
    } else {
        Carried::Nothing
    })
}

/// The text that is written with a failure or a decision.
pub const REASON: &str = "the reason";

/// A row as the library reads it before it decides, and the clock it was read by.
///
/// # Errors
///
/// Those of the database.
pub async fn inspect<DB: Backend>(
    inbox: &Inbox<DB>,
    conn: &mut DB::Connection,
    (consumer, key): (&Consumer, &Key),
) -> sqlx::Result<Option<(Row, DbTime)>> {
    let found = DB::Driver::inspect(conn, inbox.leases(), consumer, key).await?;
    Ok(found.map(|found| (found.row, found.now)))
}
