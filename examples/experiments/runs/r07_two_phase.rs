//! Run 7: claim, commit, call, record; what the simple version of it loses, and what ours does instead.

use std::time::Duration;

use anyhow::{Context as _, bail};
use inbox_sqlx::{
    Claim, Decided, Disposition, Effect, Inbox, Outcome, Page, idempotent, is_violation_of,
};
use tokio::time::{sleep, timeout};

use super::Run;
use crate::{
    bench::{Bench, Consumer},
    lab::Lab,
    page,
};

pub(crate) const RUN: Run = Run {
    number: 7,
    title: "an effect outside the database, in two phases",
    about: "A mail cannot be rolled back, so it cannot be part of a transaction. The simple\n\
            protocol: insert a claim and commit it, send the mail, set processed_at. Whoever\n\
            finds a claim has a duplicate and acknowledges it.",
};

/// One message, and what the simple protocol says to the database about it.
struct Message {
    id: &'static str,
    claim: &'static str,
    record: &'static str,
}

macro_rules! message {
    ($id:literal) => {
        Message {
            id: $id,
            claim: concat!(
                "insert into experiments_claims (message_id) values ('",
                $id,
                "')"
            ),
            record: concat!(
                "update experiments_claims set processed_at = current_timestamp where message_id = '",
                $id,
                "'"
            ),
        }
    };
}

const WELL: Message = message!("m-1");
const REFUSED: Message = message!("m-2");
const KILLED: Message = message!("m-3");

const UNPROCESSED: &str = "select count(*) from experiments_claims where processed_at is null";

/// How often a message is delivered again before a run gives up.
const TRIES: u32 = 20;

#[derive(Debug, thiserror::Error)]
enum MailError {
    #[error("the provider is busy and sent nothing")]
    Refused,
    #[error(transparent)]
    Inbox(#[from] inbox_sqlx::Error),
}

impl MailError {
    fn effect(&self) -> Effect {
        match self {
            Self::Refused => Effect::NotHappened,
            Self::Inbox(_) => Effect::Unknown,
        }
    }
}

/// What happens at the next call of the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    GoesWell,
    IsRefused,
    /// The caller's process is killed before the call.
    NeverHappens,
}

/// The mail provider.
struct Provider {
    next: Next,
    sent: Vec<&'static str>,
}

impl Provider {
    async fn send(&mut self, who: &str, id: &'static str) -> Result<(), MailError> {
        let what = format!("asks the provider to send the mail of {id}");
        match std::mem::replace(&mut self.next, Next::GoesWell) {
            Next::GoesWell => {
                self.sent.push(id);
                page::step(who, &what, "sent");
                Ok(())
            }
            Next::IsRefused => {
                page::step(who, &what, "busy, nothing sent");
                Err(MailError::Refused)
            }
            Next::NeverHappens => {
                page::step(who, "is killed before it asks the provider", "gone");
                std::future::pending().await
            }
        }
    }

    fn sent(&self, id: &str) -> usize {
        self.sent.iter().filter(|sent| **sent == id).count()
    }
}

/// What the broker is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Acknowledge,
    DeliverAgain,
}

/// The simple protocol. Every statement commits by itself.
async fn simple<DB: Lab>(
    consumer: &mut Consumer<DB>,
    provider: &mut Provider,
    message: &Message,
) -> anyhow::Result<Told> {
    match consumer.run(message.claim).await {
        Ok(_) => {}
        Err(error) if is_violation_of(&error, "experiments_claims_message_id_key") => {
            page::step(consumer.name(), "has a duplicate", "acknowledged");
            return Ok(Told::Acknowledge);
        }
        Err(error) => return Err(error.into()),
    }
    if provider.send(consumer.name(), message.id).await.is_err() {
        page::step(consumer.name(), "fails", "not acknowledged");
        return Ok(Told::DeliverAgain);
    }
    consumer.run(message.record).await?;
    page::step(consumer.name(), "is done", "acknowledged");
    Ok(Told::Acknowledge)
}

/// Ours, where a second mail is worse than a question. The lease is short, so that nobody has to watch for
/// long.
#[idempotent(
    consumer = "email-park",
    key = message_id,
    two_phase(on_unknown = park, classify = MailError::effect, lease = "500ms")
)]
async fn parking<DB: Lab>(
    _claim: &Claim<DB>,
    who: &str,
    provider: &mut Provider,
    message_id: &'static str,
) -> Result<(), MailError> {
    provider.send(who, message_id).await
}

/// Ours, where the provider recognises the key of a mail it has sent, so that it can be asked again.
#[idempotent(
    consumer = "email-retry",
    key = message_id,
    two_phase(on_unknown = retry, classify = MailError::effect, lease = "500ms")
)]
async fn retrying<DB: Lab>(
    _claim: &Claim<DB>,
    who: &str,
    provider: &mut Provider,
    message_id: &'static str,
) -> Result<(), MailError> {
    provider.send(who, message_id).await
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Park,
    Retry,
}

/// One delivery to ours, and what came of it.
async fn ours<DB: Lab>(
    inbox: &Inbox<DB>,
    mode: Mode,
    who: &str,
    provider: &mut Provider,
    id: &'static str,
) -> Result<Outcome<()>, MailError> {
    let (name, result) = match mode {
        Mode::Park => ("parking", parking(inbox, who, provider, id).await),
        Mode::Retry => ("retrying", retrying(inbox, who, provider, id).await),
    };
    let answer = match &result {
        Ok(outcome) => format!("Ok({outcome:?}): acknowledged"),
        Err(error) => format!("Err({error}): {}", disposition(error)),
    };
    page::step(who, &format!("{name}(&inbox, .., {id:?})"), &answer);
    result
}

