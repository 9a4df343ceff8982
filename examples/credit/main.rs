//! Two processes, one account book, every message delivered at least once: who keeps the money right?
//!
//! ```text
//! cargo run --example credit
//! ```
//!
//! The main process plays the broker. It delivers the 2,000 credits of `examples/data/credits.jsonl` to two
//! instances of one consumer, each an operating system process of its own. As brokers do, it delivers some
//! messages twice: copies that arrive together go to both instances at the same moment, some
//! acknowledgements are lost, and one instance is killed in the middle of its work.
//!
//! It does so twice. First with a handler that looks whether it has seen the message and then inserts,
//! which is what everybody writes, and which creates money. Then with one under `#[idempotent]`, which is
//! right to the cent; if it is not, the exit code says so.
//!
//! Nothing has to be set up: without arguments it works on a SQLite file that is gone afterwards. For the
//! others, which get tables called `credit_demo_*` and lose them again:
//!
//! ```text
//! cargo run --features postgres --example credit -- --database postgres://user:password@host/database
//! cargo run --features mysql --example credit -- --database mysql://user:password@host/database
//! ```
//!
//! The file of messages comes from `cargo run --example credit -- generate --seed 42`.

#![expect(clippy::print_stdout, reason = "this program's work is what it prints")]

mod bank;
mod broker;
#[path = "../support/database.rs"]
mod database;
mod generate;
mod instance;
mod message;
#[path = "../support/outcome.rs"]
mod outcome;
#[path = "../support/process.rs"]
mod process;
mod protocol;
mod report;
#[path = "../support/table.rs"]
mod table;

use std::{path::PathBuf, process::ExitCode};

use anyhow::Context as _;
use clap::{Parser, Subcommand};

use crate::{
    bank::{Bank, Handler},
    broker::Broker,
    database::Database,
    message::Credit,
    report::{Report, Run},
};

const MESSAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/credits.jsonl");

/// Delivers credits at least once to two processes: first to a check-then-insert handler, which creates
/// money, then to an #[idempotent] one, which does not.
#[derive(Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,

    /// Where to work, as a URL [default: a SQLite file in a temporary folder]
    #[arg(long, value_name = "URL")]
    database: Option<String>,

    /// What to deliver, one JSON message per line
    #[arg(long, value_name = "FILE", default_value = MESSAGES, hide_default_value = true)]
    messages: PathBuf,
}

#[derive(Subcommand)]
enum Command {
    /// Write the file of messages; the same seed gives the same file
    Generate {
        /// What all choices follow from
        #[arg(long, default_value_t = 42)]
        seed: u64,
        /// Where to write it
        #[arg(long, value_name = "FILE", default_value = MESSAGES, hide_default_value = true)]
        output: PathBuf,
    },
    /// One consumer process; the broker starts it and talks to it over stdin and stdout
    #[command(hide = true)]
    Instance,
}

#[tokio::main]
async fn main() -> ExitCode {
    outcome::exit_code(run(Arguments::parse()).await)
}

async fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    match arguments.command {
        Some(Command::Generate { seed, output }) => {
            let lines = generate::lines(seed);
            std::fs::write(&output, message::to_text(&lines)?)
                .with_context(|| format!("cannot write {}", output.display()))?;
            println!("{} lines in {}", lines.len(), output.display());
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Instance) => instance::main().await,
        None => {
            let lines = message::read(&arguments.messages)?;
            // Kept until the end: dropping it deletes the database.
            let folder = tempfile::tempdir()?;
            let url = arguments.database.unwrap_or_else(|| {
                let file = folder.path().join("bank.sqlite");
                format!("sqlite://{}?mode=rwc", file.display())
            });
            match Database::of(&url)? {
                Database::Sqlite => compare::<bank::Sqlite>(&url, &lines).await,
                #[cfg(feature = "postgres")]
                Database::Postgres => compare::<bank::Postgres>(&url, &lines).await,
                #[cfg(feature = "mysql")]
                Database::MySql => compare::<bank::MySql>(&url, &lines).await,
            }
        }
    }
}

/// Lets the two handlers compete, and leaves nothing behind.
async fn compare<B: Bank>(url: &str, lines: &[Credit]) -> anyhow::Result<ExitCode> {
    let expected = message::balances(lines);
    let bank = B::open(url).await?;
    report::announce(B::NAME, lines, &expected);

    let accounts: Vec<i64> = expected.keys().copied().collect();
    let runs = async {
        let naive = deliver(&bank, url, Handler::CheckThenInsert, lines, &accounts).await?;
        let idempotent = deliver(&bank, url, Handler::Idempotent, lines, &accounts).await?;
        anyhow::Ok((naive, idempotent))
    };
    let runs = runs.await;
    bank.drop_tables().await?;

    let (naive, idempotent) = runs?;
    let report = Report {
        lines,
        expected,
        naive,
        idempotent,
    };
    report.print();
    Ok(report.exit_code())
}

/// Delivers everything to two instances with one of the handlers, and counts.
async fn deliver<B: Bank>(
    bank: &B,
    url: &str,
    handler: Handler,
    lines: &[Credit],
    accounts: &[i64],
) -> anyhow::Result<Run> {
    bank.create(accounts).await?;
    let deliveries = Broker::new(url, handler, lines)?.deliver().await?;
    let tally = bank.tally(handler).await?;
    Ok(Run { deliveries, tally })
}
