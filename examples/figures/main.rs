//! The figures that the documentation quotes, measured here and now.
//!
//! ```text
//! cargo run --release --example figures -- --rows 2000000 --stale 100000 --seconds 10
//! cargo run --release --features postgres --example figures -- --database postgres://user:password@host/database
//! ```
//!
//! 1. Claims while a pruner deletes half of the markers, against claims without it.
//! 2. A sweep of abandoned claims by two sweepers: each row once, or the exit code is not zero.
//!
//! By default it is small and takes a few seconds. It works in a table of its own, `figures_inbox`, which it drops.

#![expect(clippy::print_stdout, reason = "an example prints what it shows")]

#[path = "../support/database.rs"]
mod database;
#[path = "../support/outcome.rs"]
mod outcome;

use std::{
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::Context as _;
use clap::Parser;
use inbox_sqlx::{Backend, Begin, Inbox, Retention, Sweeper};
use sqlx::{AssertSqlSafe, Executor, Pool};

use database::Database;

/// What to measure, and where.
#[derive(Debug, Clone, Parser)]
struct Arguments {
    /// A database to work in instead of a temporary SQLite file.
    #[arg(long)]
    database: Option<String>,
    /// How many markers to prune half of.
    #[arg(long, default_value_t = 100_000)]
    rows: u64,
    /// How many abandoned claims to sweep.
    #[arg(long, default_value_t = 10_000)]
    stale: u64,
    /// How long to measure claims without a pruner.
    #[arg(long, default_value_t = 3)]
    seconds: u64,
}

#[tokio::main]
async fn main() -> ExitCode {
    outcome::exit_code(run(Arguments::parse()).await)
}

async fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("figures.sqlite");
    let url = match &arguments.database {
        Some(url) => url.clone(),
        None => format!("sqlite://{}?mode=rwc", file.display()),
    };
    match Database::of(&url)? {
        Database::Sqlite => measure::<sqlx::Sqlite>(&url, &arguments, SQLITE).await,
        #[cfg(feature = "postgres")]
        Database::Postgres => measure::<sqlx::Postgres>(&url, &arguments, POSTGRES).await,
        #[cfg(feature = "mysql")]
        Database::MySql => measure::<sqlx::MySql>(&url, &arguments, MYSQL).await,
    }
}

/// How the databases say "three days ago".
const SQLITE: &str = "cast((julianday('now') - 3 - 2440587.5) * 86400000 as integer)";
#[cfg(feature = "postgres")]
const POSTGRES: &str = "now() - interval '3 days'";
#[cfg(feature = "mysql")]
const MYSQL: &str = "utc_timestamp(6) - interval 3 day";

/// Pairs of numbers, `{thousands}` times a thousand of them: short enough a recursion for every server.
const PAIRS: &str = "with recursive n (i) as (select 1 union all select i + 1 from n where i < 1000), \
                     m (j) as (select 1 union all select j + 1 from m where j < {thousands})";

