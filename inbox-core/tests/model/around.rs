//! What happens around the workers, and what it leads to.

use std::time::Duration;

use inbox_core::two_phase::{Answer, Request};

use crate::action::Action;
use crate::protocol::Protocol;
use crate::scenario::Flaw;
use crate::world::{Copy, GRACE, HORIZON, NOW, Stage, WINDOW, World};

impl Protocol {
    pub(crate) fn act_around(&self, world: &mut World, action: Action) {
        let fence = world.row.map_or(0, |row| row.fence);
        match action {
            Action::LeaseOver => lease_over(world),
            Action::BackoffOver => {
                if let Some(row) = &mut world.row {
                    row.next_at = Some(NOW);
                }
            }
            Action::HorizonOver => {
                world.horizon_over = true;
                if let Some(row) = &mut world.row {
                    row.first_call_at = row.first_call_at.map(|_| NOW.minus(HORIZON));
                    row.next_at = None;
                }
            }
            Action::WindowOver => {
                if let Some(row) = &mut world.row {
                    row.processed_at = Some(NOW.minus(WINDOW).minus(Duration::from_millis(1)));
                }
                deadlines_pass(world);
            }
            Action::VisibilityTimeout(copy) => {
                world.left.spend(|left| &mut left.timeouts);
                world.copies[copy] = Copy::Queued;
                for worker in &mut world.workers {
                    worker.has_copy &= worker.copy != copy;
                }
            }
            Action::BrokerLoses => {
                world.left.spend(|left| &mut left.losses);
                move_copy(world, Copy::Queued, Copy::Gone);
            }
            Action::KeysForgotten => {
                world.other_side.keys = 0;
                deadlines_pass(world);
            }
            Action::Sweep => {
                self.apply(world, &Request::Sweep { grace: GRACE });
            }
            Action::Redeliver => {
                if !move_copy(world, Copy::Gone, Copy::Queued) {
                    move_copy(world, Copy::Dead, Copy::Queued);
                }
            }
            Action::Redrive => {
                move_copy(world, Copy::Dead, Copy::Queued);
            }
            Action::Prune => {
                if self.scenario.flaw == Some(Flaw::PruneByAge) {
                    world.left.spend(|left| &mut left.losses);
                }
                self.apply(world, &Request::Prune { window: WINDOW });
            }
            Action::OperatorReleases => {
                if self.apply(world, &Request::Release { fence }) == Answer::Done {
                    world.decisions_left -= 1;
                    world.horizon_over = false;
                    deadlines_pass(world);
                }
            }
            Action::OperatorCloses => {
                if self.apply(world, &Request::Resolve { fence }) == Answer::Done {
                    world.decisions_left -= 1;
                    world.history.closed = true;
                    deadlines_pass(world);
                }
            }
            _ => unreachable!("an action of a worker"),
        }
    }
}

fn lease_over(world: &mut World) {
    if world.owner_lives() {
        world.left.spend(|left| &mut left.expiries);
    }
    let Some(row) = &mut world.row else { return };
    row.lease_until = Some(NOW.minus(GRACE));
    for worker in &mut world.workers {
        worker.live &= !row.is_held_by(worker.held());
    }
}

/// So much time passed that nobody can still be within the deadline of a lease that is over.
fn deadlines_pass(world: &mut World) {
    for worker in &mut world.workers {
        worker.late |= worker.stage == Stage::Call && !worker.live;
    }
}

/// Moves one copy; false if there is none.
fn move_copy(world: &mut World, from: Copy, to: Copy) -> bool {
    let found = world.copies.iter_mut().find(|copy| **copy == from);
    found.map(|copy| *copy = to).is_some()
}
