//! Behind a pooler that hands one session to many clients, a statement prepared by name reaches the wrong one.

use inbox_sqlx::{Begin, Inbox, Outcome};
use sqlx::Row as _;

use crate::{
    Conn,
    contract::{
        bench::{Bench, CONSUMER, HandlerError, Kept},
        delivery::Answer,
    },
};

/// How many statements this session has prepared by name.
async fn named(connection: &mut Conn) -> i64 {
    sqlx::raw_sql("select count(*) from pg_prepared_statements")
        .fetch_one(connection)
        .await
        .unwrap()
        .get(0)
}

/// The work as text, so that the body leaves nothing prepared either.
async fn credit(
    inbox: &Inbox<sqlx::Postgres>,
    end: Result<(), HandlerError>,
    seen: &mut i64,
) -> Answer {
    match inbox.begin(CONSUMER, "m1").await? {
        Begin::Duplicate => Ok(Outcome::Duplicate),
        Begin::Fresh(mut claimed) => {
            *seen = named(claimed.connection()).await;
            sqlx::raw_sql("insert into ledger (message, amount) values ('m1', 10)")
                .execute(claimed.connection())
                .await?;
            claimed.settle(end).await
        }
    }
}

#[tokio::test]
async fn in_pooler_mode_nothing_is_prepared_by_name() {
    let bench = Bench::built(Inbox::builder().transaction_pooler()).await;
    let mut seen = -1;
    let failed = credit(&bench.inbox, Err(HandlerError::Business), &mut seen).await;
    assert!(matches!(failed, Err(HandlerError::Business)), "{failed:?}");
    assert_eq!(seen, 0, "in a body that fails");
    let processed = credit(&bench.inbox, Ok(()), &mut seen).await.unwrap();
    assert_eq!((processed, seen), (Outcome::Processed(()), 0));
    let duplicate = credit(&bench.inbox, Ok(()), &mut seen).await.unwrap();
    assert_eq!(duplicate, Outcome::Duplicate);
    bench.inbox.status(CONSUMER, "m1").await.unwrap().unwrap();
    bench.inbox.install().await.unwrap();
    bench.inbox.verify().await.unwrap();

    let mut connection = bench.inbox.pool().acquire().await.unwrap();
    assert_eq!(named(&mut connection).await, 0, "after everything");
    drop(connection);
    bench.expect("m1", Kept::Once).await;
}

/// The ordinary mode does prepare by name: the test above looks in the right place.
#[tokio::test]
async fn in_ordinary_mode_statements_stay_prepared() {
    let bench = Bench::new().await;
    let mut seen = -1;
    credit(&bench.inbox, Ok(()), &mut seen).await.unwrap();
    assert_eq!(seen, 1, "the claim");
}