async fn measure<DB: Backend>(
    url: &str,
    arguments: &Arguments,
    then: &str,
) -> anyhow::Result<ExitCode>
where
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
{
    let inbox = Inbox::<DB>::builder()
        .table("figures_inbox")
        .connect(url)
        .await
        .context("connecting")?;
    let drop =
        "drop table if exists figures_inbox; drop table if exists figures_inbox_schema_version";
    execute(inbox.pool(), drop).await?;
    inbox.install().await?;
    println!("{}, {:?}", DB::NAME, inbox.table().to_string());

    let pruned = prune(&inbox, arguments, then).await?;
    let swept = sweep(&inbox, arguments, then).await?;
    execute(inbox.pool(), drop).await?;
    Ok(if pruned && swept {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

async fn execute<DB: Backend>(pool: &Pool<DB>, statement: &str) -> anyhow::Result<()>
where
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
{
    let mut connection = pool.acquire().await?;
    sqlx::raw_sql(AssertSqlSafe(statement.to_owned()))
        .execute(&mut *connection)
        .await?;
    Ok(())
}

async fn prune<DB: Backend>(
    inbox: &Inbox<DB>,
    arguments: &Arguments,
    then: &str,
) -> anyhow::Result<bool>
where
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
{
    let half = thousands(arguments.rows / 2)?;
    println!("\nfilling in {} markers, half of them old ...", 2000 * half);
    let pairs = PAIRS.replace("{thousands}", &half.to_string());
    for statement in [
        format!(
            "insert into figures_inbox (message_id, consumer, received_at, processed_at) {pairs} \
             select concat('old-', i, '-', j), 'figures', {then}, {then} from n cross join m"
        ),
        format!(
            "insert into figures_inbox (message_id, consumer) {pairs} \
             select concat('new-', i, '-', j), 'figures' from n cross join m"
        ),
    ] {
        execute(inbox.pool(), &statement).await?;
    }

    let alone = claims(inbox, "alone", async {
        tokio::time::sleep(Duration::from_secs(arguments.seconds)).await;
        Ok(())
    })
    .await?;
    let retention = Retention::builder()
        .lock_timeout(Duration::from_mins(1))
        .max_deliveries(10)
        .message_ttl(Duration::from_hours(12))
        .build()?;
    let old = inbox.prunable(&retention).await?;
    let mut deleted = 0;
    let beside = claims(inbox, "beside", async {
        deleted = inbox.prune(&retention).await?.deleted;
        Ok(())
    })
    .await?;

    println!(
        "claims                  {:>10} {:>10} {:>10}",
        "per second", "p50", "p99"
    );
    for (name, claims) in [("without a pruner", &alone), ("beside a pruner", &beside)] {
        println!(
            "{name:<22} {:>11.0} {:>10.2?} {:>10.2?}",
            claims.per_second, claims.p50, claims.p99
        );
    }
    println!(
        "pruned {deleted} of {} in {:.1?}; p99 {:.2} times that without",
        2000 * half,
        beside.took,
        beside.p99.as_secs_f64() / alone.p99.as_secs_f64()
    );
    Ok(deleted == old)
}

/// What a row of claims took.
struct Claims {
    took: Duration,
    per_second: f64,
    p50: Duration,
    p99: Duration,
}

/// Claims and commits fresh messages, one after the other, for as long as something else takes.
async fn claims<DB: Backend>(
    inbox: &Inbox<DB>,
    name: &'static str,
    meanwhile: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<Claims> {
    let stop = Arc::new(AtomicBool::new(false));
    let (inbox, stopped) = (inbox.clone(), Arc::clone(&stop));
    let started = Instant::now();
    let worker = tokio::spawn(async move {
        let mut times = Vec::new();
        while !stopped.load(Ordering::Relaxed) {
            let key = format!("{name}-{}", times.len());
            let began = Instant::now();
            if let Begin::Fresh(claimed) = inbox.begin("figures", &key).await? {
                claimed.settle(Ok::<_, sqlx::Error>(())).await?;
            }
            times.push(began.elapsed());
        }
        anyhow::Ok(times)
    });
    meanwhile.await?;
    stop.store(true, Ordering::Relaxed);
    let mut times = worker.await??;
    let took = started.elapsed();
    times.sort();
    let at = |share: f64| -> Duration {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            clippy::cast_sign_loss,
            reason = "a place in a list"
        )]
        let place = (times.len() as f64 * share) as usize;
        times.get(place).copied().unwrap_or_default()
    };
    #[expect(clippy::cast_precision_loss, reason = "a figure to read")]
    let count = times.len() as f64;
    Ok(Claims {
        took,
        per_second: count / took.as_secs_f64(),
        p50: at(0.5),
        p99: at(0.99),
    })
}

async fn sweep<DB: Backend>(
    inbox: &Inbox<DB>,
    arguments: &Arguments,
    then: &str,
) -> anyhow::Result<bool>
where
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
{
    let thousands = thousands(arguments.stale)?;
    let stale = 1000 * thousands;
    println!("\nfilling in {stale} abandoned claims ...");
    let pairs = PAIRS.replace("{thousands}", &thousands.to_string());
    let insert = format!(
        "insert into figures_inbox (message_id, consumer, state, processed_at, lease_until, \
         first_call_at, on_unknown, max_attempts) {pairs} \
         select concat('stale-', i, '-', j), 'figures', 0, null, {then}, {then}, 0, 5 \
         from n cross join m"
    );
    execute(inbox.pool(), &insert).await?;
    let started = Instant::now();
    let (one, other) = (Sweeper::new(inbox), Sweeper::new(inbox));
    let (one, other) = tokio::try_join!(one.sweep_once(), other.sweep_once())?;
    let parked = one.parked + other.parked;
    println!(
        "two sweepers parked {} and {}: {parked} of {stale}, in {:.1?}",
        one.parked,
        other.parked,
        started.elapsed()
    );
    Ok(parked == stale)
}

/// Rows are made by the thousand.
fn thousands(rows: u64) -> anyhow::Result<u64> {
    match rows / 1000 {
        count @ 1..=1000 => Ok(count),
        _ => anyhow::bail!("{rows} rows: from a thousand to a million of one kind, please"),
    }
}
