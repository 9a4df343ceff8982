//! What the inbox promises, written once: each database's test binary compiles these modules with its own
//! `crate::Db` and `crate::dialect`, so a case that is here runs on all three.

pub(crate) mod bench;

mod attribute_two_phase;
mod basics;
pub(crate) mod bodies;
pub(crate) mod cancellation;
pub(crate) mod crashes;
mod crowds;
pub(crate) mod delivery;
mod errors;
mod found;
mod interrupted;
pub(crate) mod keys;
mod logs;
mod nested;
mod operator;
mod oracle;
mod outside;
mod patience;
pub(crate) mod processes;
mod races;
mod retention;
pub(crate) mod schema;
pub(crate) mod shared_pool;
mod sweeper;
pub(crate) mod two_phase;
mod unreachable;
pub(crate) mod violations;
pub(crate) mod writes;
