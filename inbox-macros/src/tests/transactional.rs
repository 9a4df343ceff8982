//! What handlers expand to, one file under `snapshots` each.

use expect_test::expect_file;

use super::{expand, expand_tokens, reported};

#[test]
fn a_function() {
    let expansion = expand(
        r#"consumer = "credit", key = msg.message_id"#,
        "
        /// Adds the amount.
        #[must_use]
        pub(crate) async fn credit(tx: &mut PgConnection, msg: &CreditRequested) -> Result<Balance, CreditError> {
            let balance = add(&mut *tx, msg).await?;
            Ok(balance)
        }",
    );
    expect_file!["../../snapshots/function.rs"].assert_eq(&expansion);
}

#[test]
fn a_method_that_knows_its_inbox() {
    let expansion = expand(
        "consumer = NAME, key = (msg.source, trust(msg.correlation_id)), inbox = self.inbox",
        "async fn handle<'a, R: Repo>(self: Arc<Self>, _tx: &mut SqliteConnection, msg: &'a Msg, repo: R) \
         -> std::result::Result<Receipt<'a>, Rejected<'a>> where R: Sync { repo.receipt(msg).await }",
    );
    expect_file!["../../snapshots/method.rs"].assert_eq(&expansion);
}

#[test]
fn an_alias_of_result_and_another_crate() {
    let expansion = expand(
        r#"consumer = "credit", key = id, crate = crate::reexported::inbox"#,
        "async fn credit(_: &mut MySqlConnection, id: u64) -> anyhow::Result<()> { Ok(()) }",
    );
    expect_file!["../../snapshots/alias.rs"].assert_eq(&expansion);
}

#[test]
fn parameters_stay_as_they_are() {
    let expansion = expand(
        r#"consumer = "credit", key = (r#type, id)"#,
        "async fn r#move(
            #[allow(unused)] mut tx: &mut PgConnection,
            mut count: u64,
            Msg { id, amount }: Msg,
            (a, b): (i64, String),
            _: Ctx,
            #[cfg(feature = \"extra\")] extra: Extra,
            r#type: u8,
            tag: impl Into<String>,
        ) -> Result<(), E> {
            #![expect(clippy::too_many_arguments)]
            Ok(())
        }",
    );
    expect_file!["../../snapshots/parameters.rs"].assert_eq(&expansion);
}

#[test]
fn a_half_typed_body_expands() {
    let expansion = expand_tokens(
        r#"consumer = "credit", key = id"#,
        "async fn credit(tx: &mut PgConnection, id: u64) -> Result<(), E> { let x = id. }",
    );
    assert!(reported(expansion.clone()).is_empty());
    assert!(expansion.to_string().contains("let x = id ."));
}

#[test]
fn attributes_inside_a_body_go_on_the_function() {
    let expansion = expand(
        r#"consumer = "credit", key = id"#,
        "async fn credit(tx: &mut PgConnection, id: u64) -> Result<(), E> { #![deny(unused)] Ok(()) }",
    );
    assert!(expansion.starts_with("#[deny(unused)]\nasync fn credit"));
}
