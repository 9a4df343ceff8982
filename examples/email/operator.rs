//! The person who looks at what is parked. It decides by the only thing that knows: the provider's own log.

use anyhow::bail;
use inbox_sqlx::{Backend, Decided, Inbox, ListedMessage, Page};

use crate::protocol::{Entry, Log};

/// How many parked messages are listed at a time.
const PAGE: u32 = 50;

/// What is done about a parked message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Decision {
    /// The mail went out: the message is done with.
    Resolve,
    /// It did not: try again.
    Release,
    /// It never will: nobody lives there.
    Discard,
}

/// A parked message, and what was done about it.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) message_id: String,
    pub(crate) error: String,
    pub(crate) decision: Decision,
}

impl Decision {
    /// What somebody concludes who reads the log.
    fn by(entry: Option<&Entry>) -> Self {
        match entry {
            Some(entry) if entry.sent > 0 => Self::Resolve,
            Some(entry) if entry.rejected > 0 => Self::Discard,
            _ => Self::Release,
        }
    }

    /// What was seen in the log, and what is done about it.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Resolve => "was sent → resolve",
            Self::Release => "was not sent → release",
            Self::Discard => "no such address → discard",
        }
    }
}

/// Decides about everything that is parked.
///
/// It must be certain by then that no call is on its way any more: one that arrives after a look at the log
/// would make a second mail of a released message.
pub(crate) async fn decide<DB: Backend>(inbox: &Inbox<DB>, log: &Log) -> anyhow::Result<Vec<Case>> {
    let mut cases = Vec::new();
    let mut page = Page::first(PAGE);
    loop {
        let parked = inbox.parked(page).await?;
        for message in &parked {
            cases.push(decide_one(inbox, message, log).await?);
        }
        match parked.last() {
            Some(last) => page = Page::after(last.row, PAGE),
            None => return Ok(cases),
        }
    }
}

async fn decide_one<DB: Backend>(
    inbox: &Inbox<DB>,
    message: &ListedMessage,
    log: &Log,
) -> anyhow::Result<Case> {
    let decision = Decision::by(log.get(&message.key));
    let decided = match decision {
        Decision::Resolve => inbox.resolve(message.row).await?,
        Decision::Release => inbox.release(message.row).await?,
        Decision::Discard => inbox.discard(message.row).await?,
    };
    if decided != Decided::Done {
        bail!("row {} is parked, and yet: {decided:?}", message.row);
    }
    Ok(Case {
        message_id: message.key.clone(),
        error: message.last_error.clone().unwrap_or_default(),
        decision,
    })
}
