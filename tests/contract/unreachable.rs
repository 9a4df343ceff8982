//! A database that cannot be used: a typed error that says what mends it, no body run, nothing half done.

use std::error::Error as StdError;

use inbox_sqlx::{ConfigError, Disposition, Error, Inbox, Outcome};

use super::bench::{Bench, CONSUMER, HandlerError, Kept};
use crate::{Db, dialect, dialect::unreachable as cases};

#[tokio::test]
async fn an_unusable_url_is_shown_what_a_usable_one_looks_like() {
    for url in [
        "",
        "inbox",
        "://",
        "http://host/database",
        cases::OTHER_DATABASE,
        cases::UNREADABLE,
    ] {
        let error = Inbox::<Db>::connect(url).await.unwrap_err();
        assert!(
            matches!(error, Error::Config(ConfigError::Url { .. })),
            "{url:?}: {error:?}"
        );
        assert!(all_texts(&error).contains(cases::EXAMPLE), "{error:?}");
        assert!(!error.is_permanent(), "a message is not to blame for it");
    }
}

/// Found at start-up, not by the first message.
#[tokio::test]
async fn a_database_that_is_not_there_fails_the_connect() {
    let database = dialect::fresh_database().await;
    for (url, transient) in cases::unreachable_urls(&database) {
        let error = Inbox::<Db>::connect(&url).await.unwrap_err();
        assert!(matches!(error, Error::Database(_)), "{url}: {error:?}");
        assert_eq!(error.is_transient(), transient, "{url}: {error:?}");
        assert_eq!(Disposition::of(&error), Disposition::Retry { after: None });
    }
}

#[tokio::test]
async fn a_database_that_goes_down_is_a_transient_error() {
    let bench = Bench::impatient(2).await;
    bench.credit("m1").await.unwrap();
    let down = Inbox::<Db>::new(dialect::unreachable_pool());
    for error in [
        down.begin(CONSUMER, "m1").await.map(drop).unwrap_err(),
        down.install().await.unwrap_err(),
        down.verify().await.unwrap_err(),
        down.status(CONSUMER, "m1").await.map(drop).unwrap_err(),
    ] {
        assert!(matches!(error, Error::Database(_)), "{error:?}");
        assert!(error.is_transient(), "{error:?}");
    }
    // The outage is over: nothing was decided meanwhile.
    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Duplicate);
    bench.expect("m1", Kept::Once).await;
}

/// A replica, or a file without the right to write: to be mended at the URL, and nothing is wrong with the message.
#[tokio::test]
async fn a_read_only_database_says_so() {
    let bench = Bench::new().await;
    bench.credit("m1").await.unwrap();
    let pool = cases::read_only_pool(&bench.database).await;
    let replica = Inbox::<Db>::new(pool);

    let mut ran = false;
    let claimed = super::bench::deliver(&replica, CONSUMER, "m2", async |_| {
        ran = true;
        Ok(())
    })
    .await;
    let error = claimed.unwrap_err();
    assert!(
        matches!(error.inbox(), Error::Config(ConfigError::ReadOnly(_))),
        "{error:?}"
    );
    assert!(!ran);
    assert!(error.inbox().is_transient() && !error.inbox().is_permanent());
    assert!(all_texts(error.inbox()).contains("point the URL at the primary"));
    let error = HandlerError::from(replica.install().await.unwrap_err());
    assert!(
        matches!(error.inbox(), Error::Config(ConfigError::ReadOnly(_))),
        "{error:?}"
    );

    // Looking is allowed, and tells the truth.
    replica.verify().await.unwrap();
    assert!(replica.status(CONSUMER, "m1").await.unwrap().is_some());
    assert!(replica.status(CONSUMER, "m2").await.unwrap().is_none());
    bench.expect("m2", Kept::Nothing).await;
    assert_eq!(bench.credit("m2").await.unwrap(), Outcome::Processed(()));
    bench.expect("m2", Kept::Once).await;
}

fn all_texts(error: &(dyn StdError + 'static)) -> String {
    let source = error.source().map(all_texts).unwrap_or_default();
    format!("{error}\n{source}")
}
