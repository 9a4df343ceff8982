//! What the inbox promises, written once: each database's test binary compiles these modules with its own
//! `crate::Db` and `crate::dialect`, so a case that is here runs on all three.

pub(crate) mod bench;

mod basics;
pub(crate) mod bodies;
mod nested;
mod oracle;
mod outside;
pub(crate) mod violations;
