//! What only a database behind a network can suffer: PostgreSQL and MariaDB, not SQLite.

mod cuts;
mod early_commits;
mod flights;
mod in_flight;
mod kills;
mod neighbours;
mod two_phase;

use inbox_sqlx::Inbox;

use crate::{contract::bench::Bench, dialect, support::proxy::Proxy};

/// A bench whose inbox reaches its database through a proxy, on one connection.
async fn proxied() -> (Bench, Proxy) {
    let database = dialect::fresh_database().await;
    let proxy = Proxy::start(database.url()).await;
    let pool = dialect::pool(proxy.url(), 1).await;
    (Bench::around(Inbox::new(pool), database).await, proxy)
}
