//! What the steps of a worker lead to.

use inbox_core::two_phase::{Answer, Change, Decision, Request, State, Token};

use crate::action::{Action, Outcome, Wire};
use crate::protocol::Protocol;
use crate::scenario::{Flaw, Key};
use crate::world::{Copy, DELAY, Knowledge, LEASE, Reply, Stage, Worker, World};

impl Protocol {
    pub(crate) fn act(&self, world: &mut World, action: Action) {
        match action {
            Action::Receive(number) => receive(world, number),
            Action::Claim(number, wire) => self.claim(world, number, wire),
            Action::GiveUp(number) => world.workers[number].tell(Reply::Nack),
            Action::Inspect(number) => self.inspect(world, number),
            Action::Park(number) => self.park(world, number),
            Action::Renew(number) => self.renew(world, number),
            Action::Call(number, outcome) => self.call(world, number, outcome),
            Action::Abort(number) => {
                world.workers[number].stage = Stage::Fail(Knowledge::NotHappened);
            }
            Action::Record(number, wire) => self.record(world, number, wire),
            Action::Fail(number) => self.fail(world, number),
            Action::Tell(number) => tell(world, number),
            Action::Crash(number) => {
                world.left.spend(|left| &mut left.crashes);
                let worker = world.workers[number];
                if worker.has_copy {
                    world.copies[worker.copy] = Copy::Queued;
                }
                world.workers[number] = Worker::IDLE;
            }
            Action::CallArrives => {
                let call = world.other_side.under_way.take();
                let (attempt, fence) = call.expect("a call is under way");
                self.arrive(world, attempt, fence);
            }
            _ => self.act_around(world, action),
        }
    }

    fn claim_of(&self, worker: &Worker) -> Request {
        Request::Claim {
            token: Token([worker.token; 16]),
            lease: LEASE,
            policy: self.scenario.policy,
        }
    }

    /// The statement claims or it does not; it never parks, and does not say why.
    fn claim(&self, world: &mut World, number: usize, wire: Wire) {
        let request = self.claim_of(&world.workers[number]);
        let claims = matches!(
            self.decide(world, &request),
            Decision {
                change: Change::Write(_),
                answer: Answer::Run { .. },
            }
        );
        if wire != Wire::Fine {
            world.left.spend(|left| &mut left.lost_answers);
            world.workers[number].stage = Stage::Claim { unsure: true };
        }
        match wire {
            Wire::AnswerLost if claims => {
                self.apply(world, &request);
            }
            Wire::AnswerLost | Wire::Lost => {}
            Wire::Fine if claims => {
                let answer = self.apply(world, &request);
                own(&mut world.workers[number], answer);
            }
            Wire::Fine => world.workers[number].stage = Stage::Inspect,
        }
    }

    fn inspect(&self, world: &mut World, number: usize) {
        let decision = self.decide(world, &self.claim_of(&world.workers[number]));
        let fence = world.row.map_or(0, |row| row.fence);
        let ack_in_progress = self.scenario.flaw == Some(Flaw::AckInProgress);
        let worker = &mut world.workers[number];
        match (decision.answer, decision.change) {
            (answer @ Answer::Run { .. }, Change::Nothing) => own(worker, answer),
            (Answer::Parked, Change::Write(_)) => {
                worker.stage = Stage::Park { fence };
                worker.token = 0;
            }
            (Answer::Parked, _) => worker.tell(Reply::Reject),
            (Answer::Duplicate, _) => worker.tell(Reply::Ack),
            (Answer::InProgress { .. }, _) if ack_in_progress => worker.tell(Reply::Ack),
            _ => worker.tell(Reply::Nack),
        }
    }

    fn park(&self, world: &mut World, number: usize) {
        let Stage::Park { fence } = world.workers[number].stage else {
            unreachable!("the worker parks");
        };
        let request = Request::ParkUnresolved {
            fence,
            policy: self.scenario.policy,
        };
        let answer = self.apply(world, &request);
        world.workers[number].tell(match answer {
            Answer::Parked => Reply::Reject,
            Answer::Duplicate => Reply::Ack,
            _ => Reply::Nack,
        });
    }

    fn renew(&self, world: &mut World, number: usize) {
        let held = world.workers[number].held();
        match self.apply(world, &Request::Renew { held, lease: LEASE }) {
            Answer::Renewed => world.workers[number].live = true,
            // The body is stopped before it called.
            _ => world.workers[number].tell(Reply::Nack),
        }
    }

