//! `Decision`: what is written, and what the caller is told.

use std::time::Duration;

use super::Row;

/// The answer of [`decide`](super::decide).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// What is written.
    pub change: Change,
    /// What the caller is told.
    pub answer: Answer,
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Nothing.
    Nothing,
    /// The row as it is afterwards; if there was none, it is inserted.
    Write(Row),
    /// The row is deleted.
    Delete,
}

/// What the caller is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// The claim is yours: run the body.
    Run {
        /// To be shown with every later write.
        fence: i64,
        /// 1 for the first attempt.
        attempt: u32,
    },
    /// Somebody works on it, or it has to wait. **Do not acknowledge**; come back later.
    InProgress {
        /// How much later.
        retry_after: Duration,
    },
    /// Processed, by somebody else. Acknowledge.
    Duplicate,
    /// It waits for a person. Do not acknowledge; to a dead-letter queue with it.
    Parked,
    /// The lease was renewed.
    Renewed,
    /// `processed_at` is set. Acknowledge.
    Recorded,
    /// The failed attempt is put back. Do not acknowledge; come back later.
    Released {
        /// How much later.
        retry_after: Duration,
    },
    /// The claim is not yours any more, and nothing was changed. Do not acknowledge.
    LeaseLost,
    /// The sweeper's, the operator's or the pruner's wish was carried out.
    Done,
    /// There was nothing to do: the row is gone, or not as the caller saw it.
    Nothing,
}

impl Decision {
    pub(super) const fn write(row: Row, answer: Answer) -> Self {
        Self {
            change: Change::Write(row),
            answer,
        }
    }

    /// Nothing is written.
    pub(super) const fn say(answer: Answer) -> Self {
        Self {
            change: Change::Nothing,
            answer,
        }
    }
}

impl Change {
    /// What stands in the table afterwards.
    pub const fn applied_to(self, row: Option<Row>) -> Option<Row> {
        match self {
            Self::Nothing => row,
            Self::Write(row) => Some(row),
            Self::Delete => None,
        }
    }
}
