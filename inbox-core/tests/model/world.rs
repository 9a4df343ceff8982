//! `World`: the row, the broker, the workers and the other side, at one moment.

use std::time::Duration;

use inbox_core::Effect;
use inbox_core::two_phase::{DbTime, Held, Row, State, Token};

use crate::scenario::{Faults, Scenario};

/// Time stands still. That a lease, a back-off, the horizon or the window is over is an event of its own, which moves
/// the moment in the row instead: so nothing is assumed about how long anything takes.
pub(crate) const NOW: DbTime = DbTime::from_millis(1_700_000_000_000);
pub(crate) const LEASE: Duration = Duration::from_mins(1);
pub(crate) const GRACE: Duration = Duration::from_secs(5);
pub(crate) const DELAY: Duration = Duration::from_secs(10);
pub(crate) const HORIZON: Duration = Duration::from_hours(12);
pub(crate) const WINDOW: Duration = Duration::from_hours(168);

pub(crate) const MAX_WORKERS: usize = 3;
pub(crate) const MAX_COPIES: usize = 2;

/// Everything there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct World {
    pub(crate) row: Option<Row>,
    pub(crate) copies: [Copy; MAX_COPIES],
    pub(crate) workers: [Worker; MAX_WORKERS],
    pub(crate) other_side: OtherSide,
    pub(crate) history: History,
    pub(crate) left: Faults,
    pub(crate) decisions_left: u8,
    pub(crate) horizon_over: bool,
}

/// A copy of the message in the broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Copy {
    Queued,
    /// A worker has it.
    Delivered,
    /// In the dead-letter queue.
    Dead,
    /// Acknowledged, or lost by the broker.
    Gone,
}

/// A worker and what it knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Worker {
    pub(crate) stage: Stage,
    /// The copy it works on.
    pub(crate) copy: usize,
    /// Whether the broker still thinks that it does.
    pub(crate) has_copy: bool,
    pub(crate) token: u8,
    pub(crate) fence: i64,
    pub(crate) attempt: u32,
    /// As far as it knows, its lease runs.
    pub(crate) live: bool,
    /// By its own clock, its deadline is long over.
    pub(crate) late: bool,
}

/// What a worker does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// Receive.
    Idle,
    /// Claim; `unsure` if a claim with the same token was sent before.
    Claim { unsure: bool },
    /// Look at the row that it could not claim.
    Inspect,
    /// Park that row.
    Park { fence: i64 },
    /// Call the other side.
    Call,
    /// Record that the call succeeded.
    Record,
    /// Say that it failed.
    Fail(Knowledge),
    /// Answer the broker.
    Tell(Reply),
}

/// [`Effect`], with an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Knowledge {
    NotHappened,
    Rejected,
    Unknown,
}

impl Knowledge {
    pub(crate) fn effect(self) -> Effect {
        match self {
            Self::NotHappened => Effect::NotHappened,
            Self::Rejected => Effect::Rejected,
            Self::Unknown => Effect::Unknown,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Reply {
    Ack,
    /// Again, later.
    Nack,
    /// To the dead-letter queue.
    Reject,
}

impl Worker {
    pub(crate) const IDLE: Self = Self {
        stage: Stage::Idle,
        copy: 0,
        has_copy: false,
        token: 0,
        fence: 0,
        attempt: 0,
        live: false,
        late: false,
    };

    pub(crate) fn held(&self) -> Held {
        Held {
            fence: self.fence,
            token: Token([self.token; 16]),
        }
    }

    /// Whether it believes that the message is its own.
    pub(crate) fn is_owner(&self) -> bool {
        matches!(self.stage, Stage::Call | Stage::Record | Stage::Fail(_))
    }

    /// The end of the work; what it knew about its claim is forgotten.
    pub(crate) fn tell(&mut self, reply: Reply) {
        *self = Self {
            stage: Stage::Tell(reply),
            copy: self.copy,
            has_copy: self.has_copy,
            ..Self::IDLE
        };
    }
}

/// Whoever is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct OtherSide {
    /// One bit for each key it remembers.
    pub(crate) keys: u8,
    /// How often the effect happened, counted up to 2.
    pub(crate) applied: u8,
    /// The highest fence it has seen.
    pub(crate) newest: i64,
    /// A call that has not arrived yet: attempt and fence.
    pub(crate) under_way: Option<(u32, i64)>,
}

/// What happened once and cannot be seen any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct History {
    /// How often the message became processed, counted up to 2.
    pub(crate) processed: u8,
    pub(crate) acked_early: bool,
    pub(crate) older_after_newer: bool,
    /// An operator said that it is done.
    pub(crate) closed: bool,
}

impl World {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let mut copies = [Copy::Gone; MAX_COPIES];
        copies[..scenario.copies].fill(Copy::Queued);
        Self {
            row: None,
            copies,
            workers: [Worker::IDLE; MAX_WORKERS],
            other_side: OtherSide {
                keys: 0,
                applied: 0,
                newest: 0,
                under_way: None,
            },
            history: History {
                processed: 0,
                acked_early: false,
                older_after_newer: false,
                closed: false,
            },
            left: scenario.faults,
            decisions_left: scenario.decisions,
            horizon_over: false,
        }
    }

