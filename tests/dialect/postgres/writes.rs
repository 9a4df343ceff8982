//! PostgreSQL: an error aborts the transaction, and writers do not exclude one another.

use crate::contract::writes::Beside::{self, Sticks};

/// What becomes of a write through the pool while a claim is open.
pub(crate) const THROUGH_THE_POOL: Beside = Sticks;

/// What another statement gets after one that failed.
pub(crate) const SECOND_TRY: Result<(), &str> = Err("25P02");
