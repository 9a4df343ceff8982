//! A file that may only be read.

use inbox_sqlx::{ConfigError, Error, Inbox};
use sqlx::Sqlite;

use crate::contract::bench::{Bench, CONSUMER};

/// A pool of our own switches the file to WAL, which is a write: the answer must be the same as that of a claim.
#[tokio::test]
async fn a_file_opened_read_only_says_so_wherever_it_is_found_out() {
    let bench = Bench::new().await;
    bench.credit("m1").await.unwrap();
    let url = bench.database.url().replace("mode=rwc", "mode=ro");
    let error = match Inbox::<Sqlite>::connect(&url).await {
        Ok(inbox) => inbox.begin(CONSUMER, "m2").await.map(drop).unwrap_err(),
        Err(error) => error,
    };
    assert!(
        matches!(error, Error::Config(ConfigError::ReadOnly(_))),
        "{error:?}"
    );
}

/// Before it has ever been written, that is, in the journal mode of a new file.
#[tokio::test]
async fn a_new_file_opened_read_only_says_so() {
    let database = crate::dialect::fresh_database().await;
    drop(crate::dialect::pool(database.url(), 1).await);
    let url = database.url().replace("mode=rwc", "mode=ro");
    let error = match Inbox::<Sqlite>::connect(&url).await {
        Ok(inbox) => inbox.install().await.unwrap_err(),
        Err(error) => error,
    };
    assert!(
        matches!(error, Error::Config(ConfigError::ReadOnly(_))),
        "{error:?}"
    );
}
