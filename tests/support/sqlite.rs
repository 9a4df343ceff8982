//! SQLite: a file in a directory of its own.

use std::future::ready;

use crate::support::database::TestDatabase;

/// A database that does not exist yet: the first connection creates the file.
///
/// Nothing is configured in advance: journal mode and busy time-out are the business of whoever opens it.
/// (A future for the sake of the databases that have a server: one text serves all.)
pub(crate) fn fresh_database() -> impl Future<Output = TestDatabase> {
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
    let remove = move || drop(directory);
    ready(TestDatabase::new(path, url.clone(), url, remove))
}
