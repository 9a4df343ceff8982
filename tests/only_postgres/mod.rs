//! What can be tried on PostgreSQL alone.

mod deferred;
mod during_commit;
mod pooler;
mod server_log;
mod tables;
