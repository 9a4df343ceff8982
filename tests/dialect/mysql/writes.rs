//! MariaDB and MySQL: an error undoes its statement, and writers do not exclude one another.

/// What a write through the pool gets while a claim is open. If it works, it survives the rollback: the one thing the
/// inbox cannot take back.
pub(crate) const THROUGH_THE_POOL: Result<(), &str> = Ok(());

/// What another statement gets after one that failed.
pub(crate) const SECOND_TRY: Result<(), &str> = Ok(());
