//! SQLite: a file in a directory of its own.

use crate::support::database::TestDatabase;

/// A database that does not exist yet: the first connection creates the file.
///
/// Nothing is configured in advance: journal mode and busy time-out are the business of whoever opens it.
#[expect(
    clippy::unused_async,
    reason = "the same signature as on the databases that have a server"
)]
pub(crate) async fn fresh_database() -> TestDatabase {
    let directory = tempfile::Builder::new()
        .prefix("inbox-sqlite-")
        .tempdir()
        .expect("a temporary directory");
    let path = directory
        .path()
        .join("test.sqlite")
        .to_str()
        .expect("a temporary directory with a name in UTF-8")
        .to_owned();
    let url = format!("sqlite://{path}?mode=rwc");
    TestDatabase::new(path, url.clone(), url, move || drop(directory))
}
