//! Two-phase handlers: under lint walls, among strange names, made by macros, sent to other threads.

use std::cell::Cell;
use std::sync::atomic::{AtomicI64, Ordering};

use inbox_sqlx::{Claim, Effect, Outcome, idempotent};
use sqlx::{Sqlite, SqliteConnection, SqlitePool};

use crate::{Credit, CreditError, add, bank, credit, deliver_twice, total};

async fn save(tx: &mut SqliteConnection, amount: &i64) -> Result<(), CreditError> {
    add(tx, *amount).await?;
    Ok(())
}

/// Clippy is the test of it.
mod wall {
    #![forbid(unsafe_code, unused_variables, unused_mut, unused_must_use)]
    #![deny(
        warnings,
        missing_docs,
        dead_code,
        let_underscore_drop,
        rust_2018_idioms,
        single_use_lifetimes,
        unreachable_pub,
        unused_qualifications,
        clippy::all,
        clippy::pedantic,
        clippy::nursery,
        clippy::absolute_paths,
        clippy::as_conversions,
        clippy::blocks_in_conditions,
        clippy::default_numeric_fallback,
        clippy::implicit_return,
        clippy::infinite_loop,
        clippy::items_after_statements,
        clippy::let_unit_value,
        clippy::missing_docs_in_private_items,
        clippy::pattern_type_mismatch,
        clippy::semicolon_inside_block,
        clippy::shadow_reuse,
        clippy::shadow_same,
        clippy::shadow_unrelated,
        clippy::str_to_string,
        clippy::unwrap_used,
        clippy::used_underscore_binding
    )]
    #![expect(clippy::needless_return, reason = "`implicit_return` asks for them")]

    use core::time::Duration;

    use inbox_sqlx::{Claim, Effect, idempotent};
    use sqlx::{Sqlite, SqliteConnection};

    use crate::{Credit, CreditError, add};

    /// As in the documentation.
    ///
    /// # Errors
    ///
    /// None.
    #[idempotent(consumer = "wall", key = msg.message_id, two_phase)]
    pub(super) async fn plain(claim: &Claim<Sqlite>, msg: &Credit) -> Result<usize, CreditError> {
        return Ok(claim.idempotency_key().len());
    }

    /// The claim is not used.
    #[idempotent(consumer = "wall, unused", key = id, two_phase(on_unknown = retry))]
    pub(super) async fn unused(_claim: &Claim<Sqlite>, id: u64) -> Result<(), CreditError> {
        return Ok(());
    }

    /// What is known of an error.
    const fn effect(error: &CreditError) -> Effect {
        return match *error {
            CreditError::Refused => Effect::Rejected,
            CreditError::Database(_) | CreditError::Inbox(_) => Effect::Unknown,
        };
    }

    /// Another error.
    const fn anyhow_effect(_: &anyhow::Error) -> Effect {
        return Effect::NotHappened;
    }

    /// A service.
    pub(super) struct Service {
        /// How long it takes.
        pub(super) lease: Duration,
        /// What it adds.
        pub(super) amount: i64,
    }

    impl Service {
        /// All options.
        #[idempotent(
            consumer = "wall, method",
            key = msg.message_id,
            two_phase(
                on_unknown = retry,
                classify = effect,
                lease = self.lease,
                max_attempts = 3,
                horizon = "1h 30m",
                payload = (&msg.message_id, self.amount),
                record = Self::save,
            ),
        )]
        pub(super) async fn handle(
            &mut self,
            claim: &Claim<Sqlite>,
            msg: Credit,
        ) -> Result<i64, CreditError> {
            self.amount += msg.amount;
            if claim.attempt() > 3 {
                return Err(CreditError::Refused);
            }
            return Ok(self.amount);
        }

        /// The hook.
        async fn save(tx: &mut SqliteConnection, amount: &i64) -> Result<(), CreditError> {
            add(tx, *amount).await?;
            return Ok(());
        }

        /// An alias.
        #[idempotent(
            consumer = "wall, alias",
            key = id,
            two_phase(classify = anyhow_effect, record = Self::save_alias),
        )]
        pub(super) async fn alias(&self, _: &Claim<Sqlite>, id: u64) -> anyhow::Result<i64> {
            return Ok(self.amount);
        }

        /// Its hook.
        async fn save_alias(tx: &mut SqliteConnection, amount: &i64) -> anyhow::Result<()> {
            add(tx, *amount).await?;
            return Ok(());
        }
    }
}

