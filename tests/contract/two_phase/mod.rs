//! The two-phase mode: the statements against the decision function, and every situation of a delivery as a directed
//! schedule.

mod differential;
mod situations;
mod stored;
