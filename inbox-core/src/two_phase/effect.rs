//! `Effect`: what a failed body knows about its effect.

/// What the error of a body says about the effect: the answer of a handler's `classify` function.
///
/// An error that is not classified, a panic and a dropped future are [`Effect::Unknown`]. Say the other two only of what
/// is certain: a timeout is not certain, and neither is a reset connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// It did not happen, and trying again may help: nothing was sent, or the other side refused for now.
    NotHappened,
    /// Nobody knows.
    Unknown,
    /// It did not happen and never will: the other side refuses the message for good.
    Rejected,
}
