//! What is logged about a message: enough to find it, and neither its key nor anything from its body.

use std::{
    io,
    sync::{Arc, LazyLock, Mutex},
};

use inbox_sqlx::{
    __private::{Site, begin, body_span, in_span},
    Begin, Inbox, Key, Outcome,
};
use tracing::{
    Dispatch, Level,
    subscriber::{DefaultGuard, NoSubscriber},
};
use tracing_subscriber::{
    fmt::{MakeWriter, format::FmtSpan},
    util::SubscriberInitExt as _,
};

use super::bench::{Bench, CONSUMER, HandlerError, Kept, apply, run};
use crate::Db;

/// Stands for what a key and a payload can be: personal, secret.
const CANARY: &str = "canary-4711";

#[tokio::test]
async fn a_span_per_message_tells_consumer_mode_and_outcome() {
    let bench = bench().await;
    let log = Log::start(Level::INFO);

    bench.credit(CANARY).await.unwrap();
    log.expect_span("outcome=\"processed\"");
    bench.credit(CANARY).await.unwrap();
    log.expect_span("outcome=\"duplicate\"");
    let failing = bench.deliver("m2", async |_| Err(HandlerError::Business));
    failing.await.unwrap_err();
    log.expect_span("outcome=\"failed\"");
    let committing = bench.deliver("m3", async |connection| {
        sqlx::raw_sql("rollback").execute(connection).await?;
        Ok(())
    });
    committing.await.unwrap_err();
    log.expect_span("outcome=\"transaction ended\"");

    bench.observe("drop table inbox").await;
    bench.credit("m4").await.unwrap_err();
    log.expect_span("outcome=\"schema\"");
}

/// What a body logs is found by its message.
#[tokio::test]
async fn the_body_runs_in_the_span_of_its_message() {
    let bench = bench().await;
    let log = Log::start(Level::INFO);
    handle(&bench.inbox, CANARY, &ONE).await.unwrap();
    let line = log.line_with("the body says hello");
    let digest = Key::new(CANARY).unwrap().short_digest();
    for part in ["consumer=\"credit\"", "mode=\"transactional\"", &digest] {
        assert!(line.contains(part), "{part} in {line}");
    }
    bench.expect(CANARY, Kept::Once).await;
}

/// Errors with a row, a statement and a source pass by, and texts of the application's own.
#[tokio::test]
async fn neither_key_nor_body_is_logged_above_debug() {
    let bench = bench().await;
    let log = Log::start(Level::INFO);

    let refused = bench.deliver(CANARY, async |connection| {
        // The database's text and detail name the values.
        run(
            connection,
            "insert into orders values (1, 'canary-4711', null)",
        )
        .await?;
        Ok(())
    });
    refused.await.unwrap_err();
    let swallowed = bench.deliver(CANARY, async |connection| {
        run(
            connection,
            "insert into orders values (1, 'canary-4711', null)",
        )
        .await
        .ok();
        sqlx::raw_sql("rollback").execute(connection).await.ok();
        Ok(())
    });
    swallowed.await.unwrap_err();
    let committed = bench.deliver(CANARY, async |connection| {
        sqlx::raw_sql("commit").execute(connection).await?;
        Err(HandlerError::Database(sqlx::Error::Configuration(
            CANARY.into(),
        )))
    });
    let error = committed.await.unwrap_err();
    tracing::error!("{error}");
    bench.observe("delete from ledger").await;
    bench.credit(CANARY).await.unwrap();
    bench.credit(CANARY).await.unwrap();
    bench.inbox.status(CONSUMER, CANARY).await.unwrap();

    let said = log.all();
    assert!(!said.contains(CANARY), "{said}");
    let digest = Key::new(CANARY).unwrap().short_digest();
    assert!(said.contains(&digest), "{digest} in {said}");
}

