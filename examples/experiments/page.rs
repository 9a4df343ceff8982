//! How a run looks on the terminal.

use std::{fmt::Display, time::Duration};

use crate::runs::Run;

/// Where answers stand, if the statement leaves room.
const ANSWERS_AT: usize = 76;

/// Where the longest answers are wrapped.
const WIDTH: usize = 90;

/// Who runs what, and where.
pub(crate) fn title(run: &Run, database: &str) {
    let title = format!("{} · {}", run.number, run.title);
    println!("\n━━ {title} ({database})");
    for line in run.about.lines() {
        println!("   {line}");
    }
    println!();
}

/// A sentence between the statements.
pub(crate) fn say(text: impl Display) {
    println!("   {text}");
}

/// The next part of a run.
pub(crate) fn part(text: impl Display) {
    println!("\n   {text}\n");
}

/// Who did what, and what came of it.
pub(crate) fn step(who: &str, what: &str, answer: &str) {
    let line = format!("   {who}  {what}");
    let width = line.chars().count();
    if width + 2 <= ANSWERS_AT && answer.chars().count() < 24 {
        println!("{line}{:1$}→ {answer}", "", ANSWERS_AT - width);
    } else {
        println!("{line}");
        let mut mark = "→";
        for line in wrapped(answer, WIDTH - 8) {
            println!("      {mark} {line}");
            mark = " ";
        }
    }
}

/// Who did what, and when.
pub(crate) fn timed(who: &str, at: Duration, what: &str) {
    let mut when = format!("{who} {:>5} ms", at.as_millis());
    for line in wrapped(what, WIDTH - 15) {
        println!("   {when}  {line}");
        when = " ".repeat(10);
    }
}

/// Breaks a text between words.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().filter(|line| {
            line.is_empty() || line.chars().count() + 1 + word.chars().count() <= width
        });
        match line {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) => line.extend([" ", word]),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Whether a claim held.
pub(crate) fn claim(holds: bool, text: &str) {
    let mark = if holds { "✓" } else { "✗ NOT SO:" };
    println!("   {mark} {text}");
}

/// A run that could not be finished.
pub(crate) fn failed(error: &anyhow::Error) {
    println!("   ✗ broken off by an error nobody expected: {error:#}");
}
