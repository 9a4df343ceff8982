//! The broker: keeps each message until it is acknowledged or rejected, and therefore delivers some twice.

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    io::IsTerminal as _,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use fastrand::Rng;
use indicatif::{ProgressBar, ProgressStyle};
use tokio::{sync::mpsc, time::timeout};

use crate::{
    process::Process,
    protocol::{Answer, Delivery, Done, Event, Start, Swept},
    receipt::Receipt,
};

/// How many deliveries one instance works on at a time.
const PREFETCH: usize = 8;

/// How many acknowledgements in a hundred get lost on the way to the broker.
const LOST: u32 = 3;

/// When a message comes back, if the consumer does not say when.
const BACK_AFTER: Duration = Duration::from_millis(100);

/// How often one message may come back before this program gives up on its database.
const TRIES: u32 = 60;

/// How long all instances together may say nothing.
const PATIENCE: Duration = Duration::from_mins(1);

/// What happened while delivering.
#[derive(Debug, Default)]
pub(crate) struct Deliveries {
    pub(crate) total: u32,
    pub(crate) copies: u32,
    pub(crate) lost_acknowledgements: u32,
    /// Not acknowledged, to come again.
    pub(crate) put_back: u32,
    /// Deliveries an instance worked on when it was killed.
    pub(crate) killed: u32,
    pub(crate) duplicates: u32,
    pub(crate) dead_letters: u32,
    pub(crate) swept: Swept,
    /// Messages of which one delivery was acknowledged.
    pub(crate) acknowledged: BTreeSet<String>,
}

/// A message the broker still has, and how often it has delivered it.
#[derive(Debug, Clone)]
struct Kept {
    receipt: Receipt,
    deliveries: u32,
}

/// A running process of the consumer.
struct Instance {
    process: Process,
    works_on: HashMap<u64, Kept>,
    killed: bool,
}

/// What an instance said; `None`: it is gone.
type Said = (usize, Option<Event>);

pub(crate) struct Broker {
    start: Start,
    instances: [Instance; 2],
    said: mpsc::Receiver<Said>,
    /// For the listener to an instance that is started later.
    listeners: mpsc::Sender<Said>,
    queue: VecDeque<Kept>,
    /// What comes back, and when.
    later: Vec<(Instant, Kept)>,
    dead_letters: Vec<Kept>,
    number: u64,
    rng: Rng,
    bar: ProgressBar,
    deliveries: Deliveries,
}

impl Broker {
    /// Starts both instances.
    pub(crate) async fn new(start: Start, receipts: &[Receipt]) -> anyhow::Result<Self> {
        let (listeners, said) = mpsc::channel(16);
        let different: BTreeSet<&String> = receipts.iter().map(|one| &one.message_id).collect();
        Ok(Self {
            instances: [
                Instance::start(0, &start, &listeners).await?,
                Instance::start(1, &start, &listeners).await?,
            ],
            bar: bar(start.mode.name(), receipts.len()),
            start,
            said,
            listeners,
            queue: receipts
                .iter()
                .map(|receipt| Kept {
                    receipt: receipt.clone(),
                    deliveries: 0,
                })
                .collect(),
            later: Vec::new(),
            dead_letters: Vec::new(),
            number: 0,
            rng: Rng::with_seed(7),
            deliveries: Deliveries {
                copies: u32::try_from(receipts.len() - different.len())?,
                ..Deliveries::default()
            },
        })
    }

    /// Delivers until every message is acknowledged or lies with the dead letters.
    pub(crate) async fn deliver(&mut self) -> anyhow::Result<()> {
        let all = self.unfinished();
        while self.unfinished() > 0 {
            self.hand_out().await?;
            if self.unfinished() <= all / 2 && self.deliveries.killed == 0 {
                self.kill_the_second()?;
            }
            let next = self.until_next();
            match timeout(next.unwrap_or(PATIENCE), self.said.recv()).await {
                Ok(Some((index, Some(Event::Answer { number, answer })))) => {
                    self.answered(index, number, answer)?;
                }
                Ok(Some((_, Some(Event::Swept(swept))))) => {
                    self.deliveries.swept.released += swept.released;
                    self.deliveries.swept.parked += swept.parked;
                }
                Ok(Some((index, None))) => self.gone(index).await?,
                Ok(None) => bail!("both instances are gone"),
                Err(_) if next.is_some() => {}
                Err(_) => bail!("no instance has said anything for a minute"),
            }
        }
        Ok(())
    }

    pub(crate) fn has_dead_letters(&self) -> bool {
        !self.dead_letters.is_empty()
    }

    /// Delivers the dead letters once more, as somebody does who has looked into what was wrong with them.
    pub(crate) fn redrive(&mut self) {
        self.bar.dec(self.dead_letters.len() as u64);
        self.queue.extend(self.dead_letters.drain(..));
    }

    /// Ends both instances.
    pub(crate) async fn end(self) -> anyhow::Result<Deliveries> {
        self.bar.finish_and_clear();
        for instance in self.instances {
            instance.process.end().await?;
        }
        Ok(self.deliveries)
    }

