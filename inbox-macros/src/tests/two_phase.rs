//! The two-phase mode: what handlers expand to, and the words for its mistakes.

use expect_test::{expect, expect_file};

use super::{expand, mistakes};

#[test]
fn a_handler_without_options() {
    let expansion = expand(
        r#"consumer = "email", key = msg.message_id, two_phase"#,
        "
        /// Sends the receipt.
        async fn send_receipt(claim: &Claim<Postgres>, mailer: &Mailer, msg: &Receipt) -> Result<(), MailError> {
            mailer.send(msg, claim.idempotency_key()).await
        }",
    );
    expect_file!["../../snapshots/two_phase.rs"].assert_eq(&expansion);
}

#[test]
fn a_method_with_all_options() {
    let expansion = expand(
        r#"
        consumer = NAME,
        key = (msg.source, msg.id),
        inbox = self.inbox,
        crate = crate::reexported,
        two_phase(
            on_unknown = retry,
            classify = MailError::effect,
            lease = "1m 30s",
            max_attempts = self.attempts,
            horizon = Duration::from_hours(msg.hours),
            payload = msg,
            record = Self::save,
        ),
        "#,
        "async fn send<DB: Backend>(&self, _: &inbox_sqlx::Claim<DB>, pool: PgPool, msg: &Receipt) -> Result<Sent, MailError<'static>> { \
         self.mailer.send(msg).await }",
    );
    expect_file!["../../snapshots/two_phase_options.rs"].assert_eq(&expansion);
}

