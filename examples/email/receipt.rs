//! The messages, and what the mail provider does when it is asked to send them.

use std::collections::BTreeMap;

use fastrand::Rng;
use serde::{Deserialize, Serialize};

/// Send this customer a receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Receipt {
    /// The same in every copy, and in every redelivery.
    pub(crate) message_id: String,
    pub(crate) to: String,
    pub(crate) cents: u32,
}

/// How a call goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Trouble {
    /// The provider is busy, says so, and sends nothing.
    Refuse,
    /// The provider never answers, and sends nothing.
    Hang,
    /// The provider sends the mail and answers, but after the caller has given up.
    AnswerLate,
    /// The provider sends the mail, and its answer is lost.
    LoseAnswer,
}

/// What goes wrong with the first calls for a message. Later calls go well.
pub(crate) type Troubles = BTreeMap<String, Vec<Trouble>>;

/// An address at this host does not exist: the provider rejects it, today and for ever.
pub(crate) const NOWHERE: &str = "@nowhere.invalid";

const RECEIPTS: u32 = 300;

/// How many receipts go to an address that does not exist.
const TO_NOWHERE: usize = 5;

/// How many in a hundred have a copy right behind them, as after a producer that retried.
const COPIED: u32 = 15;

/// Which troubles, and how many receipts meet them.
const TROUBLES: [(&[Trouble], usize); 5] = [
    (&[Trouble::Refuse], 24),
    (&[Trouble::Refuse; 2], 4),
    (&[Trouble::Hang], 12),
    (&[Trouble::AnswerLate], 12),
    (&[Trouble::LoseAnswer], 12),
];

/// Everything that is sent, and everything that goes wrong; the same each time.
pub(crate) struct Scenario {
    /// In the order in which the broker has them. Two copies follow each other.
    pub(crate) receipts: Vec<Receipt>,
    pub(crate) troubles: Troubles,
    /// How many different ones there are.
    pub(crate) messages: u32,
}

impl Scenario {
    pub(crate) fn new() -> Self {
        let mut rng = Rng::with_seed(42);
        let mut receipts: Vec<Receipt> = (1..=RECEIPTS)
            .map(|number| Receipt {
                message_id: format!("receipt-{number:03}"),
                to: format!("customer-{number:03}@example.com"),
                cents: rng.u32(100..50_000),
            })
            .collect();

        let mut unlucky: Vec<usize> = (0..receipts.len()).collect();
        rng.shuffle(&mut unlucky);
        let mut unlucky = unlucky.into_iter();
        for index in unlucky.by_ref().take(TO_NOWHERE) {
            let customer = &receipts[index].message_id;
            receipts[index].to = format!("{customer}{NOWHERE}");
        }
        let mut troubles = Troubles::new();
        for (first_calls, times) in TROUBLES {
            for index in unlucky.by_ref().take(times) {
                troubles.insert(receipts[index].message_id.clone(), first_calls.to_vec());
            }
        }

        for index in (0..receipts.len()).rev() {
            if rng.u32(..100) < COPIED {
                receipts.insert(index, receipts[index].clone());
            }
        }
        Self {
            receipts,
            troubles,
            messages: RECEIPTS,
        }
    }
}
