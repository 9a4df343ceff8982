//! What it all comes to: the table, what it means, and the exit code.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::ExitCode,
    time::Duration,
};

use comfy_table::{Table, presets::UTF8_FULL_CONDENSED};

use crate::{
    broker::Deliveries,
    handler::Mode,
    operator::{Case, Decision},
    protocol::{Entry, Log},
    receipt::{Scenario, Trouble},
    table::{cells, count},
};

/// One mode's run.
pub(crate) struct Run {
    pub(crate) mode: Mode,
    pub(crate) deliveries: Deliveries,
    /// What the operator decided.
    pub(crate) cases: Vec<Case>,
    /// The provider's, in the end.
    pub(crate) log: Log,
    /// Messages that were acknowledged, and not sent by then.
    pub(crate) lost: BTreeSet<String>,
    /// Messages that the inbox does not call processed in the end.
    pub(crate) unfinished: u64,
    pub(crate) time: Duration,
}

/// What must not happen, and how often it did.
struct Broken {
    sent_twice: u32,
    lost: u32,
    two_keys: u32,
    unfinished: u32,
}

/// Messages that were acknowledged although no mail was sent, and not because somebody decided so.
pub(crate) fn lost(acknowledged: &BTreeSet<String>, log: &Log, cases: &[Case]) -> BTreeSet<String> {
    let is_sent = |id: &String| log.get(id).is_some_and(|entry| entry.sent > 0);
    let is_discarded = |id: &String| {
        let mut of_it = cases.iter().filter(|case| case.message_id == *id);
        of_it.any(|case| case.decision == Decision::Discard)
    };
    let lost = acknowledged
        .iter()
        .filter(|id| !is_sent(id) && !is_discarded(id));
    lost.cloned().collect()
}

impl Run {
    /// Adds up one number of all messages.
    fn sum(&self, number: impl Fn(&Entry) -> usize) -> u32 {
        self.log
            .values()
            .map(|entry| u32::try_from(number(entry)).unwrap_or(u32::MAX))
            .sum()
    }

    fn trouble(&self, trouble: Trouble) -> u32 {
        self.sum(|entry| entry.troubles.iter().filter(|one| **one == trouble).count())
    }

    fn decided(&self, decision: Decision) -> u32 {
        let decided = self.cases.iter().filter(|case| case.decision == decision);
        u32::try_from(decided.count()).unwrap_or(u32::MAX)
    }

    fn keys(&self) -> u32 {
        let keys: BTreeSet<&String> = self.log.values().flat_map(|one| one.calls.keys()).collect();
        u32::try_from(keys.len()).unwrap_or(u32::MAX)
    }

    fn broken(&self) -> Broken {
        let called = u32::try_from(self.log.len()).unwrap_or(u32::MAX);
        Broken {
            sent_twice: self.sum(|entry| usize::from(entry.sent > 1)),
            lost: u32::try_from(self.lost.len()).unwrap_or(u32::MAX),
            two_keys: called.abs_diff(self.keys()),
            unfinished: u32::try_from(self.unfinished).unwrap_or(u32::MAX),
        }
    }
}

impl Broken {
    fn is_nothing(&self) -> bool {
        let counts = [self.sent_twice, self.lost, self.two_keys, self.unfinished];
        counts.iter().all(|count| *count == 0)
    }
}

/// Says what is going to happen.
pub(crate) fn announce(database: &str, scenario: &Scenario) {
    println!(
        "A broker delivers {} receipts at least once to two processes, which ask a mail provider to\n\
         send them. The provider refuses some calls, never answers others, answers too late, or\n\
         sends the mail and loses the answer; and one process is killed while it calls. Twice:\n\n\
         on_unknown = park    the provider knows no idempotency keys, and a second mail is worse\n\
         \u{20}                    than a question: what is not known is parked, and a person decides\n\
         on_unknown = retry   the provider recognises a key it has seen: what is not known is\n\
         \u{20}                    tried again with the same key\n\n\
         The inbox is on {database}, in tables called {}* that are dropped afterwards.\n",
        count(scenario.messages),
        crate::TABLE_PREFIX,
    );
}

/// What the operator saw in the inbox and in the provider's log, and did about it.
pub(crate) fn cases(mode: Mode, cases: &[Case]) -> String {
    let mut kinds: BTreeMap<(&str, Decision), u32> = BTreeMap::new();
    for case in cases {
        *kinds.entry((&case.error, case.decision)).or_default() += 1;
    }
    let mut lines = vec![format!(
        "{}: a person finds {} parked, and looks into the provider's log:",
        mode.name(),
        cases.len()
    )];
    for ((error, decision), number) in kinds {
        lines.push(format!("{number:>4} × {error:<50}{}", decision.text()));
    }
    lines.join("\n") + "\n"
}

