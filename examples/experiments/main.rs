//! Experiments on duplicates: what databases really do, and what follows from it.
//!
//! ```text
//! cargo run --example experiments
//! cargo run --example experiments -- 1 3 9
//! cargo run --features postgres,mysql --example experiments -- \
//!     --database postgres://user:password@host/database --database mysql://user:password@host/database
//! ```
//!
//! Each run says what it is about, shows every statement together with what the database answered, and then
//! checks its own claims: if one does not hold on your database, it says so and the exit code is not zero.
//! `A` and `B` are two consumers, each on a connection of its own; `C` looks on from a third.
//!
//! Nothing has to be set up: without `--database` everything happens in a SQLite file that is gone
//! afterwards. Other databases get tables called `experiments_*` and lose them again.

#![expect(clippy::print_stdout, reason = "this program's work is what it prints")]

mod bench;
#[path = "../support/database.rs"]
mod database;
mod lab;
#[path = "../support/outcome.rs"]
mod outcome;
mod page;
mod runs;

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;

use crate::{
    bench::Bench,
    database::Database,
    lab::Lab,
    runs::{RUNS, Run},
};

/// Experiments on duplicates: each shows what the database answers, and checks what it claims.
#[derive(Parser)]
struct Arguments {
    /// Which runs, by number [default: all]
    #[arg(value_name = "RUN")]
    runs: Vec<u32>,

    /// Where, as a URL; may be repeated [default: a SQLite file in a temporary folder]
    #[arg(long, value_name = "URL")]
    database: Vec<String>,
}

/// How one run went on one database.
struct Finding {
    run: &'static Run,
    database: &'static str,
    holds: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    outcome::exit_code(experiment(Arguments::parse()).await)
}

async fn experiment(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let runs = chosen(&arguments.runs)?;
    // Kept until the end: dropping it deletes the database.
    let folder = tempfile::tempdir()?;
    let mut urls = arguments.database;
    if urls.is_empty() {
        let file = folder.path().join("experiments.sqlite");
        urls.push(format!("sqlite://{}?mode=rwc", file.display()));
    }

    let mut findings = Vec::new();
    for url in urls {
        match Database::of(&url)? {
            Database::Sqlite => perform::<sqlx::Sqlite>(&url, &runs, &mut findings).await?,
            #[cfg(feature = "postgres")]
            Database::Postgres => perform::<sqlx::Postgres>(&url, &runs, &mut findings).await?,
            #[cfg(feature = "mysql")]
            Database::MySql => perform::<sqlx::MySql>(&url, &runs, &mut findings).await?,
        }
    }

    println!();
    for Finding {
        run,
        database,
        holds,
    } in &findings
    {
        let mark = if *holds { "✓" } else { "✗" };
        println!("{mark} {:>2}  {database:<14} {}", run.number, run.title);
    }
    let failed = findings.iter().filter(|finding| !finding.holds).count();
    if failed == 0 {
        println!("\nEverything that was claimed was seen.");
        return Ok(ExitCode::SUCCESS);
    }
    println!(
        "\n{failed} of {} did not show what they claim.",
        findings.len()
    );
    Ok(ExitCode::FAILURE)
}

/// Does the runs on one database, each with tables of its own.
async fn perform<DB: Lab>(
    url: &str,
    runs: &[&'static Run],
    findings: &mut Vec<Finding>,
) -> anyhow::Result<()> {
    for run in runs {
        page::title(run, DB::TITLE);
        let mut bench = Bench::<DB>::set_up(url).await?;
        let result = runs::perform(run, &mut bench).await;
        let holds = bench.clear_away().await?;
        if let Err(error) = &result {
            page::failed(error);
        }
        findings.push(Finding {
            run,
            database: DB::TITLE,
            holds: holds && result.is_ok(),
        });
    }
    Ok(())
}

fn chosen(numbers: &[u32]) -> anyhow::Result<Vec<&'static Run>> {
    if numbers.is_empty() {
        return Ok(RUNS.iter().collect());
    }
    let find = |number: &u32| {
        RUNS.iter()
            .find(|run| run.number == *number)
            .with_context(|| {
                let known: Vec<_> = RUNS.iter().map(|run| run.number.to_string()).collect();
                format!("there is no run {number}; there are {}", known.join(", "))
            })
    };
    numbers.iter().map(find).collect()
}
