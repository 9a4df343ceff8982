//! COMMIT fails: a reader is in its way, or the file may not grow.

use inbox_sqlx::{Error, Inbox, Outcome};

use crate::{
    contract::bench::{Bench, HandlerError, Kept, run},
    dialect,
};

/// Without WAL a commit waits for readers. sqlx 0.9 would hand the connection back with its transaction open.
#[tokio::test]
async fn a_reader_in_the_way_of_commit_is_a_failure_for_the_moment() {
    let database = dialect::fresh_database().await;
    let pool = dialect::impatient_pool(database.url(), 1).await;
    let bench = Bench::around(Inbox::new(pool), database).await;
    let mut reader = bench.observer.begin().await.unwrap();
    run(&mut reader, "select * from ledger").await.unwrap();

    let error = bench.credit("m1").await.unwrap_err();
    assert!(matches!(error.inbox(), Error::Database(_)), "{error:?}");
    assert!(error.inbox().is_transient(), "{error:?}");
    reader.rollback().await.unwrap();
    bench.expect("m1", Kept::Nothing).await;

    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
}

/// A full disk ends the statement, and sometimes the whole transaction, after which what follows commits by itself.
#[tokio::test]
async fn a_full_disk_keeps_all_or_nothing() {
    const FILL: &str = "insert into plain (note) select hex(randomblob(100000)) from \
                        (with recursive n (i) as (select 1 union all select i + 1 from n where i < 50) select i from n)";
    let bench = Bench::new().await;
    run_on_pool(&bench, "pragma max_page_count = 60").await;
    let told = bench.deliver("m1", async |connection| Ok(run(connection, FILL).await?));
    let error = told.await.unwrap_err();
    assert!(matches!(error, HandlerError::Database(_)), "{error:?}");
    bench.expect("m1", Kept::Nothing).await;

    // With a cache too small for the transaction, SQLite has no choice but to end it.
    for (key, cache) in [
        ("m2", "pragma cache_size = -2000"),
        ("m3", "pragma cache_size = 1"),
    ] {
        run_on_pool(&bench, cache).await;
        let swallowed = bench.deliver(key, async |connection| {
            run(connection, FILL).await.unwrap_err();
            Ok(())
        });
        let kept = match swallowed.await {
            Ok(_) => Kept::Once,
            Err(_) => Kept::Nothing,
        };
        bench.expect(key, kept).await;
        // A connection that was closed has taken its limit with it.
        run_on_pool(&bench, "pragma max_page_count = 60").await;
    }

    run_on_pool(&bench, "pragma max_page_count = 100000").await;
    for key in ["m1", "m2", "m3"] {
        bench.credit(key).await.unwrap();
        bench.expect(key, Kept::Once).await;
    }
}

/// On the inbox's one connection.
async fn run_on_pool(bench: &Bench, statement: &'static str) {
    let mut connection = bench.inbox.pool().acquire().await.unwrap();
    run(&mut connection, statement).await.unwrap();
}