#[test]
fn empty_parentheses_are_no_options() {
    let item = "async fn f(mut claim: &Claim<Sqlite>, id: u64) -> anyhow::Result<()> { body }";
    assert_eq!(
        expand(r#"consumer = "c", key = id, two_phase()"#, item),
        expand(r#"consumer = "c", key = id, two_phase"#, item),
    );
}

#[test]
fn a_wrong_option_costs_callers_nothing() {
    let expansion = expand(
        r#"consumer = "email", key = msg.id, two_phase(lease = "0s", payload = msg.body)"#,
        "async fn send(claim: &Claim<Postgres>, msg: &Msg) -> Result<(), E> { body(claim).await }",
    );
    expect_file!["../../snapshots/fallback_two_phase.rs"].assert_eq(&expansion);
}

/// Everything in order but `two_phase`.
fn mode(two_phase: &str) -> String {
    let attribute = format!("consumer = \"email\", key = msg.id, {two_phase}");
    let item = "async fn send(claim: &Claim<Postgres>, msg: &Msg) -> Result<(), E> { body }";
    mistakes(&attribute, item)
}

/// Everything in order but the options.
fn options(options: &str) -> String {
    mode(&format!("two_phase({options})"))
}

#[test]
fn the_argument_itself() {
    expect![[r#"
        `two_phase` takes its options in parentheses
        = help: `two_phase`, or `two_phase(on_unknown = retry)`"#]]
    .assert_eq(&mode("two_phase = true"));
    expect![[r#"
        `two_phase` is given twice
        = help: keep the one you mean"#]]
    .assert_eq(&mode("two_phase, two_phase(on_unknown = park)"));
    expect![[r#"
        unknown argument `twophase`
        = help: did you mean `two_phase`?"#]]
    .assert_eq(&mode("twophase"));
}

#[test]
fn options_outside_of_the_parentheses() {
    expect![[r#"
        `on_unknown` is an option of the two-phase mode
        = help: `two_phase(on_unknown = retry)`
        `lease` is an option of the two-phase mode
        = help: `two_phase(lease = "30s")`
        `payload` is an option of the two-phase mode
        = help: `two_phase(payload = msg)`"#]]
    .assert_eq(&mode(
        "two_phase, on_unknown = retry, lease = \"30s\", payload = f::<A, B>(msg)",
    ));
    expect![[r#"
        `horizon` is an option of the two-phase mode
        = help: `two_phase(horizon = "12h")`"#]]
    .assert_eq(&mode("horizon = \"1h\""));
    expect![[r#"
        `max_attempts` is an option of the two-phase mode
        = help: `two_phase(max_attempts = 5)`"#]]
    .assert_eq(&mistakes(
        r#"consumer = "credit", key = msg.id, max_attempts = 3"#,
        "async fn credit(tx: &mut PgConnection, msg: &Msg) -> Result<(), E> { body }",
    ));
}

#[test]
fn options_that_are_unknown_misspelt_or_there_twice() {
    expect![[r#"
        unknown option `replay`
        = help: expected one of `on_unknown`, `classify`, `lease`, `max_attempts`, `horizon`, `payload`, `record`
        `consumer` is no option of the two-phase mode
        = help: `consumer = "credit", two_phase(..)`
        `park` is a value of `on_unknown`
        = help: `two_phase(on_unknown = park)`
        `retry` is a value of `on_unknown`
        = help: `two_phase(on_unknown = retry)`
        unknown option `attempts`
        = help: did you mean `max_attempts = 5`?"#]].assert_eq(&options("replay, consumer = \"x\", park, retry(attempts = 3), attempts = 3"));
    expect![[r#"
        unknown option `on_unkown`
        = help: did you mean `on_unknown = retry`?
        unknown option `clasify`
        = help: did you mean `classify = MailError::effect`?
        unknown option `horizont`
        = help: did you mean `horizon = "12h"`?"#]]
    .assert_eq(&options(
        "on_unkown = retry, clasify = f, horizont = \"1h\"",
    ));
    expect![[r#"
        `lease` is given twice
        = help: keep the one you mean
        this is not an option
        = help: expected one of `on_unknown`, `classify`, `lease`, `max_attempts`, `horizon`, `payload`, `record`"#]].assert_eq(&options("lease = \"1s\", lease = \"2s\", 7"));
    expect![[r#"
        `lease` needs a value
        = help: `lease = "30s"`
        `record` needs a value
        = help: `record = save`
        `on_unknown` needs a value
        = help: `on_unknown = retry`"#]]
    .assert_eq(&options("lease, record = , on_unknown"));
    expect![[r#"
        expected `,` before this
        = help: arguments are separated by commas"#]]
    .assert_eq(&options("lease = \"1s\" payload = msg"));
}

#[test]
fn what_is_done_about_the_unknown() {
    expect![[r#"
        unknown value `release`
        = help: `on_unknown = park` repeats nothing and asks a person, `on_unknown = retry` calls again, with the same idempotency key"#]].assert_eq(&options("on_unknown = release"));
    expect![[r#"
        the value is written without quotes
        = help: `on_unknown = park` repeats nothing and asks a person, `on_unknown = retry` calls again, with the same idempotency key"#]].assert_eq(&options("on_unknown = \"retry\", horizon = \"1h\""));
    expect![[r#"
        `on_unknown` is `park` or `retry`
        = help: `on_unknown = park` repeats nothing and asks a person, `on_unknown = retry` calls again, with the same idempotency key"#]]
    .assert_eq(&options("on_unknown = 7"));
    expect![[r#"
        with `on_unknown = park` nothing is repeated, and there is no horizon
        = help: `on_unknown = retry, horizon = "1h"`, or leave it out"#]]
    .assert_eq(&options("horizon = \"1h\""));
    expect![[r#"
        with `on_unknown = park` nothing is repeated, and there is no horizon
        = help: `on_unknown = retry, horizon = self.horizon`, or leave it out"#]]
    .assert_eq(&options("on_unknown = park, horizon = self.horizon"));
}

#[test]
fn durations() {
    expect![[r#"
        `lease` is a duration, and has a unit
        = help: `lease = "30s"`, or an expression of type `Duration`"#]]
    .assert_eq(&options("lease = 30"));
    expect![[r#"
        this is no duration: time unit needed, for example 30sec or 30ms
        = help: `lease = "30s"`"#]]
    .assert_eq(&options("lease = \"30\""));
    expect![[r#"
        this is no duration: value was empty
        = help: `lease = "30s"`"#]]
    .assert_eq(&options("lease = \"\""));
    expect![[r#"
        this is no duration: expected number at 0
        = help: `lease = "30s"`"#]]
    .assert_eq(&options("lease = \"thirty seconds\""));
    expect![[r#"
        a lease of less than a millisecond is over before the body starts
        = help: `lease = "30s"`"#]]
    .assert_eq(&options("lease = \"0s\""));
    expect![[r#"
        a lease of less than a millisecond is over before the body starts
        = help: `lease = "30s"`"#]]
    .assert_eq(&options("lease = \"999us\""));
    expect![[r#"
        this is longer than a year
        = help: `lease = "30s"`; `m` are minutes, `M` are months"#]]
    .assert_eq(&options("lease = \"13M\""));
    expect![[r#"
        `lease` is a duration, and has a unit
        = help: `lease = "30s"`, or an expression of type `Duration`
        a horizon of less than a millisecond forbids every repetition
        = help: `horizon = "12h"`, or `on_unknown = park`"#]]
    .assert_eq(&options(
        "on_unknown = retry, horizon = \"0s\", lease = 1.5",
    ));
    expect![[r#"
        this is longer than a year
        = help: `horizon = "12h"`; `m` are minutes, `M` are months"#]]
    .assert_eq(&options("on_unknown = retry, horizon = \"2 years\""));
    expect![[r#"
        this is no duration: number is too large or cannot be represented without a lack of precision (values below 1ns are not supported)
        = help: `horizon = "12h"`"#]].assert_eq(&options("on_unknown = retry, horizon = \"99999999999999 years\""));
}

#[test]
fn attempts() {
    for wrong in ["0", "10001", "-1", "99999999999999999999999"] {
        assert_eq!(
            options(&format!("max_attempts = {wrong}")),
            options("max_attempts = 0"),
            "{wrong}"
        );
    }
    expect![[r#"
        `max_attempts` is between 1 and 10000
        = help: `max_attempts = 5`; the first attempt counts"#]]
    .assert_eq(&options("max_attempts = 0"));
    expect![[r#"
        `max_attempts` is a whole number
        = help: `max_attempts = 5`"#]]
    .assert_eq(&options("max_attempts = \"5\""));
}

#[test]
fn numbers_that_do_not_fit_together() {
    expect![[r#"
        the horizon of 5m ends before the attempts are used up: 5 leases of 1m and the pauses between them may take 5m 30s
        = help: make the horizon longer, the attempts fewer or the lease shorter"#]].assert_eq(&options("on_unknown = retry, horizon = \"5m\""));
    expect![[r#"
        the horizon of 12h ends before the attempts are used up: 5 leases of 3h and the pauses between them may take 15h 30s
        = help: make the horizon longer, the attempts fewer or the lease shorter"#]].assert_eq(&options("on_unknown = retry, lease = \"3h\""));
    expect![[r#"
        the horizon of 12h ends before the attempts are used up: 1000 leases of 1m and the pauses between them may take 4days 3h 23m 30s
        = help: make the horizon longer, the attempts fewer or the lease shorter"#]].assert_eq(&options("on_unknown = retry, max_attempts = 1000"));
}

#[test]
fn functions_that_are_no_paths() {
    expect![[r#"
        `classify` is the name of a function
        = help: `classify = effect`, with `fn effect(error: &E) -> Effect`
        `record` is the name of a function
        = help: `record = save`, with `async fn save(tx: &mut PgConnection, value: &T) -> Result<(), E>`"#]].assert_eq(&options("classify = |e| Effect::Unknown, record = save()"));
}

#[test]
fn values_that_leave_or_look_at_the_claim() {
    expect![[r#"
        `await` is not possible in `lease`
        = help: compute it before calling the handler, and pass it as a parameter
        `?` is not possible in `payload`
        = help: compute it before calling the handler, and pass it as a parameter"#]]
    .assert_eq(&options("payload = msg.body()?, lease = lease().await"));
    expect![[r#"
        `payload` is computed before there is a claim, so that `claim` is not known yet
        = help: use the other parameters"#]]
    .assert_eq(&options("payload = claim.key().as_str()"));
    expect![[r#"
        the key is computed before there is a claim, so that `claim` is not known yet
        = help: take the key from the message: `key = msg.message_id`"#]]
    .assert_eq(&mistakes(
        r#"consumer = "email", key = claim.key(), two_phase"#,
        "async fn send(claim: &Claim<Postgres>, msg: &Msg) -> Result<(), E> { body }",
    ));
}

/// Everything in order but the first parameter.
fn first(first: &str) -> String {
    let item = format!("async fn send(&self, {first}, msg: &Msg) -> Result<(), E> {{ body }}");
    mistakes(r#"consumer = "email", key = msg.id, two_phase"#, &item)
}

#[test]
fn first_parameters_that_are_something_else() {
    expect![[r#"
        in two-phase mode the body runs outside of any transaction, and gets the claim
        = help: `claim: &Claim<Postgres>`, or remove `two_phase` to work in one transaction"#]]
    .assert_eq(&first("tx: &mut PgConnection"));
    for connection in [
        "tx: &PgConnection",
        "tx: PgConnection",
        "tx: &'a mut PgConnection",
        "tx: &mut Transaction<'_, Postgres>",
        "tx: PoolConnection<Postgres>",
    ] {
        assert_eq!(
            first(connection),
            first("tx: &mut PgConnection"),
            "{connection}"
        );
    }
    expect![[r#"
        the first parameter must be the claim that the handler works under
        = help: put `claim: &Claim<Sqlite>` before it; callers pass the inbox in its place"#]]
    .assert_eq(&first("pool: &SqlitePool"));
    expect![[r#"
        the first parameter must be the claim that the handler works under
        = help: put `claim: &Claim<Postgres>` before it; callers pass the inbox in its place"#]]
    .assert_eq(&first("mailer: &mut Mailer"));
    expect![[r#"
        the inbox is what callers pass; the handler gets the claim in its place
        = help: `claim: &Claim<MySql>`"#]]
    .assert_eq(&first("inbox: &Inbox<MySql>"));
    expect![[r#"
        the claim must be the first parameter
        = help: move it to the front; callers pass the inbox in its place"#]]
    .assert_eq(&first("mailer: &Mailer, claim: &Claim<MySql>"));
    expect![[r#"
        the first parameter must be the claim that the handler works under
        = help: `async fn send(claim: &Claim<Postgres>, ..)`: callers pass `&Inbox<Postgres>` in its place"#]].assert_eq(&mistakes(
        r#"consumer = "email", key = ID, two_phase"#,
        "async fn send() -> Result<(), E> { body }",
    ));
}

#[test]
fn claims_in_another_form() {
    expect![[r#"
        the claim is lent as `&`
        = help: `claim: &Claim<Sqlite>`"#]]
    .assert_eq(&first("claim: Claim<Sqlite>"));
    assert_eq!(
        first("claim: &mut Claim<Sqlite>"),
        first("claim: Claim<Sqlite>")
    );
    expect![[r#"
        the claim does not say which database it is from
        = help: `claim: &Claim<Postgres>`"#]]
    .assert_eq(&first("claim: &Claim"));
    expect![[r#"
        a claim has a database, not a connection
        = help: `&Claim<MySql>`"#]]
    .assert_eq(&first("claim: &Claim<MySqlConnection>"));
    expect![[r#"
        the claim lives as long as the body, not for `'a`
        = help: `&Claim<Sqlite>`"#]]
    .assert_eq(&first("claim: &'a Claim<Sqlite>"));
    expect![[r#"
        the claim needs a plain name
        = help: `claim: &Claim<Sqlite>`"#]]
    .assert_eq(&first("Claim { .. }: &Claim<Sqlite>"));
    expect![[r#"
        the first parameter cannot be conditional
        = help: write two functions, each with its `#[cfg(..)]`"#]]
    .assert_eq(&first("#[cfg(feature = \"x\")] claim: &Claim<Sqlite>"));
}

#[test]
fn the_attribute_written_twice_under_another_name() {
    expect![[r#"
        `#[idempotent]` is written twice
        = help: a function handles messages for one consumer: write another function for another consumer"#]].assert_eq(&mistakes(
        r#"consumer = "email", key = msg.id, two_phase"#,
        "async fn send(claim: &::inbox_sqlx::Inbox<Postgres>, msg: &Msg) -> Result<::inbox_sqlx::Outcome<()>, E> { body }",
    ));
}
