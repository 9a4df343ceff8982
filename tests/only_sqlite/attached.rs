//! An inbox in an attached file, and other things that are a matter of each connection.

use inbox_sqlx::{Error, Inbox, Outcome, SchemaProblem};
use sqlx::{AssertSqlSafe, Sqlite, raw_sql, sqlite::SqlitePoolOptions};

use crate::{
    contract::bench::{Bench, CONSUMER, HandlerError, deliver},
    dialect,
};

#[tokio::test]
async fn an_inbox_in_an_attached_file_works() {
    let other = dialect::fresh_database().await;
    let bench = Bench::new().await;
    let attach = format!("attach database '{}' as app", other.name());
    let pool = SqlitePoolOptions::new()
        .max_connections(2)
        .after_connect(move |connection, _| {
            let attach = attach.clone();
            Box::pin(async move {
                raw_sql(AssertSqlSafe(attach)).execute(connection).await?;
                Ok(())
            })
        })
        .connect(bench.database.url())
        .await
        .unwrap();
    let inbox = Inbox::<Sqlite>::builder()
        .table("app.inbox")
        .build(pool)
        .unwrap();
    let missing = inbox.verify().await.unwrap_err();
    assert!(
        matches!(&missing, Error::Schema(error) if error.problems() == [SchemaProblem::TableMissing]),
        "{missing:?}"
    );
    inbox.install().await.unwrap();
    inbox.install().await.unwrap();
    inbox.verify().await.unwrap();

    let failed = deliver(&inbox, CONSUMER, "m1", async |_| {
        Err(HandlerError::Business)
    })
    .await;
    assert!(matches!(failed, Err(HandlerError::Business)));
    assert_eq!(bench.effects("m1").await, 0);
    for outcome in [Outcome::Processed(()), Outcome::Duplicate] {
        let delivered = deliver(&inbox, CONSUMER, "m1", async |_| Ok(())).await;
        assert_eq!(delivered.unwrap(), outcome);
    }
    assert_eq!(bench.effects("m1").await, 1);
    // It is in that file, and the one in the main file has nothing to do with it.
    assert_eq!(bench.markers(CONSUMER, "m1").await, 0);
    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
}

#[tokio::test]
async fn a_trigger_of_the_attached_file_is_found() {
    let bench = Bench::new().await;
    let qualified = Inbox::<Sqlite>::builder()
        .table("main.inbox")
        .build(bench.inbox.pool().clone())
        .unwrap();
    qualified.verify().await.unwrap();
    bench
        .observe("create trigger audit after insert on inbox begin select 1; end")
        .await;
    for inbox in [&qualified, &bench.inbox] {
        let error = inbox.verify().await.unwrap_err();
        let Error::Schema(error) = error else {
            panic!("{error:?}");
        };
        let trigger = SchemaProblem::Trigger {
            name: "audit".into(),
        };
        assert_eq!(error.problems(), [trigger]);
    }
}

/// The default collation, however it is written.
#[tokio::test]
async fn an_index_that_names_the_default_collation_is_fine() {
    let bench = Bench::new().await;
    bench
        .observe(
            "drop index ix_inbox_message_id_consumer; create unique index ix_inbox_message_id_consumer \
             on inbox (message_id collate binary, consumer collate BINARY)",
        )
        .await;
    bench.inbox.verify().await.unwrap();
    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Duplicate);
}