/// Both runs, in the order of [`Mode::BOTH`].
pub(crate) fn print(scenario: &Scenario, runs: &[Run; 2]) {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED);
    table.set_header(cells("", Mode::BOTH.map(|mode| mode.name().to_owned())));
    let mut row = |label: &str, value: &dyn Fn(&Run) -> String| {
        table.add_row(cells(label, [value(&runs[0]), value(&runs[1])]));
    };
    row("messages", &|_| count(scenario.messages));
    row("deliveries", &|run| count(run.deliveries.total));
    row("  copies", &|run| count(run.deliveries.copies));
    row("  acknowledgement lost", &|run| {
        count(run.deliveries.lost_acknowledgements)
    });
    row("  told to come again later", &|run| {
        count(run.deliveries.put_back)
    });
    row("  killed while working", &|run| {
        count(run.deliveries.killed)
    });
    row("  dead letters, delivered once more", &|run| {
        count(run.deliveries.dead_letters)
    });
    row("duplicates refused", &|run| {
        count(run.deliveries.duplicates)
    });
    row("calls to the provider", &|run| {
        count(run.sum(|entry| entry.calls.values().sum()))
    });
    for (label, trouble) in [
        ("  refused: nothing sent, and we know", Trouble::Refuse),
        ("  no answer, nothing sent", Trouble::Hang),
        ("  sent, answer too late", Trouble::AnswerLate),
        ("  sent, answer lost", Trouble::LoseAnswer),
    ] {
        row(label, &|run| count(run.trouble(trouble)));
    }
    row("  rejected: no such address", &|run| {
        count(run.sum(|entry| entry.rejected as usize))
    });
    row("  recognised by the key", &|run| {
        if run.mode.provider_knows_keys() {
            count(run.sum(|entry| entry.recognised as usize))
        } else {
            "-".to_owned()
        }
    });
    row("distinct keys", &|run| count(run.keys()));
    row("lease over, swept: put back", &|run| {
        count(i64::try_from(run.deliveries.swept.released).unwrap_or(i64::MAX))
    });
    row("lease over, swept: parked", &|run| {
        count(i64::try_from(run.deliveries.swept.parked).unwrap_or(i64::MAX))
    });
    row("parked, for a person", &|run| {
        count(u32::try_from(run.cases.len()).unwrap_or(u32::MAX))
    });
    for (label, decision) in [
        ("  was sent: resolved", Decision::Resolve),
        ("  was not sent: released", Decision::Release),
        ("  no such address: discarded", Decision::Discard),
    ] {
        row(label, &|run| count(run.decided(decision)));
    }
    row("mails sent", &|run| {
        count(run.sum(|entry| entry.sent as usize))
    });
    row("sent twice", &|run| count(run.broken().sent_twice));
    row("acknowledged but never sent", &|run| {
        count(run.broken().lost)
    });
    row("time", &|run| format!("{:.1} s", run.time.as_secs_f64()));
    println!("{table}\n");

    for run in runs {
        explain(run);
    }
}

fn explain(run: &Run) {
    let broken = run.broken();
    let name = run.mode.name();
    if !broken.is_nothing() {
        println!("{name} BROKE A PROMISE. This is a bug in inbox; please report it:");
        let Broken {
            sent_twice,
            lost,
            two_keys,
            unfinished,
        } = broken;
        println!(
            "  {sent_twice} sent twice, {lost} acknowledged but never sent, {unfinished} unfinished,\n  \
             {two_keys} keys too many or too few"
        );
        let twice = run.log.iter().filter(|(_, entry)| entry.sent > 1);
        for id in run.lost.iter().chain(twice.map(|(id, _)| id)) {
            println!("  {id}");
        }
        return;
    }
    match run.mode {
        Mode::Park => println!(
            "{name}: nobody got a mail twice, although the provider knows no keys. The price:\n\
             a person had to decide about {} messages.",
            run.cases.len()
        ),
        Mode::Retry => println!(
            "{name}: {} calls came a second time for a mail that had been sent. The provider\n\
             recognised their key: without it, {} customers would have had two receipts. A person had\n\
             to decide about {} messages only.",
            run.sum(|entry| entry.recognised as usize),
            run.sum(|entry| usize::from(entry.recognised > 0)),
            run.cases.len()
        ),
    }
}

pub(crate) fn exit_code(runs: &[Run; 2]) -> ExitCode {
    if runs.iter().all(|run| run.broken().is_nothing()) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
