//! The two-phase mode: the statements against the decision function, and every situation of a delivery as a directed
//! schedule.

pub(crate) mod audit;
mod cancellation;
pub(crate) mod crashes;
mod deliveries;
mod differential;
mod late;
pub(crate) mod post;
mod renewals;
mod shared_pool;
mod situations;
pub(crate) mod stored;
