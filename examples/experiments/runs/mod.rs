//! The runs, by the numbers they have in the article. 5, 6 and 8 need what comes later.

mod r01_check_then_insert;
mod r02_unique_index;
mod r03_one_transaction;
mod r04_retry;
mod r07_two_phase;
mod r09_outside;
mod r10_drivers;
mod r11_waiting;

use crate::{
    bench::{Bench, Consumer},
    lab::{Lab, Writers},
};

/// One experiment.
pub(crate) struct Run {
    pub(crate) number: u32,
    pub(crate) title: &'static str,
    /// What happens and why it matters, in plain words.
    pub(crate) about: &'static str,
}

pub(crate) const RUNS: [Run; 8] = [
    r01_check_then_insert::RUN,
    r02_unique_index::RUN,
    r03_one_transaction::RUN,
    r04_retry::RUN,
    r07_two_phase::RUN,
    r09_outside::RUN,
    r10_drivers::RUN,
    r11_waiting::RUN,
];

/// Does one of [`RUNS`].
pub(crate) async fn perform<DB: Lab>(run: &Run, bench: &mut Bench<DB>) -> anyhow::Result<()> {
    match run.number {
        1 => r01_check_then_insert::run(bench).await,
        2 => r02_unique_index::run(bench).await,
        3 => r03_one_transaction::run(bench).await,
        4 => r04_retry::run(bench).await,
        7 => r07_two_phase::run(bench).await,
        9 => r09_outside::run(bench).await,
        10 => r10_drivers::run(bench).await,
        11 => r11_waiting::run(bench).await,
        number => anyhow::bail!("there is no run {number}"),
    }
}

/// Two consumers look for the marker of `m-1`, one after the other and before either writes. Whether both
/// saw nothing.
///
/// They look inside of their transactions, which does not help, at READ COMMITTED or above it. On SQLite
/// they look before: a second transaction that is going to write would not even begin, and one that began
/// as a reader would be broken off, see run 4.
async fn look_together<DB: Lab>(a: &mut Consumer<DB>, b: &mut Consumer<DB>) -> sqlx::Result<bool> {
    let mut seen = 0;
    for consumer in [a, b] {
        if DB::WRITERS != Writers::One {
            consumer.run(DB::BEGIN).await?;
        }
        seen += consumer.count(LOOK).await?;
    }
    Ok(seen == 0)
}

/// Begins, if that was not done before [`look_together`].
async fn begin_after_looking<DB: Lab>(consumer: &mut Consumer<DB>) -> sqlx::Result<()> {
    if DB::WRITERS == Writers::One {
        consumer.run(DB::BEGIN).await?;
    }
    Ok(())
}

// What several runs say to the database.
const LOOK: &str = "select count(*) from experiments_seen where message_id = 'm-1'";
const MARK: &str = "insert into experiments_seen (message_id) values ('m-1')";
const BALANCE: &str = "select balance from experiments_accounts where id = 1";
const CREDIT: &str = "update experiments_accounts set balance = balance + 10 where id = 1";
const SEEN: &str = "select count(*) from experiments_seen";
const MARKERS: &str = "select count(*) from experiments_inbox";
const UNIQUE: &str =
    "create unique index experiments_seen_message_id_key on experiments_seen (message_id)";
