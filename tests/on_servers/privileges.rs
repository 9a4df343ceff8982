//! Roles that may do less than they should: what they are told, and that no message is lost by it.

use std::error::Error as _;

use inbox_sqlx::{EarlyMarker, Error, Inbox, Outcome, SchemaProblem};
use sqlx::{AssertSqlSafe, raw_sql};

use crate::{
    Db,
    contract::{
        bench::{Bench, CONSUMER, HandlerError, deliver},
        bodies::swallow,
    },
    dialect,
    dialect::servers::{
        DROP_ROLE, INSERTS_ONLY, INSERTS_ONLY_CAN_CLAIM, NOTHING, READS_AND_INSERTS,
    },
};

/// A role of this case's own, and an inbox that works as that role.
async fn restricted(bench: &Bench, statements: &[&str]) -> Inbox<Db> {
    as_admin(bench, statements).await;
    let url = dialect::unreachable::with_user(&bench.database, &role(bench), None);
    Inbox::<Db>::new(dialect::pool(&url, 2).await)
}

fn role(bench: &Bench) -> String {
    format!("{}_app", bench.database.name())
}

async fn as_admin(bench: &Bench, statements: &[&str]) {
    for statement in statements {
        bench
            .observe(&statement.replace("{role}", &role(bench)))
            .await;
    }
}

/// The one case in which a redelivery would be swallowed, so the error says what to run.
#[tokio::test]
async fn a_marker_committed_early_that_may_not_be_deleted_is_reported_with_the_statement_to_run() {
    let bench = Bench::new().await;
    let inbox = restricted(&bench, READS_AND_INSERTS).await;
    let error = deliver(&inbox, CONSUMER, "m1", async |connection| {
        swallow(connection, "commit").await;
        Err(HandlerError::Business)
    })
    .await
    .unwrap_err();
    let Error::TransactionEnded {
        marker: EarlyMarker::Stuck { statement, .. },
        message,
        ..
    } = error.inbox()
    else {
        panic!("{error:?}");
    };
    assert_eq!(message.key().as_str(), "m1");
    let text = error.inbox().to_string();
    assert!(text.contains(statement.as_str()), "{text}");
    let source = error.inbox().source().unwrap();
    assert_eq!(source.to_string(), "the business said no");

    // Exactly what is said there: the redelivery would be swallowed, until somebody runs the statement.
    assert_eq!(bench.markers(CONSUMER, "m1").await, 1);
    raw_sql(AssertSqlSafe(statement.clone()))
        .execute(&bench.observer)
        .await
        .unwrap();
    assert_eq!(bench.markers(CONSUMER, "m1").await, 0);
    let again = deliver(&inbox, CONSUMER, "m1", async |_| Ok(())).await;
    assert_eq!(again.unwrap(), Outcome::Processed(()));
    assert_eq!(bench.markers(CONSUMER, "m1").await, 1);

    inbox.pool().close().await;
    as_admin(&bench, DROP_ROLE).await;
}

/// Nobody needs `delete` as long as no body ends its transaction.
#[tokio::test]
async fn select_and_insert_are_enough_for_an_ordinary_day() {
    let bench = Bench::new().await;
    let inbox = restricted(&bench, READS_AND_INSERTS).await;
    inbox.verify().await.unwrap();
    for outcome in [Outcome::Processed(()), Outcome::Duplicate] {
        let delivered = deliver(&inbox, CONSUMER, "m1", async |_| Ok(())).await;
        assert_eq!(delivered.unwrap(), outcome);
    }
    let failed = deliver(&inbox, CONSUMER, "m2", async |_| {
        Err(HandlerError::Business)
    })
    .await;
    assert!(matches!(failed, Err(HandlerError::Business)));
    assert_eq!(bench.markers(CONSUMER, "m2").await, 0);
    inbox.pool().close().await;
    as_admin(&bench, DROP_ROLE).await;
}

/// A typed error that names the privileges; the duplicate is never guessed.
#[tokio::test]
async fn a_missing_privilege_is_named_and_no_body_runs() {
    for (grants, can_claim) in [(INSERTS_ONLY, INSERTS_ONLY_CAN_CLAIM), (NOTHING, false)] {
        let bench = Bench::new().await;
        bench.credit("m1").await.unwrap();
        let inbox = restricted(&bench, grants).await;
        for (key, works) in [("m1", false), ("m2", can_claim)] {
            let mut ran = false;
            let result = deliver(&inbox, CONSUMER, key, async |_| {
                ran = true;
                Ok(())
            })
            .await;
            assert_eq!(ran, works, "{key}");
            match result {
                Ok(outcome) => assert_eq!((outcome, works), (Outcome::Processed(()), true)),
                Err(error) => expect_forbidden(error.inbox()),
            }
        }
        expect_forbidden(&inbox.install().await.unwrap_err());
        assert_eq!(bench.effects("m1").await, 1);
        assert_eq!(bench.effects("m2").await, i64::from(can_claim));
        inbox.pool().close().await;
        as_admin(&bench, DROP_ROLE).await;
    }
}

fn expect_forbidden(error: &Error) {
    let Error::Schema(schema) = error else {
        panic!("{error:?}");
    };
    assert_eq!(schema.problems(), [SchemaProblem::Forbidden]);
    assert!(schema.to_string().contains("grant select"), "{schema}");
}
