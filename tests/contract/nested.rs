//! Nested transactions in a body: savepoints of the driver, used well, dropped, leaked, and refused.
//!
//! The last is a trap of sqlx 0.9: a nested `begin` that fails rolls the *outer* transaction back without a word,
//! and what follows commits by itself.

use sqlx::Connection as _;

use super::{
    bench::{Bench, run},
    bodies::{
        Ending, LATE, Said,
        Said::{EndedKept, EndedNotFound, Own, Processed},
        Verdict, expect_redelivery, found, swallow, verdict,
    },
};
use crate::Conn;

#[tokio::test]
async fn a_nested_transaction_that_commits_is_part_of_the_message() {
    let body = async |connection: &mut Conn| {
        let mut nested = connection.begin().await.unwrap();
        run(&mut nested, LATE).await.unwrap();
        nested.commit().await.unwrap();
    };
    expect(body, verdict(Processed, 1, 1, 1), verdict(Own, 0, 0, 0)).await;
}

#[tokio::test]
async fn a_nested_transaction_that_rolls_back_takes_only_its_own_work() {
    let body = async |connection: &mut Conn| {
        let mut nested = connection.begin().await.unwrap();
        run(&mut nested, LATE).await.unwrap();
        nested.rollback().await.unwrap();
    };
    expect(body, verdict(Processed, 1, 1, 0), verdict(Own, 0, 0, 0)).await;
}

/// The way to go on after a violation, on every database.
#[tokio::test]
async fn a_failed_statement_in_a_nested_transaction_is_healed_by_its_rollback() {
    let body = async |connection: &mut Conn| {
        let mut nested = connection.begin().await.unwrap();
        run(&mut nested, LATE).await.unwrap();
        run(&mut nested, "insert into orders values (2, 'A-1', null)")
            .await
            .unwrap_err();
        nested.rollback().await.unwrap();
    };
    expect(body, verdict(Processed, 1, 1, 0), verdict(Own, 0, 0, 0)).await;
}

#[tokio::test]
async fn a_dropped_nested_transaction_takes_only_its_own_work() {
    let body = async |connection: &mut Conn| {
        let mut nested = connection.begin().await.unwrap();
        let mut inner = nested.begin().await.unwrap();
        run(&mut inner, LATE).await.unwrap();
        drop(inner);
        drop(nested);
    };
    expect(body, verdict(Processed, 1, 1, 0), verdict(Own, 0, 0, 0)).await;
}

/// Nothing was decided about it, so it ends with the transaction around it.
#[tokio::test]
async fn a_leaked_nested_transaction_ends_with_the_message() {
    let body = async |connection: &mut Conn| {
        let mut nested = connection.begin().await.unwrap();
        run(&mut nested, LATE).await.unwrap();
        std::mem::forget(nested);
    };
    expect(body, verdict(Processed, 1, 1, 1), verdict(Own, 0, 0, 0)).await;
}

#[tokio::test]
async fn a_refused_nested_begin_that_lost_the_transaction_is_noticed() {
    let body = async |connection: &mut Conn| {
        let refused = connection.begin_with("begin").await.map(drop);
        assert!(matches!(
            refused,
            Err(sqlx::Error::InvalidSavePointStatement)
        ));
        swallow(connection, LATE).await;
    };
    expect(body, verdict(EndedNotFound, 0, 0, 1), verdict(Own, 0, 0, 1)).await;
}

#[tokio::test]
async fn a_commit_as_text_inside_a_nested_transaction_is_noticed() {
    let body = async |connection: &mut Conn| {
        let mut nested = connection.begin().await.unwrap();
        swallow(&mut nested, "commit").await;
        swallow(&mut nested, LATE).await;
        nested.commit().await.unwrap_err();
    };
    expect(
        body,
        verdict(EndedKept, 1, 1, 1),
        verdict(Said::EndedDeleted, 0, 1, 1),
    )
    .await;
}

async fn expect(body: impl AsyncFn(&mut Conn), ok: Verdict, err: Verdict) {
    let bench = Bench::new().await;
    for (ending, wanted) in [(Ending::Ok, ok), (Ending::Err, err)] {
        bench.observe("delete from ledger").await;
        let key = format!("{ending:?}");
        let result = bench
            .deliver(&key, async |connection| {
                body(connection).await;
                ending.result()
            })
            .await;
        let found = found(&bench, &key, Said::of(&result)).await;
        assert_eq!(found, wanted, "the body returned {ending:?}");
        bench.expect_sane_pool().await;
        expect_redelivery(&bench, &key, found).await;
    }
}
