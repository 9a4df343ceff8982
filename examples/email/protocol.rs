//! What the processes say to each other: one JSON value per line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    handler::Mode,
    receipt::{Receipt, Trouble, Troubles},
};

/// The first line to an instance. On stdin and not in the arguments, because a URL may hold a password.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Start {
    pub(crate) database: String,
    pub(crate) mode: Mode,
    /// Where the mail provider listens.
    pub(crate) provider: u16,
}

/// What the broker writes after [`Start`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Delivery {
    /// For the answer: several deliveries are on their way at once.
    pub(crate) number: u64,
    pub(crate) receipt: Receipt,
}

/// What an instance says.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Event {
    /// To a [`Delivery`].
    Answer { number: u64, answer: Answer },
    /// What its sweeper did.
    Swept(Swept),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// Acknowledged: this delivery is done with.
    Ack(Done),
    /// Not acknowledged: deliver it again.
    Nack {
        after_ms: Option<u64>,
        error: String,
    },
    /// Not acknowledged, and a person has to look: put it with the dead letters.
    Reject,
}

/// Why a delivery is done with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Done {
    Sent,
    Duplicate,
}

/// Claims whose worker was gone, and what became of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Swept {
    pub(crate) released: u64,
    pub(crate) parked: u64,
}

/// The first line to the mail provider.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Opening {
    /// Whether it recognises an idempotency key it has seen before.
    pub(crate) knows_keys: bool,
    pub(crate) troubles: Troubles,
}

/// The first line from the mail provider.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Opened {
    pub(crate) port: u16,
}

/// What the mail provider is asked later: its log, as soon as nothing is on its way any more.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct ShowLog;

/// A call of the mail provider, over TCP: one per connection.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Call {
    pub(crate) idempotency_key: String,
    pub(crate) receipt: Receipt,
}

/// What it answers, if it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reply {
    /// The mail is sent: now, or before under the same key.
    Sent,
    /// Busy. Nothing was sent.
    Refused,
    /// This address does not exist.
    Rejected,
}

/// All the mail provider has done, by message id.
pub(crate) type Log = BTreeMap<String, Entry>;

/// What it has done for one message.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// Each key it was called with, and how often.
    pub(crate) calls: BTreeMap<String, usize>,
    /// Mails that went out.
    pub(crate) sent: u32,
    /// Calls it recognised by their key, and sent nothing again.
    pub(crate) recognised: u32,
    pub(crate) rejected: u32,
    /// What went wrong, in order.
    pub(crate) troubles: Vec<Trouble>,
}
