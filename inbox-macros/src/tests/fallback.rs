//! What is left of a function when something is wrong.

use expect_test::expect_file;

use super::expand;

#[test]
fn a_wrong_argument_costs_callers_nothing() {
    let expansion = expand(
        r#"costumer = "credit", key = (msg.id, msg.timestamp)"#,
        "async fn credit(tx: &mut PgConnection, msg: &Msg) -> Result<Balance, CreditError> { body(tx).await }",
    );
    expect_file!["../../snapshots/fallback_argument.rs"].assert_eq(&expansion);
}

#[test]
fn a_wrong_first_parameter_is_replaced_where_the_database_can_be_told() {
    let expansion = expand(
        r#"consumer = "credit", key = tx"#,
        "unsafe fn credit(&self, tx: &mut Transaction<'_, Sqlite>, msg: &Msg) -> Result<Balance, CreditError> { body(tx) }",
    );
    expect_file!["../../snapshots/fallback_transaction.rs"].assert_eq(&expansion);
    let expansion = expand(
        r#"consumer = "credit", key = msg.id"#,
        "async fn credit(pool: &PgPool, msg: &Msg) -> anyhow::Result<()> { body(pool).await }",
    );
    expect_file!["../../snapshots/fallback_pool.rs"].assert_eq(&expansion);
}

#[test]
fn what_is_no_result_is_not_touched() {
    let expansion = expand(
        r#"consumer = "credit", key = msg.id"#,
        "async fn credit(tx: &mut PgConnection, msg: &Msg) -> u64 { body(tx).await }",
    );
    expect_file!["../../snapshots/fallback_no_result.rs"].assert_eq(&expansion);
}

#[test]
fn the_second_attribute_does_not_run() {
    let expansion = expand(
        r#"consumer = "credit", key = msg.id"#,
        r#"#[inbox_sqlx::idempotent(consumer = "debit", key = msg.id)]
        #[inline]
        async fn credit(tx: &mut PgConnection, msg: &Msg) -> Result<(), E> { body(tx).await }"#,
    );
    assert!(!expansion.contains("idempotent("));
    assert!(expansion.contains("#[inline]"));
}

#[test]
fn other_items_stay() {
    let expansion = expand(
        r#"consumer = "credit", key = id"#,
        "pub struct Credit { id: u64 }",
    );
    assert!(expansion.ends_with("pub struct Credit {\n    id: u64,\n}\n"));
}
