//! Servers that speak another language: numbers and structured fields decide, and the same comes out.

use inbox_sqlx::{Inbox, Outcome};

use crate::{
    contract::{
        bench::{Bench, Kept},
        violations::{Names, expect_misleading_values_to_fail, expect_own_errors, set_up},
    },
    dialect,
    dialect::{
        servers::LANGUAGES,
        violations::{LOOKALIKE_TABLES, LOOKALIKES, VIOLATIONS},
    },
};

async fn benches() -> Vec<(Bench, Names)> {
    let mut benches = Vec::new();
    for (language, names) in LANGUAGES {
        let database = dialect::fresh_database().await;
        let pool = dialect::servers::foreign_pool(&database, language).await;
        benches.push((Bench::around(Inbox::new(pool), database).await, *names));
    }
    benches
}

#[tokio::test]
async fn a_duplicate_is_a_duplicate_in_every_language() {
    for (bench, _) in benches().await {
        for key in ["m1", "x' for key 'PRIMARY", "doppelt"] {
            assert_eq!(bench.credit(key).await.unwrap(), Outcome::Processed(()));
            assert_eq!(bench.credit(key).await.unwrap(), Outcome::Duplicate);
            bench.expect(key, Kept::Once).await;
        }
    }
}

#[tokio::test]
async fn a_violated_business_constraint_is_the_bodys_own_error_in_every_language() {
    for (bench, names) in benches().await {
        expect_own_errors(&bench, VIOLATIONS, names).await;
    }
}

#[tokio::test]
async fn a_lookalike_is_the_bodys_own_error_in_every_language() {
    for (bench, names) in benches().await {
        set_up(&bench, LOOKALIKE_TABLES).await;
        expect_own_errors(&bench, LOOKALIKES, names).await;
        expect_misleading_values_to_fail(&bench, names).await;
    }
}

/// Where the text does not tell the index, the marker does: there is none, so this is no duplicate.
#[tokio::test]
async fn a_claim_refused_by_another_index_is_no_duplicate_in_any_language() {
    for (bench, _) in benches().await {
        set_up(
            &bench,
            &["create unique index one_message_per_consumer on inbox (consumer)"],
        )
        .await;
        bench.credit("m1").await.unwrap();
        let error = bench.credit("m2").await.unwrap_err();
        assert!(
            matches!(error.inbox(), inbox_sqlx::Error::Database(_)),
            "{error:?}"
        );
        bench.expect("m2", Kept::Nothing).await;
        assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Duplicate);
    }
}

#[tokio::test]
async fn broken_transactions_are_recognised_in_every_language() {
    use crate::{contract::bodies::Said, dialect::bodies::BODIES};
    for (bench, _) in benches().await {
        for body in BODIES.iter().filter(|body| body.name.contains("commit")) {
            let result = bench
                .deliver(body.name, async |connection| {
                    for statement in body.statements {
                        crate::contract::bodies::swallow(connection, statement).await;
                    }
                    Ok(())
                })
                .await;
            assert_eq!(Said::of(&result), body.ok.said, "{}", body.name);
        }
        bench.expect_sane_pool().await;
    }
}