#[tokio::test]
async fn no_lint_is_shown_for_generated_code() {
    let inbox = &bank().await;
    let msg = &credit("m1");
    let length = wall::plain(inbox, msg).await.unwrap();
    assert_eq!(length, Outcome::Processed(64));
    assert!(wall::unused(inbox, 1).await.is_ok());
    let mut service = wall::Service {
        lease: std::time::Duration::from_secs(9),
        amount: 0,
    };
    deliver_twice(inbox, async || service.handle(inbox, msg.clone()).await).await;
    deliver_twice(inbox, async || service.alias(inbox, 7).await).await;
}

mod shadowed {
    #![no_implicit_prelude]

    use ::inbox_sqlx::idempotent;

    use crate::CreditError;

    #[expect(dead_code, reason = "they are only in the way")]
    mod in_the_way {
        pub(super) struct Ok;
        pub(super) struct Err;
        pub(super) struct Some;
        pub(super) struct None;
        pub(super) struct Box;
        pub(super) struct String;
        pub(super) struct Send;
        pub(super) struct From;
        pub(super) struct Into;
        pub(super) struct Fn;
        pub(super) struct Claim;
        pub(super) struct Inbox;
        pub(super) struct Outcome;
        pub(super) struct Duration;
        pub(super) struct TwoPhase;
        pub(super) mod std {}
        pub(super) mod core {}
        pub(super) mod alloc {}
        pub(super) mod sqlx {}
        pub(super) mod inbox_sqlx {}
        pub(super) mod two_phase {}
    }
    #[expect(unused_imports, reason = "they are only in the way")]
    use self::in_the_way::*;

    /// One parameter, as many crates have it.
    type Result<T> = ::core::result::Result<T, CreditError>;

    /// A primitive that is something else.
    #[expect(non_camel_case_types, dead_code, reason = "it is only in the way")]
    struct u32;

    #[idempotent(
        consumer = "shadowed",
        key = id,
        two_phase(
            on_unknown = retry,
            lease = "2s",
            max_attempts = 2,
            horizon = "1h",
            payload = id,
            record = super::save,
        ),
    )]
    pub(super) async fn handle(_: &::inbox_sqlx::Claim<::sqlx::Sqlite>, id: u64) -> Result<i64> {
        if id == 0 {
            return Result::Err(CreditError::Refused);
        }
        Result::Ok(1)
    }
}

#[tokio::test]
async fn nothing_means_what_it_usually_does() {
    let inbox = &bank().await;
    deliver_twice(inbox, async || shadowed::handle(inbox, 1).await).await;
}

fn minutes(minutes: i64) -> std::time::Duration {
    std::time::Duration::from_mins(minutes.unsigned_abs())
}

#[expect(clippy::too_many_arguments, reason = "one for each name")]
#[idempotent(
    consumer = "two-phase names",
    key = (key, claimed, inbox, site),
    two_phase(
        on_unknown = retry,
        lease = minutes(lease),
        max_attempts = u32::try_from(max_attempts).unwrap_or(1),
        horizon = minutes(horizon),
        payload = (&payload, &terms, &error),
        record = save,
    ),
)]
async fn names(
    claim: &Claim<Sqlite>,
    key: i64,
    inbox: i64,
    site: i64,
    from_inbox: i64,
    error: i64,
    consumer: i64,
    lease: i64,
    max_attempts: i64,
    horizon: i64,
    terms: i64,
    payload: i64,
    claimed: i64,
    lent: i64,
    ended: i64,
    recorder: i64,
    span: i64,
    connection: i64,
    value: i64,
    saved: i64,
) -> Result<i64, CreditError> {
    let parameters = [
        key,
        inbox,
        site,
        from_inbox,
        error,
        consumer,
        lease,
        max_attempts,
        horizon,
        terms,
        payload,
        claimed,
        lent,
        ended,
        recorder,
        span,
        connection,
        value,
        saved,
    ];
    assert!(
        parameters[6..]
            .iter()
            .eq(&[1, 2, 500, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19])
    );
    assert!(claim.is_held());
    Ok(key)
}

#[tokio::test]
async fn parameters_have_the_names_of_generated_variables() {
    let inbox = &bank().await;
    deliver_twice(inbox, async || {
        names(
            inbox, 1, 2, 3, 4, 5, 6, 1, 2, 500, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
        )
        .await
    })
    .await;
}

