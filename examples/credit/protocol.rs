//! What broker and instance say to each other: one JSON value per line.

use serde::{Deserialize, Serialize};

use crate::{bank::Handler, message::Credit};

/// The first line to an instance. On stdin and not in the arguments, because a URL may hold a password.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Start {
    pub(crate) database: String,
    pub(crate) handler: Handler,
    pub(crate) instance: i64,
}

/// What the instance answers to each [`Credit`], in the order in which it got them.
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
    /// Not acknowledged, and never will be: a person has to look.
    Reject { error: String },
}

/// Why a delivery is done with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Done {
    Credited,
    Duplicate,
}

/// What the broker writes after [`Start`].
pub(crate) type Delivery = Credit;
