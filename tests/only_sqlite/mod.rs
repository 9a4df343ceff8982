//! What can be tried on SQLite alone.

mod attached;
mod busy;
mod commit;
mod deferred;
mod memory;
mod read_only;