    pub(crate) fn is_in(&self, state: State) -> bool {
        self.row.is_some_and(|row| row.state == state)
    }

    /// Whether the worker that the row was given to knows of it and still works.
    pub(crate) fn owner_lives(&self) -> bool {
        let is_owner = |worker: &Worker| {
            let holds = |row: Row| row.is_held_by(worker.held());
            worker.is_owner() && worker.live && self.row.is_some_and(holds)
        };
        self.workers.iter().any(is_owner)
    }

    /// A token that nobody remembers.
    pub(crate) fn fresh_token(&self) -> u8 {
        (1..=u8::MAX)
            .find(|byte| {
                self.row.and_then(|row| row.token) != Some(Token([*byte; 16]))
                    && self.workers.iter().all(|worker| worker.token != *byte)
            })
            .expect("there are more tokens than workers")
    }

    /// Nobody has anything to do: the message is processed or waits for a person.
    pub(crate) fn is_settled(&self) -> bool {
        let at_rest = |copy: &Copy| matches!(copy, Copy::Gone | Copy::Dead);
        self.copies.iter().all(at_rest)
            && self
                .workers
                .iter()
                .all(|worker| worker.stage == Stage::Idle)
            && match self.row {
                Some(row) => matches!(row.state, State::Processed | State::Parked),
                None => self.history.processed > 0,
            }
    }
}

/// The invariants, by the names of the verdict table. `I7` and `L1` need the successors of a world.
impl World {
    /// Never acknowledged before processed.
    pub(crate) fn i1(&self) -> bool {
        !self.history.acked_early
    }

    /// At most one owner whose lease runs.
    pub(crate) fn i2(&self) -> bool {
        let live = |worker: &&Worker| worker.is_owner() && worker.live;
        self.workers.iter().filter(live).count() <= 1
    }

    /// At most one holder of the fence in the row.
    pub(crate) fn i3(&self) -> bool {
        let Some(row) = self.row else { return true };
        let holds = |worker: &&Worker| worker.is_owner() && worker.fence == row.fence;
        self.workers.iter().filter(holds).count() <= 1
    }

    /// Processed once.
    pub(crate) fn i4(&self) -> bool {
        self.history.processed <= 1
    }

    /// Processed only if the effect happened, unless an operator said so.
    pub(crate) fn i5(&self) -> bool {
        !self.is_in(State::Processed) || self.other_side.applied > 0 || self.history.closed
    }

    /// The effect happens at most once.
    pub(crate) fn i6(&self) -> bool {
        self.other_side.applied <= 1
    }

    /// No older fence arrives after a newer one.
    pub(crate) fn i8(&self) -> bool {
        !self.history.older_after_newer
    }
}

/// What must be possible, or the model shows less than it claims.
impl World {
    /// What no lease can prevent.
    pub(crate) fn two_may_call(&self) -> bool {
        let about_to = |worker: &&Worker| worker.stage == Stage::Call && !worker.late;
        self.workers.iter().filter(about_to).count() > 1
    }

    /// The row was parked or swept, and its last holder comes back with a success.
    pub(crate) fn late_finisher(&self) -> bool {
        (self.is_in(State::Parked) || self.is_in(State::Released))
            && self.workers.iter().any(|worker| {
                worker.stage == Stage::Record
                    && self.row.is_some_and(|row| row.is_held_by(worker.held()))
            })
    }

    /// One copy lies in the dead-letter queue although all is well in the end.
    pub(crate) fn rejected_and_processed(&self) -> bool {
        self.is_settled() && self.is_in(State::Processed) && self.copies.contains(&Copy::Dead)
    }

    pub(crate) fn processed_again(&self) -> bool {
        self.is_in(State::Processed) && self.row.is_some_and(|row| row.attempts > 1)
    }
}
