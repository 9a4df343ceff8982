//! For bodies: which unique index did a statement violate?

use inbox_core::ViolatedIndex;

/// The unique index or constraint that a statement violated, as far as the database tells.
///
/// `None` for every other error. The answer is about *your* tables: what the claim meets never reaches a
/// body.
///
/// ```
/// # fn classify(error: sqlx::Error) -> &'static str {
/// match inbox_sqlx::violated_index(&error) {
///     Some(index) if index.is_named("orders_number_key") => "this order exists",
///     Some(_) => "some other index",
///     None => "not a unique violation",
/// }
/// # }
/// # assert_eq!(classify(sqlx::Error::RowNotFound), "not a unique violation");
/// ```
pub fn violated_index(error: &sqlx::Error) -> Option<ViolatedIndex> {
    crate::backend::violation(error)?.index()
}

/// Whether a statement violated the unique index or constraint of this name.
///
/// SQLite does not tell names, only columns; see [`ViolatedIndex::is_named`] for what matches there.
pub fn is_violation_of(error: &sqlx::Error, index: &str) -> bool {
    violated_index(error).is_some_and(|violated| violated.is_named(index))
}
