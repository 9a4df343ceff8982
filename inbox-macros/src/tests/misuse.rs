//! The words for every mistake in the arguments and the signature.

use expect_test::expect;

use super::mistakes;

const HANDLER: &str = "async fn credit(tx: &mut PgConnection, msg: &Msg) -> Result<(), E> { body }";
const ARGUMENTS: &str = r#"consumer = "credit", key = msg.id"#;

#[test]
fn arguments_that_are_missing() {
    expect![[r#"
        missing argument `consumer`
        = help: `consumer = "credit"`: it is half of what makes a delivery a duplicate, and outlives a renamed function
        missing argument `key`
        = help: `key = msg.message_id`: what is the same in every redelivery and in no other message"#]].assert_eq(&mistakes("", HANDLER));
    expect![[r#"
        `consumer` needs a value
        = help: `consumer = "credit"`
        `key` needs a value
        = help: `key = msg.message_id`"#]]
    .assert_eq(&mistakes("consumer, key =", HANDLER));
}

#[test]
fn arguments_that_are_unknown() {
    expect![[r#"
        unknown argument `replay`
        = help: expected one of `consumer`, `key`, `two_phase`, `inbox`, `crate`
        unknown argument `retry`
        = help: expected one of `consumer`, `key`, `two_phase`, `inbox`, `crate`
        unknown argument `on`
        = help: expected one of `consumer`, `key`, `two_phase`, `inbox`, `crate`
        this is not an argument
        = help: expected one of `consumer`, `key`, `two_phase`, `inbox`, `crate`"#]].assert_eq(&mistakes(
        r#"consumer = "credit", key = msg.id, replay, retry(attempts = 3), on = Map::<A, B>::new(), "x""#,
        HANDLER,
    ));
}

#[test]
fn arguments_that_are_misspelt_are_not_missing() {
    expect![[r#"
        unknown argument `costumer`
        = help: did you mean `consumer = "credit"`?
        unknown argument `kye`
        = help: did you mean `key = msg.message_id`?"#]]
    .assert_eq(&mistakes(r#"costumer = "credit", kye = msg.id"#, HANDLER));
}

#[test]
fn arguments_that_are_there_twice() {
    expect![[r#"
        `key` is given twice
        = help: keep the one you mean
        `consumer` is given twice
        = help: keep the one you mean"#]]
    .assert_eq(&mistakes(
        r#"key = msg.id, consumer = "credit", key = f::<A, B>(msg), consumer"#,
        HANDLER,
    ));
}

#[test]
fn arguments_that_have_no_name() {
    expect![[r#"
        this is not an argument
        = help: `consumer = "credit"`"#]]
    .assert_eq(&mistakes(r#""credit", key = msg.id"#, HANDLER));
}

#[test]
fn arguments_that_cannot_be_read() {
    expect![[r#"
        `consumer` needs a value
        = help: `consumer = "credit"`
        the value of `key` cannot be read: expected identifier or integer
        = help: `key = msg.message_id`
        `inbox` needs a value
        = help: `inbox = self.inbox`"#]]
    .assert_eq(&mistakes(
        r#"consumer "credit", key = msg., inbox(x)"#,
        HANDLER,
    ));
    expect![[r#"
        expected `,` before this
        = help: arguments are separated by commas
        the path is written without quotes
        = help: `crate = inbox`"#]]
    .assert_eq(&mistakes(
        r#"consumer = "credit" key = msg.id, crate = "inbox""#,
        HANDLER,
    ));
}

#[test]
fn consumers() {
    let long = format!("consumer = {:?}, key = msg.id", "é".repeat(101));
    expect![[r#"
        the consumer has 202 bytes, the inbox keeps 200
        = help: a short name is enough: `consumer = "credit"`"#]]
    .assert_eq(&mistakes(&long, HANDLER));
    expect![[r#"
        the consumer has no name
        = help: `consumer = "credit"`"#]]
    .assert_eq(&mistakes(r#"consumer = " ", key = msg.id"#, HANDLER));
    expect![[r#"
        the consumer contains control characters
        = help: use letters, digits and punctuation: `consumer = "credit"`"#]]
    .assert_eq(&mistakes(r#"consumer = "a\u{7}", key = msg.id"#, HANDLER));
    expect![[r#"
        the consumer is a string
        = help: `consumer = "credit"`"#]]
    .assert_eq(&mistakes(r#"consumer = 7, key = msg.id"#, HANDLER));
    expect![[r#"
        the consumer is known before there is a message: a `&'static str`
        = help: `consumer = "credit"`, and what differs from message to message belongs in the key"#]].assert_eq(&mistakes(
        r#"consumer = format!("credit-{}", msg.account), key = msg.id"#,
        HANDLER,
    ));
}

#[test]
fn functions_that_are_not_plain_and_async() {
    expect![[r#"
        a handler is `async`
        = help: `async fn credit`
        a handler cannot be `const`
        = help: `async fn credit`
        a handler cannot be `unsafe`
        = help: `async fn credit`
        a handler cannot be `extern`
        = help: `async fn credit`
        a handler cannot be variadic
        = help: pass a slice"#]].assert_eq(&mistakes(
        ARGUMENTS,
        r#"const unsafe extern "C" fn credit(tx: &mut PgConnection, msg: &Msg, ...) -> Result<(), E> { body }"#,
    ));
}

#[test]
fn what_is_no_function() {
    expect![[r#"
        `#[idempotent]` belongs on an `async fn`
        = help: put it on each function or method that handles a message"#]]
    .assert_eq(&mistakes(ARGUMENTS, "impl Credit { fn credit() {} }"));
    expect![[r#"
        `#[idempotent]` belongs on an `async fn`
        = help: put it on each function or method that handles a message"#]]
    .assert_eq(&mistakes(ARGUMENTS, "pub const CREDIT: fn() = credit;"));
}

#[test]
fn declarations() {
    let declaration =
        "async fn credit(&self, tx: &mut SqliteConnection, msg: &Msg) -> Result<(), E>;";
    expect![[r#"
        there is no body to guard
        = help: declare in the trait what callers see, `inbox: &Inbox<Sqlite>` and `Result<Outcome<T>, E>`, and put `#[idempotent]` on the method in the `impl` block"#]].assert_eq(&mistakes(ARGUMENTS, declaration));
}

#[test]
fn methods_that_async_trait_has_boxed() {
    let boxed = "fn credit<'life0, 'life1, 'async_trait>(&'life0 self, tx: &'life1 mut MySqlConnection) \
                 -> ::core::pin::Pin<Box<dyn ::core::future::Future<Output = Result<(), E>> + 'async_trait>> \
                 { Box::pin(async move { body }) }";
    expect![[r#"
        `#[async_trait]` has already boxed this method, there is no body left to guard
        = help: declare in the trait what callers see, `inbox: &Inbox<MySql>` and `Result<Outcome<T>, E>`, and delegate to a method with `#[idempotent]` in an `impl` block without `#[async_trait]`"#]].assert_eq(&mistakes(r#"consumer = "credit", key = self.id"#, boxed));
}

#[test]
fn functions_that_something_else_has_boxed() {
    let boxed = "fn credit<'a>(tx: &'a mut PgConnection, msg: &'a Msg) \
                 -> Pin<Box<dyn Future<Output = Result<(), E>> + Send + 'a>> { Box::pin(async move { body }) }";
    expect![[r#"
        the future is already boxed, there is no body left to guard
        = help: write an `async fn`, and `#[idempotent]` above an attribute that boxes it"#]]
    .assert_eq(&mistakes(ARGUMENTS, boxed));
}

#[test]
fn attributes_that_are_there_twice() {
    let twice = "#[idempotent(consumer = \"debit\", key = msg.id)] \
                 async fn credit(tx: &mut PgConnection, msg: &Msg) -> Result<(), E> { body }";
    expect![[r#"
        `#[idempotent]` is written twice
        = help: a function handles messages for one consumer: write another function for another consumer"#]].assert_eq(&mistakes(ARGUMENTS, twice));
    let expanded = "async fn credit(tx: &::inbox_sqlx::InboxOf<PgConnection>, msg: &Msg) \
                    -> Result<::inbox_sqlx::Outcome<()>, E> { body }";
    expect![[r#"
        `#[idempotent]` is written twice
        = help: a function handles messages for one consumer: write another function for another consumer"#]].assert_eq(&mistakes(ARGUMENTS, expanded));
}

/// Everything in order but the first parameter.
fn first(first: &str) -> String {
    let item = format!("async fn credit(&self, {first}, msg: &Msg) -> Result<(), E> {{ body }}");
    mistakes(ARGUMENTS, &item)
}

#[test]
fn first_parameters_that_are_something_else() {
    expect![[r#"
        a handler does not own the transaction: the inbox commits it, together with the marker of the message
        = help: `tx: &mut SqliteConnection`, on which `begin()` still opens a nested one"#]].assert_eq(&first("tx: &mut Transaction<'_, Sqlite>"));
    expect![[r#"
        a handler does not own the transaction: the inbox commits it, together with the marker of the message
        = help: `tx: &mut MySqlConnection`, on which `begin()` still opens a nested one"#]].assert_eq(&first("tx: Transaction<'static, MySql>"));
    expect![[r#"
        the inbox hands out the connection of its transaction, not one of the pool
        = help: `tx: &mut PgConnection`"#]]
    .assert_eq(&first("tx: &mut sqlx::pool::PoolConnection<Postgres>"));
    expect![[r#"
        a claim is what a handler in two-phase mode gets
        = help: add `two_phase` to the attribute; or, to work in one transaction, `tx: &mut PgConnection`"#]]
    .assert_eq(&first("claim: &Claim<Postgres>"));
    expect![[r#"
        the inbox is what callers pass; the handler gets the connection in its place
        = help: `tx: &mut PgConnection`"#]]
    .assert_eq(&first("inbox: &Inbox<Postgres>"));
    expect![[r#"
        the connection is handed out as `&mut`
        = help: `tx: &mut SqliteConnection`"#]]
    .assert_eq(&first("tx: &SqliteConnection"));
    expect![[r#"
        the connection is handed out as `&mut`
        = help: `tx: &mut PgConnection`"#]]
    .assert_eq(&first("tx: PgConnection"));
    expect![[r#"
        the first parameter must be the connection that the handler works on
        = help: put `tx: &mut PgConnection` (or `MySqlConnection`, `SqliteConnection`) before it; callers pass the inbox in its place"#]]
    .assert_eq(&first("other: &Other"));
    expect![[r#"
        the first parameter must be the connection that the handler works on
        = help: `tx: &mut PgConnection` (or `MySqlConnection`, `SqliteConnection`); callers pass the inbox in its place"#]]
    .assert_eq(&first("tx: impl Executor<'_>"));
    expect![[r#"
        the connection must be the first parameter
        = help: move it to the front; callers pass the inbox in its place"#]]
    .assert_eq(&first("count: u64, tx: &mut MySqlConnection"));
}

#[test]
fn pools() {
    for pool in [
        "PgPool",
        "&PgPool",
        "Arc<PgPool>",
        "&mut sqlx::PgPool",
        "Pool<Postgres>",
        "Option<&AnyPool>",
    ] {
        assert_eq!(
            first(&format!("pool: {pool}")),
            first("pool: PgPool"),
            "{pool}"
        );
    }
    for pool in ["SqlitePool", "&Pool<Sqlite>", "Arc<sqlx::SqlitePool>"] {
        assert_eq!(
            first(&format!("pool: {pool}")),
            first("pool: SqlitePool"),
            "{pool}"
        );
    }
    expect![[r#"
        what runs on a pool commits on its own, even if the message is rolled back
        = help: `tx: &mut PgConnection`, and run the statements on `&mut *tx`"#]]
    .assert_eq(&first("pool: PgPool"));
    expect![[r#"
        what runs on a pool commits on its own, even if the message is rolled back
        = help: `tx: &mut SqliteConnection`, and run the statements on `&mut *tx`"#]]
    .assert_eq(&first("pool: SqlitePool"));
    expect![[r#"
        what runs on a pool commits on its own, even if the message is rolled back
        = help: remove it and run the statements on the connection, the first parameter
        what runs on a pool commits on its own, even if the message is rolled back
        = help: remove it and run the statements on the connection, the first parameter"#]]
    .assert_eq(&first(
        "tx: &mut PgConnection, pool: State<MySqlPool>, other: &Pool<MySql>",
    ));
}

#[test]
fn connections_under_conditions() {
    expect![[r#"
        the connection lives as long as the body, not for `'a`
        = help: `&mut PgConnection`"#]]
    .assert_eq(&first("tx: &'a mut PgConnection"));
    expect![[r#"
        the connection needs a plain name
        = help: `tx: &mut PgConnection`"#]]
    .assert_eq(&first("Tx(tx): &mut PgConnection"));
    expect![[r#"
        the first parameter cannot be conditional
        = help: write two functions, each with its `#[cfg(..)]`"#]]
    .assert_eq(&first("#[cfg(feature = \"x\")] tx: &mut PgConnection"));
}

#[test]
fn no_parameters_at_all() {
    let item = "async fn credit() -> Result<(), E> { body }";
    expect![[r#"
        the first parameter must be the connection that the handler works on
        = help: `async fn credit(tx: &mut PgConnection, msg: &Message)` (or `MySqlConnection`, `SqliteConnection`); callers pass the inbox in its place"#]].assert_eq(&mistakes(r#"consumer = "credit", key = ID"#, item));
}

/// Everything in order but the return type.
fn returns(output: &str) -> String {
    let item = format!("async fn credit(tx: &mut PgConnection, msg: &Msg) {output} {{ body }}");
    mistakes(ARGUMENTS, &item)
}

#[test]
fn return_types() {
    expect![[r#"
        a handler returns a `Result`: `Ok` acknowledges the message, `Err` does not
        = help: `async fn credit(..) -> Result<(), Error>`"#]]
    .assert_eq(&returns(""));
    expect![[r#"
        a handler returns a `Result`: `Ok` acknowledges the message, `Err` does not
        = help: `Result<(), Error>`"#]]
    .assert_eq(&returns("-> ()"));
    expect![[r#"
        a handler returns a `Result`: `Ok` acknowledges the message, `Err` does not
        = help: `Result<Option<u64>, Error>`"#]]
    .assert_eq(&returns("-> Option<u64>"));
    expect![[r#"
        a handler returns a `Result`: `Ok` acknowledges the message, `Err` does not
        = help: `Result<T, Error>`"#]]
    .assert_eq(&returns("-> impl Future<Output = Result<(), E>>"));
    expect![[r#"
        the returned type needs a name, which `impl Trait` has not
        = help: write the type itself, or `Box<dyn Trait + Send>`"#]]
    .assert_eq(&returns("-> Result<impl Serialize, E>"));
}
