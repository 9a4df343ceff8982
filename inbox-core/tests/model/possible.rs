//! What is possible in a world.

use inbox_core::two_phase::State;

use crate::action::{Action, Outcome, Wire};
use crate::protocol::Protocol;
use crate::scenario::{Flaw, Prune};
use crate::world::{Copy, NOW, Stage, Worker, World};

impl Protocol {
    pub(crate) fn actions_of_worker(
        &self,
        world: &World,
        number: usize,
        worker: &Worker,
        actions: &mut Vec<Action>,
    ) {
        let left = world.left;
        let wires = |actions: &mut Vec<Action>, action: fn(usize, Wire) -> Action| {
            actions.push(action(number, Wire::Fine));
            if left.allow(left.lost_answers) {
                actions.push(action(number, Wire::AnswerLost));
                actions.push(action(number, Wire::Lost));
            }
        };
        match worker.stage {
            Stage::Idle => {
                if world.copies.contains(&Copy::Queued) {
                    actions.push(Action::Receive(number));
                }
                return;
            }
            Stage::Claim { unsure } => {
                wires(actions, Action::Claim);
                if unsure {
                    actions.push(Action::GiveUp(number));
                }
            }
            Stage::Inspect => actions.push(Action::Inspect(number)),
            Stage::Park { .. } => actions.push(Action::Park(number)),
            Stage::Call if worker.late && self.scenario.flaw != Some(Flaw::NoDeadline) => {
                actions.push(Action::Abort(number));
            }
            Stage::Call => {
                if !worker.live {
                    actions.push(Action::Renew(number));
                }
                actions.push(Action::Call(number, Outcome::Ok));
                if left.allow(left.failures) {
                    actions.push(Action::Call(number, Outcome::NotHappened));
                    actions.push(Action::Call(number, Outcome::Rejected));
                }
                if left.allow(left.unknowns) {
                    actions.push(Action::Call(number, Outcome::UnknownHappened));
                    actions.push(Action::Call(number, Outcome::UnknownNever));
                    if world.other_side.under_way.is_none() {
                        actions.push(Action::Call(number, Outcome::UnknownLate));
                    }
                }
            }
            Stage::Record => wires(actions, Action::Record),
            Stage::Fail(_) => actions.push(Action::Fail(number)),
            Stage::Tell(_) => actions.push(Action::Tell(number)),
        }
        if left.allow(left.crashes) {
            actions.push(Action::Crash(number));
        }
    }

    pub(crate) fn actions_around(&self, world: &World, actions: &mut Vec<Action>) {
        let scenario = &self.scenario;
        let left = world.left;
        let mut possible = |action, condition| {
            if condition {
                actions.push(action);
            }
        };
        let expired = world.row.is_some_and(|row| row.is_expired(NOW));
        let leased = world.row.is_some_and(|row| row.is_leased(NOW));
        let due = world.row.is_some_and(|row| row.is_due(NOW));
        let old = world
            .row
            .and_then(|row| row.processed_at)
            .is_some_and(|at| at < NOW);
        let processed = world.is_in(State::Processed);
        let released = world.is_in(State::Released);
        let quiet = world.other_side.under_way.is_none();

        // Free if the owner is dead, early and so a fault if it lives.
        possible(
            Action::LeaseOver,
            leased && (!world.owner_lives() || left.allow(left.expiries)),
        );
        possible(Action::BackoffOver, released && !due);
        possible(
            Action::HorizonOver,
            scenario.horizon_passes && !world.horizon_over && world.row.is_some() && !leased,
        );
        possible(
            Action::WindowOver,
            processed
                && !old
                && match scenario.prune {
                    Prune::Never => false,
                    Prune::Early => true,
                    // The window is longer than anything that belongs to the message can take.
                    Prune::AfterTheWindow => {
                        quiet
                            && world.copies.iter().all(|copy| *copy == Copy::Gone)
                            && !world.workers.iter().any(is_before_the_claim)
                    }
                },
        );
        for (number, copy) in world.copies.iter().enumerate() {
            possible(
                Action::VisibilityTimeout(number),
                *copy == Copy::Delivered && left.allow(left.timeouts),
            );
        }
        // Before the first claim nobody but the broker knows of the message.
        possible(
            Action::BrokerLoses,
            world.copies.contains(&Copy::Queued) && world.row.is_some() && left.allow(left.losses),
        );
        possible(Action::CallArrives, !quiet);
        possible(
            Action::KeysForgotten,
            scenario.keys_forgotten
                && world.other_side.keys != 0
                && (world.horizon_over || !scenario.horizon_passes)
                // A call does not travel for so long, and a body does not wait for so long before it calls.
                && quiet
                && !world.workers.iter().any(|worker| worker.stage == Stage::Call && worker.live),
        );
        // Sweeper, pruner and operator may ask at any time. That they are refused is for `decide` to see to.
        possible(Action::Sweep, scenario.sweeper && world.row.is_some());
        possible(
            Action::Redeliver,
            scenario.payload
                && (expired || due)
                && !world.copies.contains(&Copy::Queued)
                && !world.copies.contains(&Copy::Delivered),
        );
        possible(
            Action::Redrive,
            world.copies.contains(&Copy::Dead) && (released || expired),
        );
        possible(
            Action::Prune,
            match scenario.flaw {
                Some(Flaw::PruneByAge) => world.row.is_some() && left.allow(left.losses),
                _ => scenario.prune != Prune::Never && world.row.is_some(),
            },
        );
        // An operator finds out what happened, and takes longer than a lease.
        let may_decide = world.decisions_left > 0 && world.row.is_some();
        possible(
            Action::OperatorReleases,
            may_decide && quiet && world.other_side.applied == 0,
        );
        possible(Action::OperatorCloses, may_decide);
    }
}

fn is_before_the_claim(worker: &Worker) -> bool {
    matches!(worker.stage, Stage::Claim { .. })
}
