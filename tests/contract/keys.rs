//! Keys and consumers: what is different stays different on every database, what is no key is refused before any work.

use std::borrow::Cow;

use inbox_sqlx::{
    Begin, ConfigError, Disposition, Error, Inbox, Key, KeyError, MessageKey, Outcome,
};

use uuid::Uuid;

use super::bench::{Bench, CONSUMER, HandlerError, Kept, apply};
use crate::{Db, dialect};

/// Texts that collations, padding, numeric affinity or careless quoting take for one another.
pub(crate) const KEYS: &[&str] = &[
    "abc",
    "ABC",
    "Abc",
    "abc ",
    "abc  ",
    " abc",
    "abc\t",
    "abc\n",
    "é",
    "e\u{301}",
    "e",
    "E",
    "É",
    "ß",
    "ss",
    "SS",
    "ä",
    "ae",
    "😀",
    "😁",
    "👨‍👩‍👧",
    "👨👩👧",
    "a",
    "ａ",
    "i",
    "I",
    "ı",
    "İ",
    "ﬁ",
    "fi",
    "1",
    "01",
    "1.0",
    "1e0",
    "+1",
    "0x1",
    "true",
    "null",
    "NULL",
    "a\u{200b}",
    "a\u{1}",
    "%",
    "_",
    "\\",
    "\\\\",
    "'",
    "''",
    "\"",
    "`",
    "?",
    "$1",
    "--",
    "x'00'",
];

/// Random identifiers from a mixed-case alphabet collapse under a case-insensitive collation.
#[tokio::test]
async fn different_keys_stay_different() {
    let bench = Bench::new().await;
    expect_keys_apart(&bench).await;
}

pub(crate) async fn expect_keys_apart(bench: &Bench) {
    let (a, b, ab) = ("a".repeat(255), "b".repeat(255), "a".repeat(254) + "b");
    // 255 bytes that are far fewer characters.
    let (wide, wider) = ("漢".repeat(85), "漢".repeat(84) + "字");
    let long: [&str; 5] = [&a, &b, &ab, &wide, &wider];
    let keys = || KEYS.iter().chain(&long);
    for key in keys() {
        let outcome = bench.credit(key).await.unwrap();
        assert_eq!(outcome, Outcome::Processed(()), "{key:?}");
    }
    for key in keys() {
        assert_eq!(
            bench.credit(key).await.unwrap(),
            Outcome::Duplicate,
            "{key:?}"
        );
        assert_eq!(bench.markers(CONSUMER, key).await, 1, "{key:?}");
        assert_eq!(bench.effects(key).await, 1, "{key:?}");
    }
    let all = i64::try_from(keys().count()).unwrap();
    assert_eq!(bench.number("select count(*) from inbox", &[]).await, all);
    bench.expect_sane_pool().await;
}

#[tokio::test]
async fn different_consumers_stay_different() {
    let bench = Bench::new().await;
    expect_consumers_apart(&bench).await;
}

pub(crate) async fn expect_consumers_apart(bench: &Bench) {
    let longest = "c".repeat(200);
    let consumers = [
        "credit",
        "Credit",
        "CREDIT",
        "credit ",
        " credit",
        "crédit",
        "cre\u{301}dit",
        "😀",
        "😁",
        "c'redit",
        &longest,
    ];
    for round in 0..2 {
        for consumer in consumers {
            let outcome = deliver(&bench.inbox, consumer.to_owned(), "m1")
                .await
                .unwrap();
            assert_eq!(outcome.is_duplicate(), round == 1, "{consumer:?}");
        }
    }
    assert_eq!(
        bench.effects("m1").await,
        i64::try_from(consumers.len()).unwrap()
    );
    bench.expect_sane_pool().await;
}

/// Joining parts with a separator, or with none, merges what is different.
#[tokio::test]
async fn different_tuples_stay_different() {
    let bench = Bench::new().await;
    let inbox = &bench.inbox;
    for round in 0..2 {
        for (name, outcome) in [
            (
                "doc-7, 12",
                deliver(inbox, CONSUMER, &("doc-7", "12")).await,
            ),
            (
                "doc-71, 2",
                deliver(inbox, CONSUMER, &("doc-71", "2")).await,
            ),
            ("a:b, c", deliver(inbox, CONSUMER, &("a:b", "c")).await),
            ("a, b:c", deliver(inbox, CONSUMER, &("a", "b:c")).await),
            ("a\\,b, c", deliver(inbox, CONSUMER, &("a,b", "c")).await),
            ("a, b\\,c", deliver(inbox, CONSUMER, &("a", "b,c")).await),
            ("1, 23", deliver(inbox, CONSUMER, &(1, 23)).await),
            ("12, 3", deliver(inbox, CONSUMER, &(12, 3)).await),
            ("a, b, c", deliver(inbox, CONSUMER, &("a", "b", "c")).await),
            (
                "(a, b), c",
                deliver(inbox, CONSUMER, &(("a", "b"), "c")).await,
            ),
            (
                "a, (b, c)",
                deliver(inbox, CONSUMER, &("a", ("b", "c"))).await,
            ),
            (
                "topic",
                deliver(inbox, CONSUMER, &("orders", 0, 42_i64)).await,
            ),
        ] {
            assert_eq!(outcome.unwrap().is_duplicate(), round == 1, "{name}");
        }
    }
    assert_eq!(bench.number("select count(*) from ledger", &[]).await, 12);
    bench.expect_sane_pool().await;
}