#[tokio::test]
async fn at_debug_the_key_can_be_seen() {
    let bench = bench().await;
    let log = Log::start(Level::DEBUG);
    bench.credit(CANARY).await.unwrap();
    log.line_with(CANARY);
}

static ONE: Site = Site::new("app::credits", "credit", "src/credits.rs", 12);
static TWO: Site = Site::new("app::mails", "send", "src/mails.rs", 7);

#[tokio::test]
async fn two_handlers_with_one_consumer_name_warn_once_and_name_both_places() {
    let bench = bench().await;
    let log = Log::start(Level::WARN);
    handle(&bench.inbox, "m1", &ONE).await.unwrap();
    handle(&bench.inbox, "m2", &ONE).await.unwrap();
    assert_eq!(log.all(), "", "one handler is no accident");

    // By design: one name is one consumer. That is why it warns.
    assert_eq!(
        handle(&bench.inbox, "m1", &TWO).await.unwrap(),
        Outcome::Duplicate
    );
    let warning = log.line_with("WARN");
    for part in [
        "credit",
        "app::credits::credit (src/credits.rs:12)",
        "app::mails::send (src/mails.rs:7)",
    ] {
        assert!(warning.contains(part), "{part} in {warning}");
    }

    for site in [&TWO, &ONE] {
        handle(&bench.inbox, "m3", site).await.unwrap();
    }
    assert_eq!(log.all(), warning, "once is enough");
    assert_eq!(bench.effects("m1").await, 1);
}

/// A bench on which our places in the code have been met.
async fn bench() -> Bench {
    let bench = Bench::new().await;
    bench.credit("warm").await.unwrap();
    bench
}

/// What the attribute makes of a handler declared at that place.
async fn handle(
    inbox: &Inbox<Db>,
    key: &str,
    site: &'static Site,
) -> Result<Outcome<()>, HandlerError> {
    match begin(inbox, CONSUMER, Key::new(key), site).await? {
        Begin::Duplicate => Ok(Outcome::Duplicate),
        Begin::Fresh(mut claimed) => {
            let result = in_span(body_span(&claimed), async {
                tracing::info!("the body says hello");
                apply(claimed.connection(), key).await
            })
            .await;
            claimed.settle(result.map_err(HandlerError::from)).await
        }
    }
}

/// Everything this thread logs, for as long as this lives.
struct Log {
    text: Text,
    _guard: DefaultGuard,
}

#[derive(Clone, Default)]
struct Text(Arc<Mutex<Vec<u8>>>);

/// While there is one subscriber in the process, `tracing` lets the thread that first comes to a place in the code
/// decide for all threads whether that place is of interest, and threads of other tests have no subscriber.
static SECOND: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(NoSubscriber::new()));

impl Log {
    fn start(level: Level) -> Self {
        LazyLock::force(&SECOND);
        let text = Text::default();
        let guard = tracing_subscriber::fmt()
            .with_max_level(level)
            .with_span_events(FmtSpan::CLOSE)
            .with_ansi(false)
            .without_time()
            .with_writer(text.clone())
            .set_default();
        Self {
            text,
            _guard: guard,
        }
    }

    fn all(&self) -> String {
        String::from_utf8(self.text.0.lock().unwrap().clone()).unwrap()
    }

    fn line_with(&self, part: &str) -> String {
        let all = self.all();
        let line = all.split_inclusive('\n').find(|line| line.contains(part));
        line.unwrap_or_else(|| panic!("{part:?} in {all}"))
            .to_owned()
    }

    /// That the last span that ended is a message's and has this field.
    fn expect_span(&self, field: &str) {
        let all = self.all();
        let last = all.lines().rfind(|line| line.contains("close"));
        let last = last.unwrap_or_else(|| panic!("a span in {all}"));
        for part in [
            "consumer=\"credit\"",
            "mode=\"transactional\"",
            "attempt=1",
            field,
        ] {
            assert!(last.contains(part), "{part} in {last}");
        }
    }
}

impl io::Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Text {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
