//! MariaDB and MySQL servers and databases that are not there, or accept no writes.

use sqlx::{MySql, Pool};
use url::Url;

use crate::{dialect, support::database::TestDatabase};

pub(crate) const EXAMPLE: &str = "mysql://user:password@host/database";
pub(crate) const OTHER_DATABASE: &str = "postgres://user@host/database";
pub(crate) const UNREADABLE: &str = "mysql://host:port/database";

/// URLs that are well-formed, and whether later they can work without anybody mending anything.
pub(crate) fn unreachable_urls(database: &TestDatabase) -> Vec<(String, bool)> {
    let mut nowhere = Url::parse(database.url()).unwrap();
    nowhere.set_path("no_such_database");
    vec![
        ("mysql://127.0.0.1:1/nothing".into(), true),
        ("mysql://no-such-host.invalid/nothing".into(), true),
        (nowhere.into(), false),
        (with_user(database, database.name(), Some("wrong")), false),
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
pub(crate) async fn read_only_pool(database: &TestDatabase) -> Pool<MySql> {
    dialect::pool_with(database.url(), 2, &["set session transaction read only"]).await
}
