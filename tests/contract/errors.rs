//! Whatever a handler's error type looks like, a consumer loop can tell what to do.

use std::error::Error as StdError;

use inbox_sqlx::{Disposition, Error, Outcome};

use super::bench::{Bench, CONSUMER, HandlerError, Kept};
use crate::dialect;

#[derive(Debug, thiserror::Error)]
enum Transparent {
    #[error(transparent)]
    Inbox(#[from] Error),
}

#[derive(Debug, thiserror::Error)]
enum Named {
    #[error("the inbox refused")]
    Inbox(#[from] Error),
}

#[derive(Debug, thiserror::Error)]
#[error("in the service")]
struct Outer(#[source] Transparent);

#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct Boxed(Box<dyn StdError + Send + Sync>);

/// One error of the inbox in every wrapping that is common, and what is to be done about it.
fn expect_disposition(make: impl Fn() -> Error, wanted: Disposition) {
    let text = make().to_string();
    let plain = make();
    let transparent = Transparent::from(make());
    let named = Named::from(make());
    let nested = Outer(Transparent::from(make()));
    let boxed: Box<dyn StdError + Send + Sync> = make().into();
    let boxed_named: Box<dyn StdError> = Named::from(make()).into();
    let boxed_transparent = Boxed(Box::new(make()));
    let any = anyhow::Error::from(make()).context("while consuming");
    let any_named = anyhow::Error::from(Named::from(make()));
    let database = sqlx::Error::from(make());
    let handler = HandlerError::from(make());
    let handler_database = HandlerError::from(sqlx::Error::from(make()));
    let all: [(&str, &(dyn StdError + 'static)); 12] = [
        ("plain", &plain),
        ("transparent", &transparent),
        ("named", &named),
        ("nested", &nested),
        ("boxed", boxed.as_ref()),
        ("boxed named", boxed_named.as_ref()),
        ("boxed transparent", &boxed_transparent),
        ("anyhow", any.as_ref()),
        ("anyhow named", any_named.as_ref()),
        ("sqlx", &database),
        ("handler", &handler),
        ("handler by sqlx", &handler_database),
    ];
    for (name, error) in all {
        assert_eq!(Disposition::of(error), wanted, "{name}: {text}");
    }
    // What is not hidden by `transparent` is found as well.
    for error in [
        &named as &(dyn StdError + 'static),
        boxed_named.as_ref(),
        any.as_ref(),
        &handler,
    ] {
        assert!(Error::find(error).is_some(), "{error:?}");
    }
}

#[test]
fn a_missing_key_is_dead_lettered_in_every_wrapping() {
    let missing = || Error::from(inbox_sqlx::Key::new(" ").unwrap_err());
    assert!(missing().is_permanent());
    expect_disposition(missing, Disposition::DeadLetter);
}

#[test]
fn an_outage_is_retried_in_every_wrapping() {
    let outage = || Error::Database(sqlx::Error::PoolTimedOut);
    assert!(outage().is_transient() && !outage().is_permanent());
    expect_disposition(outage, Disposition::Retry { after: None });
}

/// The wait a claim found out survives an error type that hides where it came from.
#[tokio::test]
async fn the_time_to_come_back_survives_every_wrapping() {
    let bench = Bench::new().await;
    let lease = dialect::in_seconds(60);
    bench
        .observe(&format!(
            "insert into inbox (message_id, consumer, state, processed_at, lease_until) \
             values ('m1', '{CONSUMER}', 0, null, {lease})"
        ))
        .await;
    let found = async || {
        bench
            .inbox
            .begin(CONSUMER, "m1")
            .await
            .map(drop)
            .unwrap_err()
    };

    let transparent = Transparent::from(found().await);
    let boxed = Boxed(Box::new(Transparent::from(found().await)));
    let any = anyhow::Error::from(Transparent::from(found().await)).context("while consuming");
    let database = HandlerError::from(sqlx::Error::from(found().await));
    for error in [
        &transparent as &(dyn StdError + 'static),
        &boxed,
        any.as_ref(),
        &database,
    ] {
        let Disposition::Retry { after: Some(after) } = Disposition::of(error) else {
            panic!("{error:?}");
        };
        assert!((55..=60).contains(&after.as_secs()), "{error:?}");
    }
    bench.expect_sane_pool().await;
}

/// Parked messages have no time to come back: a person decides.
#[tokio::test]
async fn a_parked_message_is_dead_lettered_in_every_wrapping() {
    let bench = Bench::new().await;
    bench
        .observe(&format!(
            "insert into inbox (message_id, consumer, state, processed_at) \
             values ('m1', '{CONSUMER}', 3, null)"
        ))
        .await;
    // One error per wrapping, because errors cannot be cloned.
    let mut found = Vec::new();
    for _ in 0..20 {
        found.push(
            bench
                .inbox
                .begin(CONSUMER, "m1")
                .await
                .map(drop)
                .unwrap_err(),
        );
    }
    let found = std::cell::RefCell::new(found);
    expect_disposition(
        || found.borrow_mut().pop().unwrap(),
        Disposition::DeadLetter,
    );
}

/// A body's own error type, unknown to the inbox, reaches the caller as it was.
#[tokio::test]
async fn a_handler_may_return_anyhow_a_box_or_a_database_error() {
    let bench = Bench::new().await;
    for (key, fails) in [("m1", true), ("m1", false), ("m1", false)] {
        let any: Result<Outcome<()>, anyhow::Error> = settle(&bench, key, || {
            if fails {
                Err(anyhow::anyhow!("mine"))
            } else {
                Ok(())
            }
        })
        .await;
        match any {
            Err(error) => assert_eq!(error.to_string(), "mine"),
            Ok(_) => assert!(!fails),
        }
    }
    bench.expect("m1", Kept::Once).await;

    let boxed: Result<Outcome<()>, Box<dyn StdError + Send + Sync>> =
        settle(&bench, "m2", || Err("mine".into())).await;
    assert_eq!(boxed.unwrap_err().to_string(), "mine");
    bench.expect("m2", Kept::Nothing).await;

    let database: Result<Outcome<()>, sqlx::Error> =
        settle(&bench, "m2", || Err(sqlx::Error::RowNotFound)).await;
    assert!(matches!(database, Err(sqlx::Error::RowNotFound)));
    bench.expect("m2", Kept::Nothing).await;
    assert_eq!(bench.credit("m2").await.unwrap(), Outcome::Processed(()));
}

async fn settle<E>(
    bench: &Bench,
    key: &str,
    result: impl FnOnce() -> Result<(), E>,
) -> Result<Outcome<()>, E>
where
    E: From<Error> + Into<Box<dyn StdError + Send + Sync>>,
{
    match bench.inbox.begin(CONSUMER, key).await? {
        inbox_sqlx::Begin::Duplicate => Ok(Outcome::Duplicate),
        inbox_sqlx::Begin::Fresh(mut claimed) => {
            super::bench::apply(claimed.connection(), key)
                .await
                .unwrap();
            claimed.settle(result()).await
        }
    }
}
