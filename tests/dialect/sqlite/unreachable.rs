//! SQLite files that are not there, or accept no writes.

use sqlx::{Pool, Sqlite};

use crate::{dialect, support::database::TestDatabase};

pub(crate) const EXAMPLE: &str = "sqlite://inbox.sqlite?mode=rwc";
pub(crate) const OTHER_DATABASE: &str = "postgres://user@host/database";
pub(crate) const UNREADABLE: &str = "sqlite://inbox.sqlite?mode=sideways";

/// URLs that are well-formed, and whether later they can work without anybody mending anything.
pub(crate) fn unreachable_urls(_database: &TestDatabase) -> Vec<(String, bool)> {
    vec![
        (
            "sqlite:///no/such/directory/inbox.sqlite?mode=rwc".into(),
            true,
        ),
        // It is not made unless one asks for that.
        (
            "sqlite:///tmp/no-such-file-of-the-inbox.sqlite".into(),
            true,
        ),
    ]
}

pub(crate) async fn read_only_pool(database: &TestDatabase) -> Pool<Sqlite> {
    dialect::pool(&database.url().replace("mode=rwc", "mode=ro"), 2).await
}