    /// Messages of which one delivery was acknowledged.
    pub(crate) fn acknowledged(&self) -> &BTreeSet<String> {
        &self.deliveries.acknowledged
    }

    /// Prints something above the progress bar.
    pub(crate) fn say(&self, text: &str) {
        self.bar.suspend(|| println!("{text}"));
    }

    fn unfinished(&self) -> usize {
        let works_on = |instance: &Instance| instance.works_on.len();
        let in_work: usize = self.instances.iter().map(works_on).sum();
        self.queue.len() + self.later.len() + in_work
    }

    /// Gives each instance as much as it takes, in turn, so that two copies meet in different processes.
    async fn hand_out(&mut self) -> anyhow::Result<()> {
        let now = Instant::now();
        for (_, kept) in self.later.extract_if(.., |(when, _)| *when <= now) {
            self.queue.push_back(kept);
        }
        while let Some(instance) = self
            .instances
            .iter_mut()
            .filter(|instance| instance.works_on.len() < PREFETCH)
            .min_by_key(|instance| instance.works_on.len())
            && let Some(mut kept) = self.queue.pop_front()
        {
            kept.deliveries += 1;
            self.deliveries.total += 1;
            self.number += 1;
            let delivery = Delivery {
                number: self.number,
                receipt: kept.receipt.clone(),
            };
            instance.works_on.insert(delivery.number, kept);
            // If it is gone, its listener says so in a moment, and the message goes to the other one.
            instance.process.tell(&delivery).await?;
        }
        Ok(())
    }

    /// How long until something comes back.
    fn until_next(&self) -> Option<Duration> {
        let next = self.later.iter().map(|(when, _)| *when).min()?;
        Some(next.saturating_duration_since(Instant::now()))
    }

    fn answered(&mut self, index: usize, number: u64, answer: Answer) -> anyhow::Result<()> {
        let kept = self.instances[index].works_on.remove(&number);
        let kept = kept.context("an answer without a delivery")?;
        match answer {
            Answer::Ack(done) => {
                self.deliveries.duplicates += u32::from(done == Done::Duplicate);
                let id = kept.receipt.message_id.clone();
                self.deliveries.acknowledged.insert(id);
                if self.rng.u32(..100) < LOST {
                    self.deliveries.lost_acknowledgements += 1;
                    self.deliver_again(kept, BACK_AFTER);
                } else {
                    self.bar.inc(1);
                }
            }
            Answer::Nack { after_ms, error } => {
                self.deliveries.put_back += 1;
                if kept.deliveries >= TRIES {
                    let id = &kept.receipt.message_id;
                    bail!("{id} failed {TRIES} times, at last with: {error}");
                }
                self.deliver_again(kept, after_ms.map_or(BACK_AFTER, Duration::from_millis));
            }
            Answer::Reject => {
                self.deliveries.dead_letters += 1;
                self.dead_letters.push(kept);
                self.bar.inc(1);
            }
        }
        Ok(())
    }

    fn deliver_again(&mut self, kept: Kept, after: Duration) {
        self.later.push((Instant::now() + after, kept));
    }

    /// Kill -9, on Unix, as soon as it is busy. Whatever it works on was not acknowledged, so it comes again.
    fn kill_the_second(&mut self) -> anyhow::Result<()> {
        let instance = &mut self.instances[1];
        if instance.works_on.len() > PREFETCH / 2 && !instance.killed {
            instance.killed = true;
            instance.process.kill()?;
        }
        Ok(())
    }

    /// Starts an instance that was killed again. One that ended by itself has said why on stderr.
    async fn gone(&mut self, index: usize) -> anyhow::Result<()> {
        let old = &mut self.instances[index];
        let status = old.process.ended().await?;
        if !old.killed {
            bail!("instance {} ended: {status}", index + 1);
        }
        let new = Instance::start(index, &self.start, &self.listeners).await?;
        let old = std::mem::replace(&mut self.instances[index], new);
        for kept in old.works_on.into_values() {
            self.deliveries.killed += 1;
            self.deliver_again(kept, BACK_AFTER);
        }
        Ok(())
    }
}

impl Instance {
    async fn start(
        index: usize,
        start: &Start,
        listeners: &mpsc::Sender<Said>,
    ) -> anyhow::Result<Self> {
        let (mut process, mut said) = Process::start("instance")?;
        process.tell(start).await?;
        let listener = listeners.clone();
        tokio::spawn(async move {
            loop {
                let event = said.next().await;
                let is_gone = event.is_none();
                // Nobody listens any more when everything is delivered.
                if listener.send((index, event)).await.is_err() || is_gone {
                    return;
                }
            }
        });
        Ok(Self {
            process,
            works_on: HashMap::new(),
            killed: false,
        })
    }
}

/// Silent unless somebody looks.
fn bar(prefix: &'static str, length: usize) -> ProgressBar {
    if !std::io::stdout().is_terminal() {
        return ProgressBar::hidden();
    }
    let style =
        ProgressStyle::with_template("{prefix:>18} {wide_bar} {human_pos}/{human_len} done with")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length as u64)
        .with_style(style)
        .with_prefix(prefix)
}
