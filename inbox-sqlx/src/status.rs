//! What the inbox knows about one message.

use std::time::Duration;

use crate::backend::MarkerStatus;

/// What the inbox knows about one message of one consumer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageStatus {
    /// The `id` of its row in the inbox table.
    pub row: i64,
    /// Where it stands.
    pub state: MessageState,
    /// How often a body was started for it.
    pub attempts: u32,
    /// How long ago it was first claimed, by the database's clock, to the millisecond.
    pub received_ago: Duration,
    /// How long ago it was processed, by the database's clock, to the millisecond; `None` if it was not.
    pub processed_ago: Option<Duration>,
}

/// Where a message stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MessageState {
    /// Somebody works on it, or died doing so.
    Claimed,
    /// It may be claimed again.
    Released,
    /// Done for good: another delivery is a duplicate.
    Processed,
    /// It waits for a person.
    Parked,
    /// Something that this version of the library does not know, written by a newer one.
    Newer,
}

impl MessageState {
    /// The numbers are those of the column `state`.
    pub(crate) fn from_column(state: i64) -> Self {
        match state {
            0 => Self::Claimed,
            1 => Self::Released,
            2 => Self::Processed,
            3 => Self::Parked,
            _ => Self::Newer,
        }
    }
}

impl MessageStatus {
    pub(crate) fn from_marker(marker: &MarkerStatus) -> Self {
        let ago = |ms: i64| Duration::from_millis(ms.max(0).unsigned_abs());
        Self {
            row: marker.row,
            state: MessageState::from_column(marker.state),
            attempts: u32::try_from(marker.attempts).unwrap_or(u32::MAX),
            received_ago: ago(marker.received_ms_ago),
            processed_ago: marker.processed_ms_ago.map(ago),
        }
    }
}

/// How many messages stand in one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StateCount {
    /// The state; [`MessageState::Processed`] is not counted, because that would read the whole table.
    pub state: MessageState,
    /// How many messages stand in it.
    pub count: u64,
    /// How long ago the oldest of them was first received, by the database's clock.
    pub oldest: Duration,
}

impl StateCount {
    pub(crate) fn from_row(row: &crate::backend::upkeep::StateCount) -> Self {
        Self {
            state: MessageState::from_column(row.state),
            count: row.count.unsigned_abs(),
            oldest: Duration::from_millis(row.oldest_ms.max(0).unsigned_abs()),
        }
    }
}
