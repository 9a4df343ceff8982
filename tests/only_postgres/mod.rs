//! What can be tried on PostgreSQL alone.

mod during_commit;
mod pooler;
mod server_log;
