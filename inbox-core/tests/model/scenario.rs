//! `Scenario`: which protocol is tried, and what may go wrong around it.

use inbox_core::{OnUnknown, Policy};

use crate::world::{HORIZON, MAX_WORKERS};

/// The idempotency key that the body hands to the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    /// The same at every attempt.
    Stable,
    /// Another one at every attempt: a mistake.
    PerAttempt,
    /// None, or the other side does not look at it.
    None,
}

/// When processed rows may be forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prune {
    Never,
    /// When no copy of the message can come any more.
    AfterTheWindow,
    /// At any time: a mistake.
    Early,
}

/// How often each thing may go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Faults {
    /// A worker is killed.
    pub(crate) crashes: u8,
    /// A lease runs out although its owner is alive.
    pub(crate) expiries: u8,
    /// The broker hands a copy out again while the first worker still has it.
    pub(crate) timeouts: u8,
    /// The body fails and knows that nothing happened.
    pub(crate) failures: u8,
    /// The body fails and knows nothing.
    pub(crate) unknowns: u8,
    /// The database does not answer a claim or a record.
    pub(crate) lost_answers: u8,
    /// The broker loses a copy.
    pub(crate) losses: u8,
    /// All of these together.
    pub(crate) total: u8,
}

impl Faults {
    pub(crate) const NONE: Self = Self {
        crashes: 0,
        expiries: 0,
        timeouts: 0,
        failures: 0,
        unknowns: 0,
        lost_answers: 0,
        losses: 0,
        total: u8::MAX,
    };

    /// One of each; the broker loses nothing.
    pub(crate) const ONE_OF_EACH: Self = Self {
        crashes: 1,
        expiries: 1,
        timeouts: 1,
        failures: 1,
        unknowns: 1,
        lost_answers: 1,
        ..Self::NONE
    };

    /// Whether one of that kind is left.
    pub(crate) fn allow(self, kind: u8) -> bool {
        kind > 0 && self.total > 0
    }

    pub(crate) fn spend(&mut self, kind: fn(&mut Self) -> &mut u8) {
        *kind(self) -= 1;
        self.total -= 1;
    }
}

/// What a protocol gets wrong, if anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// Insert a claim, commit, call, set `processed_at`; any existing claim is a duplicate.
    Naive,
    /// A claim in progress is acknowledged.
    AckInProgress,
    /// A record that matched no row is acknowledged.
    AckLostLease,
    /// A record whose answer was lost is acknowledged.
    AckLostAnswer,
    /// Record by key only.
    UnguardedRecord,
    /// Release whatever claim is there.
    ReleaseByState,
    /// Release by key only.
    UnguardedRelease,
    /// A failed attempt deletes the row.
    DeleteOnError,
    /// The sweeper deletes expired claims.
    SweeperDeletes,
    /// Rows are pruned by the time they were received, in whatever state they are.
    PruneByAge,
    /// An unknown error parks, a lost lease is taken over.
    ParkErrorsOnly,
    /// An expired claim stays what it is.
    NobodyTakesOver,
    /// A worker calls without a look at the clock.
    NoDeadline,
}

/// Which protocol is tried, and what may go wrong around it.
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a named switch of a scenario"
)]
pub(crate) struct Scenario {
    pub(crate) workers: usize,
    pub(crate) copies: usize,
    pub(crate) policy: Policy,
    pub(crate) key: Key,
    /// The other side refuses a fence that is older than one it has seen.
    pub(crate) fences_checked: bool,
    pub(crate) sweeper: bool,
    /// The sweeper has the payload and delivers again what no broker delivers.
    pub(crate) payload: bool,
    /// How many decisions an operator makes.
    pub(crate) decisions: u8,
    pub(crate) prune: Prune,
    /// The horizon may pass.
    pub(crate) horizon_passes: bool,
    /// The other side forgets keys: after the horizon, or whenever there is none.
    pub(crate) keys_forgotten: bool,
    pub(crate) faults: Faults,
    pub(crate) flaw: Option<Flaw>,
    /// Workers are interchangeable, which makes fewer states and paths that are hard to read.
    pub(crate) anonymous: bool,
}

impl Scenario {
    /// Two workers, two copies, one fault of each kind, `max_attempts` 3, a stable key.
    pub(crate) fn retry() -> Self {
        Self {
            workers: 2,
            copies: 2,
            policy: Policy::new(OnUnknown::Retry { horizon: HORIZON }, 3).expect("valid"),
            key: Key::Stable,
            fences_checked: false,
            sweeper: false,
            payload: false,
            decisions: 0,
            prune: Prune::Never,
            horizon_passes: false,
            keys_forgotten: false,
            faults: Faults::ONE_OF_EACH,
            flaw: None,
            anonymous: true,
        }
    }

    /// The same without any key.
    pub(crate) fn park() -> Self {
        Self {
            policy: Policy::new(OnUnknown::Park, 3).expect("valid"),
            key: Key::None,
            ..Self::retry()
        }
    }

    pub(crate) fn with_workers(self, workers: usize) -> Self {
        assert!(workers <= MAX_WORKERS, "there is room for so many");
        Self { workers, ..self }
    }

    pub(crate) fn with_faults(self, faults: Faults) -> Self {
        Self { faults, ..self }
    }

    /// The protocol with that mistake; paths are for reading.
    pub(crate) fn flawed(self, flaw: Flaw) -> Self {
        Self {
            flaw: Some(flaw),
            anonymous: false,
            ..self
        }
    }
}
