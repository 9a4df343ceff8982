//! What it all comes to: the table, a sentence, and the exit code.

use std::{collections::BTreeMap, process::ExitCode};

use comfy_table::{Table, presets::UTF8_FULL_CONDENSED};

use crate::{
    bank::{Handler, Tally},
    broker::Deliveries,
    message::Credit,
    table::{cells, count},
};

/// One handler's run.
pub(crate) struct Run {
    pub(crate) deliveries: Deliveries,
    pub(crate) tally: Tally,
}

impl Run {
    fn credits(&self) -> i64 {
        self.tally.credits.values().sum()
    }

    fn money(&self) -> i64 {
        self.tally.balances.values().sum()
    }

    fn is_right(&self, messages: i64, expected: &BTreeMap<i64, i64>) -> bool {
        self.tally.balances == *expected
            && self.tally.doubled == 0
            && self.credits() == messages
            && self.tally.markers == messages
    }
}

/// Both runs, and what they should have come to.
pub(crate) struct Report<'a> {
    pub(crate) lines: &'a [Credit],
    pub(crate) expected: BTreeMap<i64, i64>,
    pub(crate) naive: Run,
    pub(crate) idempotent: Run,
}

/// Says what is going to happen.
pub(crate) fn announce(database: &str, lines: &[Credit], expected: &BTreeMap<i64, i64>) {
    let together = lines.windows(2).filter(|pair| pair[0] == pair[1]).count();
    let copies = lines
        .len()
        .saturating_sub(messages(lines).try_into().unwrap_or(0));
    println!(
        "A broker delivers {} credits for {} accounts to two processes, on {database}.\n\
         {copies} of them arrive twice: {together} as two copies at the same moment, one for each\n\
         process, the others later. Tables called credit_demo_* are made for this, and\n\
         dropped afterwards.\n",
        count(messages(lines)),
        expected.len(),
    );
}

impl Report<'_> {
    pub(crate) fn print(&self) {
        let messages = messages(self.lines);
        let money: i64 = self.expected.values().sum();
        let runs = [&self.naive, &self.idempotent];

        let mut table = Table::new();
        table.load_style(UTF8_FULL_CONDENSED);
        table.set_header(cells(
            "",
            [Handler::CheckThenInsert, Handler::Idempotent]
                .map(|handler| handler.name().to_owned()),
        ));
        let mut row = |label: &str, value: &dyn Fn(&Run) -> String| {
            table.add_row(cells(label, runs.map(value)));
        };
        row("messages", &|_| count(messages));
        row("deliveries", &|run| count(run.deliveries.total));
        row("  acknowledgement lost", &|run| {
            count(run.deliveries.lost_acknowledgements)
        });
        row("  killed while working", &|run| {
            count(run.deliveries.killed)
        });
        row("  failed, delivered again", &|run| {
            count(run.deliveries.failed)
        });
        row("credits applied", &|run| count(run.credits()));
        for instance in [1, 2] {
            row(&format!("  by instance {instance}"), &|run| {
                count(
                    run.tally
                        .credits
                        .get(&instance)
                        .copied()
                        .unwrap_or_default(),
                )
            });
        }
        row("duplicates refused", &|run| {
            count(run.deliveries.duplicates.iter().sum::<u32>())
        });
        for instance in [1, 2] {
            row(&format!("  by instance {instance}"), &|run| {
                count(run.deliveries.duplicates[instance - 1])
            });
        }
        row("messages credited twice", &|run| count(run.tally.doubled));
        row("markers", &|run| count(run.tally.markers));
        row("money expected", &|_| amount(money));
        row("money found", &|run| amount(run.money()));
        row("difference", &|run| amount(run.money() - money));
        row("time", &|run| {
            format!("{:.1} s", run.deliveries.time.as_secs_f64())
        });
        println!("{table}\n");

        let created = self.naive.money() - money;
        if self.naive.is_right(messages, &self.expected) {
            println!(
                "check-then-insert happened to be right this time: no two copies met. Run it again."
            );
        } else {
            println!(
                "check-then-insert made {} out of nothing: {} messages were credited twice.",
                amount(created),
                count(self.naive.tally.doubled),
            );
        }
        if self.is_right() {
            println!(
                "#[idempotent] is right to the cent, on each of {} accounts.",
                self.expected.len()
            );
        } else {
            println!("#[idempotent] IS WRONG. This is a bug in inbox; please report it:");
            println!(
                "  {} messages, {} credits, {} markers",
                count(messages),
                count(self.idempotent.credits()),
                count(self.idempotent.tally.markers)
            );
            for (account, expected) in &self.expected {
                let found = self
                    .idempotent
                    .tally
                    .balances
                    .get(account)
                    .copied()
                    .unwrap_or_default();
                if found != *expected {
                    println!(
                        "  account {account}: expected {}, found {}",
                        amount(*expected),
                        amount(found)
                    );
                }
            }
        }
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        if self.is_right() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }

    fn is_right(&self) -> bool {
        self.idempotent
            .is_right(messages(self.lines), &self.expected)
    }
}

/// Messages are what is left of the lines without their copies.
fn messages(lines: &[Credit]) -> i64 {
    let ids: std::collections::HashSet<_> = lines.iter().map(|line| &line.message_id).collect();
    ids.len().try_into().unwrap_or(i64::MAX)
}

/// Cents as `1,234.56`.
fn amount(cents: i64) -> String {
    let sign = if cents < 0 { "-" } else { "" };
    let cents = cents.abs();
    format!("{sign}{}.{:02}", count(cents / 100), cents % 100)
}
