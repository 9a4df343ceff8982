//! `Action`: what can happen next.

use std::fmt;

/// What can happen next. Numbers are workers, or copies where it says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Receive(usize),
    Claim(usize, Wire),
    GiveUp(usize),
    Inspect(usize),
    Park(usize),
    Renew(usize),
    Call(usize, Outcome),
    Abort(usize),
    Record(usize, Wire),
    Fail(usize),
    Tell(usize),
    Crash(usize),
    LeaseOver,
    BackoffOver,
    HorizonOver,
    WindowOver,
    VisibilityTimeout(usize),
    BrokerLoses,
    CallArrives,
    KeysForgotten,
    Sweep,
    Redeliver,
    Redrive,
    Prune,
    OperatorReleases,
    OperatorCloses,
}

/// What the connection to the database does to a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    Fine,
    /// It is committed, and the answer is lost.
    AnswerLost,
    /// It is lost itself.
    Lost,
}

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Ok,
    NotHappened,
    Rejected,
    /// The worker sees an error, and it happened.
    UnknownHappened,
    /// The worker sees an error, and it never happens.
    UnknownNever,
    /// The worker sees an error, and it happens later.
    UnknownLate,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = |worker: usize| char::from(b'A' + u8::try_from(worker).unwrap_or(25));
        match *self {
            Self::Receive(w) => write!(f, "{} receives a copy", who(w)),
            Self::Claim(w, Wire::Fine) => write!(f, "{} claims", who(w)),
            Self::Claim(w, Wire::AnswerLost) => {
                write!(f, "{} claims, committed, the answer is lost", who(w))
            }
            Self::Claim(w, Wire::Lost) => write!(f, "{} claims, the statement is lost", who(w)),
            Self::GiveUp(w) => write!(f, "{} gives up the claim", who(w)),
            Self::Inspect(w) => write!(f, "{} looks at the row", who(w)),
            Self::Park(w) => write!(f, "{} parks the row", who(w)),
            Self::Renew(w) => write!(f, "{} renews", who(w)),
            Self::Call(w, Outcome::Ok) => write!(f, "{} calls, it happens", who(w)),
            Self::Call(w, Outcome::NotHappened) => {
                write!(f, "{} calls, fails, it did not happen", who(w))
            }
            Self::Call(w, Outcome::Rejected) => write!(f, "{} calls, it is rejected", who(w)),
            Self::Call(w, Outcome::UnknownHappened) => {
                write!(f, "{} calls, sees an error, it happened", who(w))
            }
            Self::Call(w, Outcome::UnknownNever) => {
                write!(f, "{} calls, sees an error, it did not happen", who(w))
            }
            Self::Call(w, Outcome::UnknownLate) => {
                write!(f, "{} calls, sees an error, it happens later", who(w))
            }
            Self::Abort(w) => write!(f, "{} sees that it is too late to call", who(w)),
            Self::Record(w, Wire::Fine) => write!(f, "{} records", who(w)),
            Self::Record(w, Wire::AnswerLost) => {
                write!(f, "{} records, committed, the answer is lost", who(w))
            }
            Self::Record(w, Wire::Lost) => write!(f, "{} records, the statement is lost", who(w)),
            Self::Fail(w) => write!(f, "{} says that it failed", who(w)),
            Self::Tell(w) => write!(f, "{} answers the broker", who(w)),
            Self::Crash(w) => write!(f, "{} is killed", who(w)),
            Self::LeaseOver => write!(f, "the lease is over"),
            Self::BackoffOver => write!(f, "the back-off is over"),
            Self::HorizonOver => write!(f, "the horizon is over"),
            Self::WindowOver => write!(f, "the row is older than the window"),
            Self::VisibilityTimeout(copy) => write!(f, "the broker queues copy {copy} again"),
            Self::BrokerLoses => write!(f, "the broker loses a copy"),
            Self::CallArrives => write!(f, "the late call arrives"),
            Self::KeysForgotten => write!(f, "the other side forgets its keys"),
            Self::Sweep => write!(f, "the sweeper ends the claim"),
            Self::Redeliver => write!(f, "the sweeper delivers the payload"),
            Self::Redrive => write!(f, "the dead-letter queue is replayed"),
            Self::Prune => write!(f, "the row is pruned"),
            Self::OperatorReleases => write!(f, "an operator releases"),
            Self::OperatorCloses => write!(f, "an operator resolves"),
        }
    }
}
