//! Two handlers under one name take each other's messages for duplicates: that is logged, once, with both places.

use std::io;
use std::sync::{Arc, Mutex};

use inbox_sqlx::{Outcome, idempotent};
use sqlx::SqliteConnection;
use tracing_subscriber::fmt::MakeWriter;

use crate::{Credit, CreditError, add, bank, credit};

#[idempotent(consumer = "copied", key = msg.message_id)]
async fn original(tx: &mut SqliteConnection, msg: &Credit) -> Result<(), CreditError> {
    add(tx, msg.amount).await?;
    Ok(())
}

#[idempotent(consumer = "copied", key = msg.message_id)]
async fn copy(tx: &mut SqliteConnection, msg: &Credit) -> Result<(), CreditError> {
    add(tx, msg.amount).await?;
    Ok(())
}

/// Keeps what is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("nobody panics").write(text)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn two_handlers_of_one_name_are_logged_once() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(log.clone())
        .with_ansi(false);
    let _guard = tracing::subscriber::set_default(subscriber.finish());
    let inbox = &bank().await;

    for id in ["m1", "m2"] {
        let msg = &credit(id);
        assert_eq!(original(inbox, msg).await.unwrap(), Outcome::Processed(()));
        assert_eq!(copy(inbox, msg).await.unwrap(), Outcome::Duplicate);
    }
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let warnings: Vec<&str> = log.lines().filter(|line| line.contains(" WARN ")).collect();
    let [warning] = warnings[..] else {
        panic!("{log}");
    };
    for part in [
        "two handlers use one consumer name",
        "copied",
        "same_name::original (tests/handlers/same_name.rs:",
        "same_name::copy (tests/handlers/same_name.rs:",
    ] {
        assert!(warning.contains(part), "{part}: {warning}");
    }
}
