//! In-memory databases: each connection may have one of its own, and it is gone with its last connection.

use std::{panic::AssertUnwindSafe, str::FromStr as _, time::Duration};

use inbox_sqlx::{ConfigError, Error, Inbox, Outcome};
use sqlx::{
    Pool, Sqlite, raw_sql,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions},
};

use crate::contract::bench::{CONSUMER, HandlerError, deliver};

const LEDGER: &str = "create table ledger (message text not null, amount integer not null); \
                      create table accounts (id integer primary key, balance integer not null)";

async fn pool(url: &str, options: SqlitePoolOptions) -> Pool<Sqlite> {
    let connect = SqliteConnectOptions::from_str(url).unwrap();
    options.connect_with(connect).await.unwrap()
}

async fn install(inbox: &Inbox<Sqlite>) {
    inbox.install().await.unwrap();
    inbox.verify().await.unwrap();
    raw_sql(LEDGER).execute(inbox.pool()).await.unwrap();
}

async fn credit(inbox: &Inbox<Sqlite>, key: &str) -> Outcome<()> {
    deliver(inbox, CONSUMER, key, async |_| Ok(()))
        .await
        .unwrap()
}

/// Migrations "disappear" there, and so do markers.
#[tokio::test]
async fn several_connections_to_memory_are_refused() {
    let five = pool(
        "sqlite::memory:",
        SqlitePoolOptions::new().max_connections(5),
    )
    .await;
    let refused = |error: &Error| {
        matches!(
            error,
            Error::Config(ConfigError::MemoryDatabaseWithSeveralConnections { connections: 5 })
        )
    };
    let error = Inbox::builder().build(five.clone()).map(drop).unwrap_err();
    assert!(refused(&error), "{error:?}");

    // Also where nothing was asked before.
    let inbox = Inbox::new(five);
    for error in [
        inbox.install().await.unwrap_err(),
        inbox.verify().await.unwrap_err(),
        inbox.begin(CONSUMER, "m1").await.map(drop).unwrap_err(),
        inbox.status(CONSUMER, "m1").await.map(drop).unwrap_err(),
    ] {
        assert!(refused(&error), "{error:?}");
        let source = std::error::Error::source(&error).unwrap();
        assert!(
            source.to_string().contains("max_connections(1)"),
            "{source}"
        );
    }
}

/// Each of its connections, also the next one of a pool of one, has a database of its own.
#[tokio::test]
async fn a_private_memory_database_is_refused() {
    let parsed = |url: &str| SqliteConnectOptions::from_str(url).unwrap();
    for options in [
        SqliteConnectOptions::new(),
        SqliteConnectOptions::new().in_memory(true),
        SqliteConnectOptions::new()
            .filename("file:name")
            .in_memory(true),
        SqliteConnectOptions::new()
            .filename(":memory:")
            .shared_cache(true),
        parsed("sqlite:"),
        parsed("sqlite://"),
        parsed("sqlite://name?mode=memory&cache=private"),
        parsed("sqlite::memory:?cache=private"),
    ] {
        let one = SqlitePoolOptions::new()
            .max_connections(1)
            .connect_lazy_with(options.clone());
        let error = Inbox::builder().build(one).map(drop).unwrap_err();
        assert!(
            matches!(error, Error::Config(ConfigError::PrivateMemoryDatabase)),
            "{options:?}: {error:?}"
        );
    }
}

#[tokio::test]
async fn a_named_memory_database_is_like_the_unnamed_one() {
    let url = "sqlite://named-by-a-test?mode=memory";
    let five = pool(url, SqlitePoolOptions::new().max_connections(5)).await;
    let error = Inbox::builder().build(five).map(drop).unwrap_err();
    assert!(
        matches!(
            error,
            Error::Config(ConfigError::MemoryDatabaseWithSeveralConnections { .. })
        ),
        "{error:?}"
    );
    let inbox = Inbox::connect(url).await.unwrap();
    install(&inbox).await;
    assert_eq!(credit(&inbox, "m1").await, Outcome::Processed(()));
    assert_eq!(credit(&inbox, "m1").await, Outcome::Duplicate);
}

/// A file is a file, whatever it is called.
#[tokio::test]
async fn a_file_with_a_strange_name_is_no_memory_database() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["a:b", "mode=memory", "file:sqlx-in-memory-7", "sqlx memory"] {
        let options = SqliteConnectOptions::new()
            .filename(directory.path().join(name))
            .create_if_missing(true);
        let two = SqlitePoolOptions::new()
            .max_connections(2)
            .connect_with(options)
            .await
            .unwrap();
        let inbox = Inbox::builder().build(two).unwrap();
        install(&inbox).await;
        assert_eq!(credit(&inbox, "m1").await, Outcome::Processed(()));
        assert_eq!(credit(&inbox, "m1").await, Outcome::Duplicate);
    }
}

/// An unclean end closes the pool's only connection, and must not take the database with it.
#[tokio::test]
async fn a_memory_database_survives_a_panic_and_a_dropped_body() {
    let inbox = Inbox::connect("sqlite::memory:").await.unwrap();
    install(&inbox).await;
    assert_eq!(credit(&inbox, "m1").await, Outcome::Processed(()));

    let panicking = deliver(&inbox, CONSUMER, "m2", async |_| panic!("in the body"));
    assert!(panics(panicking).await);
    let slow = deliver(&inbox, CONSUMER, "m2", async |_| {
        tokio::time::sleep(Duration::from_mins(1)).await;
        Ok(())
    });
    tokio::time::timeout(Duration::from_millis(50), slow)
        .await
        .unwrap_err();

    inbox.verify().await.unwrap();
    assert_eq!(credit(&inbox, "m1").await, Outcome::Duplicate);
    assert_eq!(credit(&inbox, "m2").await, Outcome::Processed(()));
}

/// Polls a future that may panic; says whether it did.
async fn panics(future: impl Future<Output = Result<Outcome<()>, HandlerError>>) -> bool {
    let mut future = Box::pin(future);
    std::future::poll_fn(move |context| {
        let polled = std::panic::catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        match polled {
            Ok(poll) => poll.map(|_| false),
            Err(_) => std::task::Poll::Ready(true),
        }
    })
    .await
}

/// The pool closes connections for being idle or old.
#[tokio::test]
async fn a_memory_database_survives_the_idle_timeout_of_its_pool() {
    let options = SqlitePoolOptions::new()
        .max_connections(1)
        .min_connections(0)
        .idle_timeout(Duration::from_millis(50))
        .max_lifetime(Duration::from_millis(80));
    let inbox = Inbox::builder()
        .build(pool("sqlite::memory:", options).await)
        .unwrap();
    install(&inbox).await;
    assert_eq!(credit(&inbox, "m1").await, Outcome::Processed(()));
    for _ in 0..2 {
        tokio::time::sleep(Duration::from_millis(150)).await;
        assert_eq!(credit(&inbox, "m1").await, Outcome::Duplicate);
    }
}

#[tokio::test]
async fn two_memory_databases_are_two() {
    for _ in 0..2 {
        let inbox = Inbox::connect("sqlite::memory:").await.unwrap();
        install(&inbox).await;
        assert_eq!(credit(&inbox, "m1").await, Outcome::Processed(()));
    }
}