macro_rules! claim_called {
    ($($name:ident)*) => {
        $(
            #[idempotent(consumer = stringify!($name), key = id, two_phase(record = save))]
            async fn $name($name: &Claim<Sqlite>, id: u64) -> Result<i64, CreditError> {
                Ok(i64::from($name.attempt()))
            }
        )*

        #[tokio::test]
        async fn the_claim_has_the_name_of_a_generated_variable() {
            let bank = &bank().await;
            $(deliver_twice(bank, async || $name(bank, 1).await).await;)*
        }
    };
}

claim_called!(
    inbox key consumer site claimed lent ended error terms payload recorder span connection value saved
);

macro_rules! handler {
    ($name:ident, $consumer:expr, $ty:ty, $lease:literal, $horizon:expr, $classify:path) => {
        #[idempotent(
            consumer = $consumer,
            key = id,
            two_phase(on_unknown = retry, lease = $lease, horizon = $horizon, classify = $classify, record = save),
        )]
        async fn $name(claim: &Claim<$ty>, id: u64) -> Result<i64, CreditError> {
            Ok(i64::from(claim.attempt()))
        }
    };
}

fn effect(_: &CreditError) -> Effect {
    Effect::Unknown
}

handler!(made, "made", Sqlite, "3s", "1h", effect);

#[tokio::test]
async fn handlers_may_be_made_by_macros() {
    let inbox = &bank().await;
    deliver_twice(inbox, async || made(inbox, 1).await).await;
}

/// Parameters that are `Send` and not `Sync`; an effect through a pool; what it works on is moved.
#[idempotent(consumer = "two-phase sent", key = msg.message_id, two_phase(payload = msg.message_id))]
async fn sent(
    claim: &Claim<Sqlite>,
    pool: SqlitePool,
    count: Cell<i64>,
    msg: Credit,
) -> Result<String, CreditError> {
    let mut tx = pool.begin().await?;
    let sum = add(&mut tx, msg.amount).await?;
    count.set(sum);
    tx.commit().await?;
    assert!(claim.is_held());
    Ok(msg.message_id)
}

#[tokio::test]
async fn futures_are_send() {
    let database = tempfile::NamedTempFile::new().expect("a file");
    let url = format!("sqlite:{}", database.path().display());
    let inbox = inbox_sqlx::Inbox::<Sqlite>::connect(&url).await.unwrap();
    inbox.install().await.unwrap();
    sqlx::query("create table ledger (amount integer not null)")
        .execute(inbox.pool())
        .await
        .unwrap();
    deliver_twice(&inbox, async || {
        let inbox = inbox.clone();
        let handled = tokio::spawn(async move {
            let pool = inbox.pool().clone();
            sent(&inbox, pool, Cell::new(0), credit("m1")).await
        });
        handled.await.expect("no panic")
    })
    .await;
}

/// Not everything has to be.
#[idempotent(consumer = "two-phase local", key = *id, two_phase(record = save))]
async fn local(_: &Claim<Sqlite>, id: std::rc::Rc<u64>) -> Result<i64, CreditError> {
    tokio::task::yield_now().await;
    Ok(if *id == 0 { 2 } else { 1 })
}

#[tokio::test]
async fn local_futures_are_welcome() {
    let inbox = &bank().await;
    deliver_twice(inbox, async || local(inbox, std::rc::Rc::new(4)).await).await;
}

/// A body with every way to leave.
#[idempotent(consumer = "two-phase early", key = way, two_phase)]
async fn early(_: &Claim<Sqlite>, seen: &AtomicI64, way: u64) -> Result<u64, CreditError> {
    let found = loop {
        match way {
            0 => return Ok(0),
            1 => Err(CreditError::Refused)?,
            2 => break async { Ok::<_, CreditError>(2) }.await?,
            _ => {}
        }
        for step in 0.. {
            if step == way {
                let leave = || step;
                return Ok(leave());
            }
        }
    };
    seen.fetch_add(1, Ordering::SeqCst);
    Ok(found)
}

#[tokio::test]
async fn leaving_early_leaves_the_body_only() {
    let inbox = &bank().await;
    let seen = AtomicI64::new(0);
    for way in [0, 2, 3] {
        let outcome = early(inbox, &seen, way).await.unwrap();
        assert_eq!(outcome, Outcome::Processed(way));
        let outcome = early(inbox, &seen, way).await.unwrap();
        assert_eq!(outcome, Outcome::Duplicate);
    }
    let error = early(inbox, &seen, 1).await.unwrap_err();
    assert!(matches!(error, CreditError::Refused), "{error:?}");
    assert_eq!(seen.load(Ordering::SeqCst), 1);
    assert_eq!(total(inbox).await, 0);
}
