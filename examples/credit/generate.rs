//! Makes the file of messages from a seed: the same seed, the same bytes.

use fastrand::Rng;

use crate::message::Credit;

const MESSAGES: usize = 2_000;
const ACCOUNTS: i64 = 50;

/// How many in a hundred have a copy right behind them, as after a producer that retried.
const COPIED: u32 = 20;

/// How many in a hundred come back later, as after an acknowledgement that did not arrive.
const REDELIVERED: u32 = 10;

/// All lines in the order in which the broker has them.
pub(crate) fn lines(seed: u64) -> Vec<Credit> {
    let mut rng = Rng::with_seed(seed);
    let mut lines = Vec::new();
    for _ in 0..MESSAGES {
        let credit = Credit {
            message_id: format!("pay-{:012x}", rng.u64(..1 << 48)),
            account: rng.i64(1..=ACCOUNTS),
            cents: rng.i64(1..=50_000),
        };
        if rng.u32(..100) < COPIED {
            lines.push(credit.clone());
        }
        lines.push(credit);
    }
    // Backwards, so that what is inserted does not move what is still to come; and never between two
    // copies, which belong together.
    for index in (0..lines.len()).rev() {
        if rng.u32(..100) < REDELIVERED {
            let again = lines[index].clone();
            let later = (index + rng.usize(5..200)).min(lines.len());
            let between_copies =
                later < lines.len() && lines[later - 1].message_id == lines[later].message_id;
            lines.insert(if between_copies { later + 1 } else { later }, again);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{ACCOUNTS, MESSAGES, lines};
    use crate::message;

    #[test]
    fn the_documented_seed_gives_the_committed_file() {
        let committed = include_str!("../data/credits.jsonl");
        let made = message::to_text(&lines(42)).unwrap();
        assert!(
            made == committed,
            "`cargo run --example credit -- generate --seed 42` writes another file than the committed one"
        );
    }

    #[test]
    fn no_two_messages_share_an_id() {
        let mut ids: Vec<_> = lines(42).into_iter().map(|line| line.message_id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), MESSAGES);
        assert_eq!(
            message::balances(&lines(42)).len(),
            usize::try_from(ACCOUNTS).unwrap()
        );
    }
}
