//! `Protocol`: a scenario as a model of stateright.

use std::sync::atomic::{AtomicBool, Ordering};

use inbox_core::two_phase::{Answer, Change, Decision, Request, State};
use stateright::{Model, Property};

use crate::action::Action;
use crate::flaw::decide_with;
use crate::scenario::Scenario;
use crate::world::World;

/// A scenario as a model of stateright.
#[derive(Debug)]
pub(crate) struct Protocol {
    pub(crate) scenario: Scenario,
    /// The invariants that were seen broken.
    broken: [AtomicBool; 8],
}

impl Protocol {
    pub(crate) fn new(scenario: Scenario) -> Self {
        Self {
            scenario,
            broken: [const { AtomicBool::new(false) }; 8],
        }
    }

    /// Reports the first world that breaks an invariant and not the later ones, because stateright keeps the last one
    /// it was told of, and the first one has the shortest path.
    fn first(&self, invariant: usize, holds: bool) -> bool {
        holds || self.broken[invariant].swap(true, Ordering::Relaxed)
    }

    /// Settled, or something can still change: a request that is refused is no way on.
    fn ends_settled(&self, world: &World) -> bool {
        let mut actions = Vec::new();
        world.is_settled() || {
            self.actions(world, &mut actions);
            let changes = |action| self.next_state(world, action).is_some();
            actions.into_iter().any(changes)
        }
    }
}

impl Model for Protocol {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![World::new(&self.scenario)]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        for (number, worker) in world.workers[..self.scenario.workers].iter().enumerate() {
            self.actions_of_worker(world, number, worker, actions);
        }
        self.actions_around(world, actions);
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut next = *world;
        self.act(&mut next, action);
        if let Some(row) = &mut next.row {
            // For display only, so worlds need not differ in it.
            row.lost_leases = 0;
        }
        if self.scenario.anonymous {
            next.workers[..self.scenario.workers].sort_unstable();
        }
        (next != *world).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let always = Property::<Self>::always;
        let sometimes = Property::<Self>::sometimes;
        vec![
            always("I1", |model, world| model.first(0, world.i1())),
            always("I2", |model, world| model.first(1, world.i2())),
            always("I3", |model, world| model.first(2, world.i3())),
            always("I4", |model, world| model.first(3, world.i4())),
            always("I5", |model, world| model.first(4, world.i5())),
            always("I6", |model, world| model.first(5, world.i6())),
            always("I7", |model, world| {
                model.first(6, model.ends_settled(world))
            }),
            always("I8", |model, world| model.first(7, world.i8())),
            sometimes("two may call", |_, world| world.two_may_call()),
            sometimes("a late finisher can record", |_, world| {
                world.late_finisher()
            }),
            sometimes("rejected, then processed", |_, world| {
                world.rejected_and_processed()
            }),
            sometimes("processed at the second attempt", |_, world| {
                world.processed_again()
            }),
            sometimes("waits for a person", |_, world| {
                world.is_settled() && world.is_in(State::Parked)
            }),
        ]
    }
}

/// The table, as a statement sees it.
impl Protocol {
    pub(crate) fn decide(&self, world: &World, request: &Request) -> Decision {
        decide_with(self.scenario.flaw, world.row.as_ref(), request)
    }

    /// Runs a statement.
    pub(crate) fn apply(&self, world: &mut World, request: &Request) -> Answer {
        let decision = self.decide(world, request);
        if let Change::Write(row) = decision.change
            && row.state == State::Processed
        {
            world.history.processed = (world.history.processed + 1).min(2);
        }
        world.row = decision.change.applied_to(world.row);
        decision.answer
    }
}