    fn call(&self, world: &mut World, number: usize, outcome: Outcome) {
        let worker = world.workers[number];
        let (attempt, fence) = (worker.attempt, worker.fence);
        world.workers[number].stage = match outcome {
            Outcome::Ok if self.arrive(world, attempt, fence) => Stage::Record,
            Outcome::Ok => Stage::Fail(Knowledge::NotHappened),
            Outcome::NotHappened => {
                world.left.spend(|left| &mut left.failures);
                Stage::Fail(Knowledge::NotHappened)
            }
            Outcome::Rejected => {
                world.left.spend(|left| &mut left.failures);
                Stage::Fail(Knowledge::Rejected)
            }
            Outcome::UnknownHappened => {
                world.left.spend(|left| &mut left.unknowns);
                self.arrive(world, attempt, fence);
                Stage::Fail(Knowledge::Unknown)
            }
            Outcome::UnknownNever => {
                world.left.spend(|left| &mut left.unknowns);
                Stage::Fail(Knowledge::Unknown)
            }
            Outcome::UnknownLate => {
                world.left.spend(|left| &mut left.unknowns);
                world.other_side.under_way = Some((attempt, fence));
                Stage::Fail(Knowledge::Unknown)
            }
        };
    }

    /// The other side does what it is asked, unless it did before; false if it refuses.
    fn arrive(&self, world: &mut World, attempt: u32, fence: i64) -> bool {
        let other_side = &mut world.other_side;
        if fence < other_side.newest {
            if self.scenario.fences_checked {
                return false;
            }
            world.history.older_after_newer = true;
        }
        other_side.newest = other_side.newest.max(fence);
        let key = match self.scenario.key {
            Key::Stable => 1,
            Key::PerAttempt => 1 << attempt,
            Key::None => 0,
        };
        if other_side.keys & key == 0 {
            other_side.applied = (other_side.applied + 1).min(2);
            other_side.keys |= key;
        }
        true
    }

    fn record(&self, world: &mut World, number: usize, wire: Wire) {
        let held = world.workers[number].held();
        let answer = match wire {
            Wire::Lost => None,
            Wire::Fine | Wire::AnswerLost => Some(self.apply(world, &Request::Record { held })),
        };
        if wire != Wire::Fine {
            world.left.spend(|left| &mut left.lost_answers);
        }
        let ack = match answer.filter(|_| wire == Wire::Fine) {
            Some(Answer::Recorded | Answer::Duplicate) => true,
            Some(_) => self.scenario.flaw == Some(Flaw::AckLostLease),
            None => self.scenario.flaw == Some(Flaw::AckLostAnswer),
        };
        world.workers[number].tell(if ack { Reply::Ack } else { Reply::Nack });
    }

    fn fail(&self, world: &mut World, number: usize) {
        let Stage::Fail(knowledge) = world.workers[number].stage else {
            unreachable!("the worker failed");
        };
        let request = Request::Fail {
            held: world.workers[number].held(),
            effect: knowledge.effect(),
            delay: DELAY,
        };
        let answer = self.apply(world, &request);
        world.workers[number].tell(match answer {
            Answer::Parked => Reply::Reject,
            Answer::Duplicate => Reply::Ack,
            _ => Reply::Nack,
        });
    }
}

/// All copies are the same, so it takes the first.
fn receive(world: &mut World, number: usize) {
    let queued = |copy: &Copy| *copy == Copy::Queued;
    let copy = world.copies.iter().position(queued).expect("one is queued");
    world.copies[copy] = Copy::Delivered;
    let token = world.fresh_token();
    world.workers[number] = Worker {
        stage: Stage::Claim { unsure: false },
        copy,
        has_copy: true,
        token,
        ..Worker::IDLE
    };
}

fn own(worker: &mut Worker, answer: Answer) {
    let Answer::Run { fence, attempt } = answer else {
        unreachable!("the claim was granted");
    };
    worker.stage = Stage::Call;
    worker.fence = fence;
    worker.attempt = attempt;
    worker.live = true;
}

/// The worst broker: an acknowledgement removes the copy, no matter who has it by now.
fn tell(world: &mut World, number: usize) {
    let worker = world.workers[number];
    let Stage::Tell(reply) = worker.stage else {
        unreachable!("the worker has an answer");
    };
    match reply {
        Reply::Ack => {
            let processed = world.is_in(State::Processed) || world.history.processed > 0;
            world.history.acked_early |= !processed;
            world.copies[worker.copy] = Copy::Gone;
        }
        Reply::Reject => world.copies[worker.copy] = Copy::Dead,
        Reply::Nack if worker.has_copy => world.copies[worker.copy] = Copy::Queued,
        Reply::Nack => {}
    }
    if reply != Reply::Nack {
        for other in &mut world.workers {
            other.has_copy &= other.copy != worker.copy;
        }
    }
    world.workers[number] = Worker::IDLE;
}
