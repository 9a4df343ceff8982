//! Two processes send mails, and nobody gets one twice, and none is forgotten: what can be promised about an
//! effect outside the database, and what cannot.
//!
//! ```text
//! cargo run --example email
//! ```
//!
//! The main process plays the broker. It delivers 300 receipts at least once to two instances of one
//! consumer, each an operating system process of its own. A third process plays the mail provider, which
//! knows nothing of our database: it refuses some calls, never answers others, answers when the caller has
//! given up, or sends the mail and drops the answer. And one instance is killed while it calls.
//!
//! After a call without an answer nobody knows whether the mail was sent. There are two honest ways to go on,
//! and this program shows both: `on_unknown = park` repeats nothing and asks a person, `on_unknown = retry`
//! calls again with the same idempotency key. In the end, an operator looks at what is parked and decides by
//! the provider's log. If a mail was sent twice, or a message acknowledged and never sent, the exit code says
//! so.
//!
//! Read `handler.rs` first, then `mailer.rs`: those two are what a service would have.
//!
//! Nothing has to be set up: without arguments it works on a SQLite file that is gone afterwards. For the
//! others, which get tables called `email_demo_*` and lose them again:
//!
//! ```text
//! cargo run --features postgres --example email -- --database postgres://user:password@host/database
//! cargo run --features mysql --example email -- --database mysql://user:password@host/database
//! ```

#![expect(clippy::print_stdout, reason = "this program's work is what it prints")]

mod broker;
#[path = "../support/database.rs"]
mod database;
mod handler;
mod instance;
mod mailer;
mod operator;
#[path = "../support/outcome.rs"]
mod outcome;
#[path = "../support/process.rs"]
mod process;
mod protocol;
mod provider;
mod receipt;
mod report;
#[path = "../support/table.rs"]
mod table;
mod tables;

use std::{collections::BTreeSet, process::ExitCode, time::Instant};

use anyhow::{Context as _, bail};
use clap::{Parser, Subcommand};
use inbox_sqlx::{Backend, Inbox};

use crate::{
    broker::Broker,
    database::Database,
    handler::Mode,
    process::{Process, Said},
    protocol::{Log, Opened, Opening, ShowLog, Start},
    receipt::Scenario,
    report::Run,
};

const TABLE_PREFIX: &str = "email_demo_";
const TABLE: &str = "email_demo_inbox";
const DROP: &str = "
    drop table if exists email_demo_inbox;
    drop table if exists email_demo_inbox_schema_version;
";

/// Sends receipts through a mail provider that fails, hangs and answers late: once a person decides about
/// what nobody knows, and once it is tried again.
#[derive(Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,

    /// Where to work, as a URL [default: a SQLite file in a temporary folder]
    #[arg(long, value_name = "URL")]
    database: Option<String>,
}

#[derive(Subcommand)]
enum Command {
    /// One consumer process; the broker starts it and talks to it over stdin and stdout
    #[command(hide = true)]
    Instance,
    /// The mail provider's process
    #[command(hide = true)]
    Provider,
}

#[tokio::main]
async fn main() -> ExitCode {
    outcome::exit_code(run(Arguments::parse()).await)
}

async fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    match arguments.command {
        Some(Command::Instance) => instance::main().await,
        Some(Command::Provider) => provider::main().await,
        None => {
            // Kept until the end: dropping it deletes the database.
            let folder = tempfile::tempdir()?;
            let url = arguments.database.unwrap_or_else(|| {
                let file = folder.path().join("email.sqlite");
                format!("sqlite://{}?mode=rwc", file.display())
            });
            match Database::of(&url)? {
                Database::Sqlite => compare::<sqlx::Sqlite>("SQLite", &url).await,
                #[cfg(feature = "postgres")]
                Database::Postgres => compare::<sqlx::Postgres>("PostgreSQL", &url).await,
                #[cfg(feature = "mysql")]
                Database::MySql => compare::<sqlx::MySql>("MySQL/MariaDB", &url).await,
            }
        }
    }
}

/// Sends everything in both modes, and leaves nothing behind.
async fn compare<DB: Backend>(name: &str, url: &str) -> anyhow::Result<ExitCode> {
    let scenario = Scenario::new();
    let inbox = Inbox::<DB>::builder().table(TABLE).connect(url).await?;
    report::announce(name, &scenario);

    let runs = async {
        let park = send_all(&inbox, url, Mode::Park, &scenario).await?;
        let retry = send_all(&inbox, url, Mode::Retry, &scenario).await?;
        anyhow::Ok([park, retry])
    };
    let runs = runs.await;
    tables::execute(url, DROP).await?;

    let runs = runs?;
    report::print(&scenario, &runs);
    Ok(report::exit_code(&runs))
}

/// Delivers everything. As long as there are dead letters, the operator decides about what is parked, and they
/// are delivered again.
async fn send_all<DB: Backend>(
    inbox: &Inbox<DB>,
    url: &str,
    mode: Mode,
    scenario: &Scenario,
) -> anyhow::Result<Run> {
    tables::execute(url, DROP).await?;
    inbox.install().await?;
    inbox.verify().await?;
    let (mut provider, port) = Provider::start(mode, scenario).await?;
    let began = Instant::now();
    let start = Start {
        database: url.to_owned(),
        mode,
        provider: port,
    };
    let mut broker = Broker::new(start, &scenario.receipts).await?;
    let mut cases = Vec::new();
    let mut lost = BTreeSet::new();
    broker.deliver().await?;
    // Once is enough, unless this machine is so slow that calls time out which should not.
    while broker.has_dead_letters() {
        if cases.len() > scenario.receipts.len() {
            bail!("the operator decides and decides, and it does not get less");
        }
        let log = provider.log().await?;
        lost.extend(report::lost(broker.acknowledged(), &log, &cases));
        let decided = operator::decide(inbox, &log).await?;
        broker.say(&report::cases(mode, &decided));
        cases.extend(decided);
        broker.redrive();
        broker.deliver().await?;
    }
    let deliveries = broker.end().await?;
    let log = provider.log().await?;
    lost.extend(report::lost(&deliveries.acknowledged, &log, &cases));
    let unfinished = inbox.unfinished().await?;
    Ok(Run {
        mode,
        deliveries,
        cases,
        log,
        lost,
        unfinished: unfinished.iter().map(|state| state.count).sum(),
        time: began.elapsed(),
    })
}

/// The mail provider's process.
struct Provider {
    process: Process,
    said: Said,
}

impl Provider {
    /// Starts it, and says where it listens.
    async fn start(mode: Mode, scenario: &Scenario) -> anyhow::Result<(Self, u16)> {
        let (mut process, mut said) = Process::start("provider")?;
        let opening = Opening {
            knows_keys: mode.provider_knows_keys(),
            troubles: scenario.troubles.clone(),
        };
        process.tell(&opening).await?;
        let opened: Option<Opened> = said.next().await;
        let Opened { port } = opened.context("the provider did not open")?;
        Ok((Self { process, said }, port))
    }

    /// What it has done, as soon as nothing is on its way any more.
    async fn log(&mut self) -> anyhow::Result<Log> {
        self.process.tell(&ShowLog).await?;
        self.said.next().await.context("the provider is gone")
    }
}
