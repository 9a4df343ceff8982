//! A model check of the two-phase mode: every order of events, on the very function that decides.
//!
//! A small world is laid around [`inbox_core::two_phase::decide`]: one message, two copies of it in a broker, two or
//! three workers, the other side that they call, a sweeper and an operator. [`stateright`] visits every world that can be
//! reached from the beginning, with a bounded number of faults: a worker is killed, a lease runs out early, the broker
//! delivers again, a call fails or leaves everybody in the dark, an answer of the database is lost. In each world these
//! are checked:
//!
//! | | |
//! |---|---|
//! | I1 | never acknowledged before it is processed |
//! | I2 | at most one owner whose lease runs |
//! | I3 | at most one holder of the fence in the row |
//! | I4 | processed once |
//! | I5 | processed only if the effect happened |
//! | I6 | the effect happens at most once |
//! | I7 | where nothing can happen any more, the message is processed or waits for a person |
//! | I8 | no older fence reaches the other side after a newer one: more than a lease can promise |
//! | L1 | from every world, one can be reached where the message is processed or waits for a person |
//!
//! `good` tries the protocol, `naive` the one that everybody writes first, and `broken` the protocol with one mistake at
//! a time: these show that the check would notice. Each prints its verdicts, `cargo test -p inbox-core --test model --
//! --nocapture` shows them.
//!
//! What the model leaves out: there is one message; the faults are bounded; looking at the clock and calling is one
//! step, and so is what the other side does about a key; the database keeps what it committed; a body does not wait for
//! hours before it calls; the window covers everything the broker can do; operators find out what happened before they
//! decide; that a good end can be reached is not a bound in seconds.

mod action;
mod around;
mod broken;
mod flaw;
mod good;
mod naive;
mod possible;
mod protocol;
mod scenario;
mod verdict;
mod work;
mod world;
