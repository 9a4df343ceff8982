//! The two-phase mode as a pure function: a row, the database's clock and a request make a decision.
//!
//! For effects that cannot join a transaction: an e-mail, a card payment, somebody else's API. One statement **claims**
//! the message and commits, the body runs outside of any transaction, one statement **records** that it is processed.
//! Between the two, everything can happen: the worker dies, its lease runs out while it still works, an answer of the
//! database is lost. [`decide`] says what is written then, and what the caller is told. It does no I/O and reads no
//! clock, so a model checker can try every order of events on it (`tests/model` does).
//!
//! # States
//!
//! ```text
//!              claim                       record
//!    absent ──────────▶ ┌─────────────┐ ──────────▶ ┌─────────────┐  prune
//!                 ┌──── │   claimed   │             │  processed  │ ──────▶ absent
//!       take over └───▶ └─────────────┘             └─────────────┘
//!                        │     ▲     │                     ▲
//!               put back │     │     │ give up             │ late record,
//!                        ▼     │     ▼                     │ resolve, discard
//!                ┌──────────┐  │  ┌──────────┐             │
//!                │ released │──┘  │  parked  │ ────────────┤
//!                └──────────┘     └──────────┘             │
//!                   │    ▲  past the ▲    │                │
//!                   │    │  horizon  │    │                │
//!                   │    └───────────┼────┘ release        │
//!                   ├────────────────┘                     │
//!                   └──────────────────────────────────────┘
//!
//!    put back:  a failure known not to have happened; under retry also an unknown outcome, and the
//!               sweeper's finding that the lease is over
//!    give up:   rejected; no attempt left; past the horizon; under park also an unknown outcome, and
//!               a redelivery's or the sweeper's finding that the lease is over
//! ```
//!
//! A new claim and every decision of an operator move the fence; nothing else does.
//!
//! | a delivery finds | it is told | and written is |
//! |---|---|---|
//! | nothing; a released row that is due | [`Answer::Run`] | the claim |
//! | its own claim, whose answer was lost, lease running | [`Answer::Run`] | nothing |
//! | another's claim, lease running; a released row that has to wait | [`Answer::InProgress`] | nothing |
//! | a claim whose lease is over, `retry` | [`Answer::Run`] | the claim, taken over |
//! | a claim whose lease is over, `park` | [`Answer::Parked`] | parked |
//! | no attempt left, or past the horizon | [`Answer::Parked`] | parked |
//! | processed | [`Answer::Duplicate`] | nothing |
//! | parked | [`Answer::Parked`] | nothing |
//!
//! | the body ends with | `park` | `retry` |
//! |---|---|---|
//! | `Ok` | processed | processed |
//! | an error, known not to have happened | released, after the last attempt parked | the same |
//! | an error, rejected for good | parked | parked |
//! | an error nobody understands, a panic | parked | released, after the last attempt parked |
//! | nothing: killed, dropped, paused for ever | parked when the lease is over | taken over or released then |
//!
//! **Only a processed row is acknowledged.** A claim that is not processed says that somebody *meant* to do the work. A
//! protocol that takes it for a duplicate loses a message with one handler that fails: claim, fail, redelivery,
//! "duplicate", acknowledged, never done.
//!
//! # Why fences
//!
//! A lease does not end a worker, it ends a *right*. A worker that was paused (garbage collection, a stopped virtual
//! machine, a slow network) wakes up and goes on where it was, and what it writes next must not undo what others did
//! since. So every claim gets a new **fence**, a number that only grows, and a random **token**; every later write
//! names both, and matches no row once somebody else claimed or an operator decided. Releasing and parking need this
//! more than recording: an unguarded release by a late worker sets free a row that a live one holds.
//!
//! The lease itself does not guard the holder's writes. If it is over but nobody took over, the holder is late and
//! still the only one; to refuse its record would only cause a second call. For the same reason a swept or parked row
//! keeps its fence, and a record by its last holder still counts: an unknown outcome has become a known one.
//!
//! The token is for the answer to the claim itself. If it is lost, the claim is repeated with the same token, and finds
//! either nothing, or its own row, or somebody else's.
//!
//! # What no lease can promise
//!
//! That two workers never call the other side at the same time. A worker can be paused between its last look at the
//! clock and the call, for longer than any lease. What remains:
//!
//! * under `retry`, the **idempotency key**, the same at every attempt. The other side has to honour it for longer than
//!   the horizon. A question ("did it happen?") does not replace it: a call still in flight arrives after the answer.
//! * under `park`, that nothing is called again after an outcome that is not known. The effect happens at most once,
//!   and a person decides about the rest.
//! * a look at the local clock right before the call, to give up if the lease must be over. It narrows the gap and
//!   cannot close it.
//!
//! And nobody can be both asked and sure: a worker killed just before the call and one killed just after it leave the
//! same row. `park` parks some messages that were never tried.
//!
//! # Statements
//!
//! Each request is one statement, so that it is atomic in itself. With `now` the database's clock:
//!
//! | request | statement | matches |
//! |---|---|---|
//! | [`Request::Claim`] | *claim*: insert; on conflict update | due or lease over; below the higher of both limits; within both horizons; interrupted only if both policies are `retry` |
//! | | *inspect*: select, if nothing was claimed; the rest is decided on what it read | by key |
//! | [`Request::ParkUnresolved`] | *`park_unresolved`*, if it read what must not be claimed again | fence; the same condition, negated |
//! | [`Request::Renew`] | *renew* | fence, token, claimed |
//! | [`Request::Record`] | *record*; no row: *inspect* | fence, token, not processed |
//! | [`Request::Fail`] | *release* or *park*, as a `case` on the row's policy and attempts | fence, token, claimed |
//! | [`Request::Sweep`] | *sweep*, `case` as above | claimed, `lease_until <= now - grace` |
//! | [`Request::Release`] | *requeue* | fence; not processed, no lease running |
//! | [`Request::Resolve`], [`Request::Discard`] | *close*, with the reason | as *requeue* |
//! | [`Request::Prune`] | *prune*: delete | processed, `processed_at < now - window` |
//!
//! A moment is over when it is now (`<= now`). Between *claim* and *inspect* time passes, so the row can have become
//! claimable: then [`decide`] says [`Answer::Run`] with a change that only the *claim* could write, and the delivery
//! comes back at once. Texts (`last_error`, `payload`, `result`) and the fingerprint are not decided here.

mod backoff;
mod claim;
mod decide;
mod decision;
mod effect;
mod hold;
mod operate;
mod policy;
mod request;
mod row;
mod sweep;
mod terms;
mod time;

pub use self::backoff::Backoff;
pub use self::decide::decide;
pub use self::decision::{Answer, Change, Decision};
pub use self::effect::Effect;
pub use self::policy::{OnUnknown, Policy};
pub use self::request::Request;
pub use self::row::{Held, Row, State, Token};
pub use self::terms::{
    DEFAULT_HORIZON, DEFAULT_LEASE, DEFAULT_MAX_ATTEMPTS, MAX_ATTEMPTS, MAX_DURATION, Terms,
    TermsError,
};
pub use self::time::DbTime;

#[cfg(test)]
mod tests;
