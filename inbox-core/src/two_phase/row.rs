//! `Row`: what the inbox table holds about one message of one consumer.

use super::{DbTime, Policy};

/// 16 random bytes that a worker draws for one claim.
///
/// They are how a worker recognises its own claim when the answer to it was lost. Not a secret, but never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub [u8; 16]);

/// What the holder of a claim shows with every write: without the right fence *and* token nothing is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Held {
    /// The fence that the claim was given.
    pub fence: i64,
    /// The token that was drawn for the claim.
    pub token: Token,
}

/// Where a message stands. A message without a row is *absent*.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// Somebody works on it until the lease is over, or died doing so.
    Claimed,
    /// It may be claimed again, from `next_at` on.
    Released,
    /// Done for good.
    Processed,
    /// It waits for a person.
    Parked,
}

impl State {
    /// The number in the column `state`.
    pub const fn column(self) -> i64 {
        match self {
            Self::Claimed => 0,
            Self::Released => 1,
            Self::Processed => 2,
            Self::Parked => 3,
        }
    }

    /// The state with that number; nothing if a newer version wrote it.
    pub const fn from_column(state: i64) -> Option<Self> {
        match state {
            0 => Some(Self::Claimed),
            1 => Some(Self::Released),
            2 => Some(Self::Processed),
            3 => Some(Self::Parked),
            _ => None,
        }
    }
}

/// What the inbox table holds about one message of one consumer, as far as decisions depend on it.
///
/// The fields are columns of the same name; the policy is three of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Row {
    /// Where the message stands.
    pub state: State,
    /// Grows with every claim and every decision of an operator. Never goes down.
    pub fence: i64,
    /// The token of the latest claim. A row of the transactional mode has none.
    pub token: Option<Token>,
    /// How often a body was started, counted in the commit of the claim, before any code of the user. Never goes down:
    /// so a message that kills its worker ends up parked.
    pub attempts: u32,
    /// How many of them lost their lease. For display only.
    pub lost_leases: u32,
    /// Until when the claim is its holder's own. Only a claimed row has it.
    pub lease_until: Option<DbTime>,
    /// From when on a released row may be claimed; nothing means now.
    pub next_at: Option<DbTime>,
    /// When a call may have been made for the first time; the horizon counts from here. An operator's release clears
    /// it, so that the horizon starts anew with the next claim.
    pub first_call_at: Option<DbTime>,
    /// When the message was processed. Exactly the processed rows have it.
    pub processed_at: Option<DbTime>,
    /// When the message was parked. Exactly the parked rows have it.
    pub parked_at: Option<DbTime>,
    /// The policy of the latest claim. A row of the transactional mode has none.
    pub policy: Option<Policy>,
}

impl Row {
    /// Whether the row is that of this claim, and nobody claimed or decided since.
    pub fn is_held_by(&self, held: Held) -> bool {
        self.fence == held.fence && self.token == Some(held.token)
    }

    /// Whether it is claimed and its lease still runs.
    pub fn is_leased(&self, now: DbTime) -> bool {
        self.state == State::Claimed && self.lease_until.is_some_and(|until| until > now)
    }

    /// Whether it is claimed by somebody whose lease is over.
    pub fn is_expired(&self, now: DbTime) -> bool {
        self.state == State::Claimed && !self.is_leased(now)
    }

    /// Whether it is released and the back-off is over.
    pub fn is_due(&self, now: DbTime) -> bool {
        self.state == State::Released && self.next_at.is_none_or(|next| next <= now)
    }
}
