//! PostgreSQL servers and databases that are not there, or accept no writes.

use sqlx::{Pool, Postgres};
use url::Url;

use crate::{dialect, support::database::TestDatabase};

pub(crate) const EXAMPLE: &str = "postgres://user:password@host/database";
pub(crate) const OTHER_DATABASE: &str = "mysql://user@host/database";
pub(crate) const UNREADABLE: &str = "postgres://host:port/database";

/// URLs that are well-formed, and whether later they can work without anybody mending anything.
pub(crate) fn unreachable_urls(database: &TestDatabase) -> Vec<(String, bool)> {
    let mut nowhere = Url::parse(database.url()).unwrap();
    nowhere.set_path("no_such_database");
    vec![
        ("postgres://127.0.0.1:1/nothing".into(), true),
        ("postgres://no-such-host.invalid/nothing".into(), true),
        (nowhere.into(), false),
        (with_user(database, "no_such_user", None), false),
    ]
}

/// The same database for somebody else.
pub(crate) fn with_user(database: &TestDatabase, user: &str, password: Option<&str>) -> String {
    let mut url = Url::parse(database.url()).unwrap();
    url.set_username(user).unwrap();
    url.set_password(password).unwrap();
    url.into()
}

/// Every transaction of such a session is read-only, as on a replica.
pub(crate) async fn read_only_pool(database: &TestDatabase) -> Pool<Postgres> {
    dialect::pool_with(
        database.url(),
        2,
        &["set default_transaction_read_only = on"],
    )
    .await
}
