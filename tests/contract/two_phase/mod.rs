//! The two-phase mode: the statements against the decision function, and every situation of a delivery as a directed
//! schedule.

pub(crate) mod audit;
mod deliveries;
mod differential;
mod late;
pub(crate) mod post;
mod situations;
pub(crate) mod stored;
