//! What can be tried on SQLite alone.

mod commit;