/// However a producer writes it, in one form it is one message.
#[tokio::test]
async fn a_uuid_and_its_usual_text_are_one_message() {
    let bench = Bench::new().await;
    let text = "67e55044-10b1-426f-9247-bb680e5fe0c8";
    let uuid: Uuid = text.to_uppercase().parse().unwrap();
    let first = deliver(&bench.inbox, CONSUMER, &uuid).await.unwrap();
    assert_eq!(first, Outcome::Processed(()));
    assert_eq!(bench.credit(text).await.unwrap(), Outcome::Duplicate);
    bench.expect(text, Kept::Once).await;
}

/// Two long keys with a common beginning: a column that cuts them makes the second a duplicate.
#[tokio::test]
async fn a_long_key_is_refused_and_its_digest_is_not() {
    let bench = Bench::new().await;
    let (one, other) = ("a".repeat(255) + "one", "a".repeat(255) + "other");
    for long in [&one, &other] {
        let error = bench.credit(long).await.unwrap_err();
        assert!(
            matches!(error.inbox(), Error::Key(KeyError::TooLong { .. })),
            "{error:?}"
        );
        let outcome = deliver(&bench.inbox, CONSUMER, &Key::digest(long)).await;
        assert_eq!(outcome.unwrap(), Outcome::Processed(()));
    }
    assert_eq!(bench.number("select count(*) from inbox", &[]).await, 2);
}

/// Toolkits that made one shared key of "nothing" gave a second message the first one's answer.
#[tokio::test]
async fn what_is_no_key_is_refused_before_any_work_and_dead_lettered() {
    let bench = Bench::new().await;
    expect_keys_refused(&bench.inbox).await;
    assert_eq!(bench.number("select count(*) from inbox", &[]).await, 0);

    // No work at all: on a closed pool, and on a database that is down, the answer is the same.
    let closed = bench.inbox.clone();
    closed.pool().close().await;
    expect_keys_refused(&closed).await;
    let down = Inbox::<Db>::new(dialect::unreachable_pool());
    expect_keys_refused(&down).await;
    for inbox in [&closed, &down] {
        let usable = deliver(inbox, CONSUMER, "m1").await.unwrap_err();
        assert!(matches!(usable.inbox(), Error::Database(_)), "{usable:?}");
        assert!(usable.inbox().is_transient(), "{usable:?}");
    }
}

async fn expect_keys_refused(inbox: &Inbox<Db>) {
    let too_long = "a".repeat(256);
    let too_wide = "漢".repeat(86);
    for key in [
        "",
        " ",
        "\t\r\n",
        "\u{a0}\u{3000}",
        "a\0b",
        "\0",
        &too_long,
        &too_wide,
    ] {
        expect_refused_key(inbox, key).await;
    }
    expect_refused_key(inbox, &("", "")).await;
    expect_refused_key(inbox, &("orders", "")).await;
    expect_refused_key(inbox, &("orders", " ", 1)).await;
    expect_refused_key(inbox, &("a".repeat(200), "b".repeat(200))).await;
    expect_refused_key(inbox, &Key::digest("")).await;
    expect_refused_key(inbox, &Uuid::nil()).await;
}

async fn expect_refused_key<K: MessageKey + ?Sized>(inbox: &Inbox<Db>, key: &K) {
    let error = inbox.begin(CONSUMER, key).await.map(drop).unwrap_err();
    assert!(matches!(error, Error::Key(_)), "{error:?}");
    assert!(error.is_permanent() && !error.is_transient());
    let error = HandlerError::from(error);
    assert_eq!(Disposition::of(&error), Disposition::DeadLetter);
    let error = inbox.status(CONSUMER, key).await.unwrap_err();
    assert!(matches!(error, Error::Key(_)), "{error:?}");
}

/// A consumer's name is a mistake of the program, not of the message: nothing may be dead-lettered for it.
#[tokio::test]
async fn a_consumer_name_beyond_limits_is_refused_before_any_work() {
    let inbox = Inbox::<Db>::new(dialect::unreachable_pool());
    for consumer in ["", "  ", "a\nb", "a\0b", &"c".repeat(201)] {
        let error = inbox
            .begin(consumer.to_owned(), "m1")
            .await
            .map(drop)
            .unwrap_err();
        assert!(
            matches!(error, Error::Config(ConfigError::Consumer(_))),
            "{error:?}"
        );
        assert_eq!(Disposition::of(&error), Disposition::Retry { after: None });
        let error = inbox.status(consumer.to_owned(), "m1").await.unwrap_err();
        assert!(matches!(error, Error::Config(_)), "{error:?}");
    }
}

/// A handler for any key, which applies the effect under the key's canonical text.
async fn deliver<K: MessageKey + ?Sized>(
    inbox: &Inbox<Db>,
    consumer: impl Into<Cow<'static, str>> + Send,
    key: &K,
) -> Result<Outcome<()>, HandlerError> {
    match inbox.begin(consumer, key).await? {
        Begin::Duplicate => Ok(Outcome::Duplicate),
        Begin::Fresh(mut claimed) => {
            let message = Key::new(key).unwrap();
            let result = apply(claimed.connection(), message.as_str())
                .await
                .map_err(HandlerError::from);
            claimed.settle(result).await
        }
    }
}
