//! The messages: what they look like, and what is owed when each counts once.

use std::{
    collections::{BTreeMap, HashSet},
    path::Path,
};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

/// Pay this much into this account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Credit {
    /// The same in every copy, and in every redelivery.
    pub(crate) message_id: String,
    pub(crate) account: i64,
    pub(crate) cents: i64,
}

/// Reads one message per line.
pub(crate) fn read(file: &Path) -> anyhow::Result<Vec<Credit>> {
    let text = std::fs::read_to_string(file).with_context(|| {
        format!(
            "cannot read {}; `cargo run --example credit -- generate` writes it",
            file.display()
        )
    })?;
    text.lines()
        .enumerate()
        .map(|(index, line)| {
            serde_json::from_str(line)
                .with_context(|| format!("line {} of {}", index + 1, file.display()))
        })
        .collect()
}

/// One message per line.
pub(crate) fn to_text(lines: &[Credit]) -> serde_json::Result<String> {
    lines.iter().try_fold(String::new(), |mut text, line| {
        text.push_str(&serde_json::to_string(line)?);
        text.push('\n');
        Ok(text)
    })
}

/// Account by account, the cents that are right: each message counts once.
pub(crate) fn balances(lines: &[Credit]) -> BTreeMap<i64, i64> {
    let mut counted = HashSet::new();
    let mut balances = BTreeMap::new();
    for credit in lines {
        if counted.insert(&credit.message_id) {
            *balances.entry(credit.account).or_default() += credit.cents;
        }
    }
    balances
}
