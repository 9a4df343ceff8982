//! Run 11: who comes second waits for the first, and learns how it ended.

use std::{
    error::Error as _,
    time::{Duration, Instant},
};

use anyhow::bail;
use inbox_sqlx::{Begin, Disposition, Error, Inbox, Outcome};
use tokio::{sync::oneshot, time::sleep};

use super::{BALANCE, CREDIT, MARKERS, Run};
use crate::{
    bench::Bench,
    lab::{Lab, Writers},
    page,
};

pub(crate) const RUN: Run = Run {
    number: 11,
    title: "the second waits for the first",
    about: "A has claimed the message and works on it, and B gets a copy. Is it a duplicate?\n\
            Nobody knows yet: that depends on whether A will commit. So B has to wait.",
};

/// How long A works; for the last part, longer than [`PATIENCE`].
const WORK: Duration = Duration::from_millis(600);
const LONG_WORK: Duration = Duration::from_millis(1600);

/// The shortest `claim_timeout` that means the same on all three: MariaDB counts whole seconds.
const PATIENCE: Duration = Duration::from_secs(1);

/// How A ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Commit,
    Rollback,
}

/// What B learned, and when.
struct Learned {
    answer: Result<Outcome<u64>, Error>,
    /// Whether A had set out to end its transaction by then.
    after_the_end: bool,
}

pub(crate) async fn run<DB: Lab>(bench: &mut Bench<DB>) -> anyhow::Result<()> {
    if DB::WRITERS == Writers::One {
        page::say("SQLite has one writer at a time, so B waits already at `begin immediate`.\n");
    }
    let patient = bench.second_inbox().await?;
    page::say("A commits:");
    let b = race(bench, &patient, "m-11", WORK, Ending::Commit).await?;
    let balance = bench.look(BALANCE).await?;
    bench.claim(
        matches!(b.answer, Ok(Outcome::Duplicate)) && b.after_the_end,
        "B waited for A's commit and learned: a duplicate",
    );
    bench.claim(balance == 10, "one credit");

    page::part("A rolls back:");
    let b = race(bench, &patient, "m-12", WORK, Ending::Rollback).await?;
    let (balance, markers) = (bench.look(BALANCE).await?, bench.look(MARKERS).await?);
    bench.claim(
        matches!(b.answer, Ok(Outcome::Processed(1))) && b.after_the_end,
        "B waited for A's rollback, learned that the message is free, and processed it",
    );
    bench.claim(balance == 20 && markers == 2, "one more credit, B's");

    page::part("A commits, but later than B may wait (claim_timeout, here one second):");
    let hasty = Inbox::builder()
        .table("experiments_inbox")
        .claim_timeout(PATIENCE)
        .connect(bench.url())
        .await?;
    let b = race(bench, &hasty, "m-13", LONG_WORK, Ending::Commit).await?;
    let balance = bench.look(BALANCE).await?;
    let retry = b.answer.is_err_and(|error| {
        error.is_transient() && matches!(Disposition::of(&error), Disposition::Retry { .. })
    });
    bench.claim(
        retry && !b.after_the_end,
        "B learned that nobody knows yet: no acknowledgement, deliver it again later",
    );
    bench.claim(balance == 30, "one more credit, A's");
    Ok(())
}

/// A claims the message and works; B comes while it does; C looks at who waits.
async fn race<DB: Lab>(
    bench: &mut Bench<DB>,
    second: &Inbox<DB>,
    key: &'static str,
    work: Duration,
    ending: Ending,
) -> anyhow::Result<Learned> {
    let first = bench.inbox();
    let start = Instant::now();
    let (claimed, a_has_claimed) = oneshot::channel();
    let a = async {
        let Begin::Fresh(mut tx) = first.begin("credit", key).await? else {
            bail!("A did not get the message")
        };
        tell(start, "A", "claims the message: it is fresh");
        if claimed.send(()).is_err() {
            bail!("B does not wait for A");
        }
        DB::execute(tx.connection(), CREDIT).await?;
        sleep(work).await;
        let ended = Instant::now();
        match ending {
            Ending::Commit => {
                tell(start, "A", "commits");
                tx.settle(Ok::<_, anyhow::Error>(())).await?;
            }
            Ending::Rollback => {
                tell(start, "A", "rolls back");
                let settled = tx
                    .settle(Err::<(), _>(anyhow::anyhow!("changed my mind")))
                    .await;
                if settled.is_ok() {
                    bail!("A did not roll back");
                }
            }
        }
        Ok(ended)
    };
    let b = async {
        a_has_claimed.await?;
        sleep(Duration::from_millis(50)).await;
        let asked = Instant::now();
        tell(start, "B", "gets a copy and claims it, too");
        let begun = second.begin("credit", key).await;
        let learned = Instant::now();
        let waited = format!("after waiting {} ms", asked.elapsed().as_millis());
        let answer = match begun {
            Ok(Begin::Fresh(mut tx)) => {
                tell(start, "B", &format!("learns {waited}: fresh"));
                let result = DB::execute(tx.connection(), CREDIT)
                    .await
                    .map_err(Error::Database);
                tx.settle(result).await
            }
            Ok(Begin::Duplicate) => {
                tell(start, "B", &format!("learns {waited}: duplicate"));
                Ok(Outcome::Duplicate)
            }
            Err(error) => {
                let mut text = error.to_string();
                if let Some(source) = error.source() {
                    text = format!("{text}: {source}");
                }
                tell(start, "B", &format!("learns {waited}: {text}"));
                Err(error)
            }
        };
        anyhow::Ok((answer, learned))
    };
    let c = async {
        sleep(work / 2).await;
        if let Some(sql) = DB::WAITING {
            let seen = bench.read(sql).await?;
            let seen = seen.as_deref().unwrap_or("nobody waits");
            tell(start, "C", &format!("looks: {seen}"));
        }
        anyhow::Ok(())
    };
    let (a, b, c) = tokio::join!(a, b, c);
    let (ended, (answer, learned)) = (a?, b?);
    c?;
    Ok(Learned {
        answer,
        after_the_end: learned >= ended,
    })
}

fn tell(start: Instant, who: &str, what: &str) {
    page::timed(who, start.elapsed(), what);
}