fn disposition(error: &MailError) -> String {
    match Disposition::of(error) {
        Disposition::Retry { after: Some(after) } => {
            format!("deliver it again in {} ms", after.as_millis())
        }
        Disposition::Retry { after: None } => "deliver it again".to_owned(),
        Disposition::DeadLetter => "put it with the dead letters".to_owned(),
    }
}

/// Delivers to ours again and again, as a broker does: until it is acknowledged (`true`) or rejected.
async fn deliver<DB: Lab>(
    inbox: &Inbox<DB>,
    mode: Mode,
    provider: &mut Provider,
    id: &'static str,
) -> anyhow::Result<bool> {
    for _ in 0..TRIES {
        let Err(error) = ours(inbox, mode, "B", provider, id).await else {
            return Ok(true);
        };
        match Disposition::of(&error) {
            Disposition::Retry { after } => {
                sleep(after.unwrap_or(Duration::from_millis(100))).await;
            }
            Disposition::DeadLetter => return Ok(false),
        }
    }
    bail!("{id} was delivered {TRIES} times, and is neither acknowledged nor rejected")
}

pub(crate) async fn run<DB: Lab>(bench: &mut Bench<DB>) -> anyhow::Result<()> {
    let mut provider = Provider {
        next: Next::GoesWell,
        sent: Vec::new(),
    };
    simple_protocol(bench, &mut provider).await?;

    let inbox = bench.inbox();
    provider.sent.clear();
    page::part("The same with two_phase. The provider refuses m-2; both policies do the same:");
    provider.next = Next::IsRefused;
    let first = ours(&inbox, Mode::Park, "A", &mut provider, REFUSED.id).await;
    let acknowledged = deliver(&inbox, Mode::Park, &mut provider, REFUSED.id).await?;
    bench.claim(
        first.is_err() && acknowledged && provider.sent(REFUSED.id) == 1,
        "the claim was no duplicate: the mail was sent, and only then the message acknowledged",
    );

    page::part("A is killed with m-3, on_unknown = retry:");
    kill(&inbox, Mode::Retry, &mut provider).await?;
    let acknowledged = deliver(&inbox, Mode::Retry, &mut provider, KILLED.id).await?;
    bench.claim(
        acknowledged && provider.sent(KILLED.id) == 1,
        "when A's lease was over, B took over and sent the mail",
    );

    page::part("A is killed with m-3, on_unknown = park:");
    provider.sent.clear();
    kill(&inbox, Mode::Park, &mut provider).await?;
    let acknowledged = deliver(&inbox, Mode::Park, &mut provider, KILLED.id).await?;
    let parked = inbox.parked(Page::first(10)).await?;
    let message = parked.first().context("nothing is parked")?;
    page::step(
        "operator",
        "inbox.parked()",
        &format!(
            "{}: {}",
            message.key,
            message.last_error.as_deref().unwrap_or_default()
        ),
    );
    bench.claim(
        !acknowledged && provider.sent(KILLED.id) == 0 && message.key == KILLED.id,
        "whether A had sent it, nobody knows: not repeated, not acknowledged, but seen",
    );
    let decided = inbox.release(message.row).await?;
    page::step(
        "operator",
        "the provider has no such mail: inbox.release(row)",
        &format!("{decided:?}"),
    );
    let acknowledged = deliver(&inbox, Mode::Park, &mut provider, KILLED.id).await?;
    bench.claim(
        decided == Decided::Done && acknowledged && provider.sent(KILLED.id) == 1,
        "one mail, acknowledged after it was sent",
    );
    Ok(())
}

/// When all goes well, and when it does not.
async fn simple_protocol<DB: Lab>(
    bench: &mut Bench<DB>,
    provider: &mut Provider,
) -> anyhow::Result<()> {
    let mut a = bench.consumer("A").await?;
    let mut b = bench.consumer("B").await?;
    page::say("All goes well, and the message comes twice:\n");
    let first = simple(&mut a, provider, &WELL).await?;
    let second = simple(&mut b, provider, &WELL).await?;
    bench.claim(
        [first, second] == [Told::Acknowledge; 2] && provider.sent(WELL.id) == 1,
        "one mail",
    );

    page::part("The provider refuses the next one, and the broker delivers it again:");
    provider.next = Next::IsRefused;
    let first = simple(&mut a, provider, &REFUSED).await?;
    let second = simple(&mut b, provider, &REFUSED).await?;
    bench.claim(
        [first, second] == [Told::DeliverAgain, Told::Acknowledge]
            && provider.sent(REFUSED.id) == 0,
        "LOST: acknowledged, and the mail was never sent. One error is enough",
    );

    page::part("A is killed between its claim and the call:");
    a.run(KILLED.claim).await?;
    page::step("A", "is killed before it asks the provider", "gone");
    drop(a);
    let told = simple(&mut b, provider, &KILLED).await?;
    bench.claim(
        told == Told::Acknowledge && provider.sent(KILLED.id) == 0,
        "LOST: acknowledged, and the mail was never sent",
    );
    let unprocessed = bench.onlooker().count(UNPROCESSED).await?;
    bench.claim(
        unprocessed == 2,
        "two claims are left; a process killed right after the mail would have left the same",
    );
    Ok(())
}

/// A gets the message, and its process is killed before the call: its future is dropped there.
async fn kill<DB: Lab>(
    inbox: &Inbox<DB>,
    mode: Mode,
    provider: &mut Provider,
) -> anyhow::Result<()> {
    provider.next = Next::NeverHappens;
    let call = ours(inbox, mode, "A", provider, KILLED.id);
    match timeout(Duration::from_millis(200), call).await {
        Err(_) => Ok(()),
        Ok(_) => bail!("A was not killed"),
    }
}
