//! `Request`: what can be asked of a row.

use std::time::Duration;

use super::{Effect, Held, Policy, Token};

/// What can be asked of a row, each of it one statement (see the [module](super#statements)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Request {
    /// A delivery arrived: may the body run?
    Claim {
        /// Freshly drawn. When the answer to a claim is lost, the claim is repeated with the *same* token.
        token: Token,
        /// For how long.
        lease: Duration,
        /// What the handler wants done about this claim.
        policy: Policy,
    },
    /// The claim was told [`Parked`](super::Answer::Parked) with a change: park the row that must not be claimed again.
    ParkUnresolved {
        /// The fence of the row that was looked at.
        fence: i64,
        /// The policy of the claim.
        policy: Policy,
    },
    /// The body still runs: the lease begins anew.
    Renew {
        /// The claim.
        held: Held,
        /// For how long from now on.
        lease: Duration,
    },
    /// The body returned `Ok`: the message is processed.
    Record {
        /// The claim.
        held: Held,
    },
    /// The body failed.
    Fail {
        /// The claim.
        held: Held,
        /// What is known about the effect.
        effect: Effect,
        /// How long the next attempt has to wait, if there is one.
        delay: Duration,
    },
    /// The sweeper found a claim whose lease is over since `grace` or longer.
    Sweep {
        /// How long the sweeper leaves an expired claim to redeliveries, which may take it over.
        grace: Duration,
    },
    /// An operator wants another attempt, now.
    Release {
        /// The fence the operator saw.
        fence: i64,
    },
    /// An operator has done by hand what the message asked for.
    Resolve {
        /// The fence the operator saw.
        fence: i64,
    },
    /// An operator decided that it shall never be done.
    Discard {
        /// The fence the operator saw.
        fence: i64,
    },
    /// The row may be forgotten.
    Prune {
        /// How long processed rows are kept.
        window: Duration,
    },
}
