//! SQLite: an error undoes its statement, and there is one writer.

use crate::contract::writes::Beside::{self, Refused};

/// What becomes of a write through the pool while a claim is open.
pub(crate) const THROUGH_THE_POOL: Beside = Refused;

/// What another statement gets after one that failed.
pub(crate) const SECOND_TRY: Result<(), &str> = Ok(());
