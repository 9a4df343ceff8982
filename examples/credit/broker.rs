//! The broker: keeps each message until it is acknowledged, and therefore delivers some of them twice.

use std::{
    collections::VecDeque,
    io::IsTerminal as _,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use fastrand::Rng;
use indicatif::{ProgressBar, ProgressStyle};
use tokio::{sync::mpsc, time::timeout};

use crate::{
    bank::Handler,
    message::Credit,
    process::Process,
    protocol::{Answer, Done, Start},
};

/// How many acknowledgements in a hundred get lost on the way to the broker.
const LOST: u32 = 3;

/// How many others are delivered before a message comes back.
const BACK_AFTER: usize = 20;

/// How often one message may come back before this program gives up on its database.
const TRIES: u32 = 30;

/// How long an instance may take for one message.
const PATIENCE: Duration = Duration::from_mins(1);

/// What happened while delivering.
#[derive(Debug, Default)]
pub(crate) struct Deliveries {
    pub(crate) total: u32,
    pub(crate) lost_acknowledgements: u32,
    pub(crate) failed: u32,
    pub(crate) killed: u32,
    pub(crate) duplicates: [u32; 2],
    pub(crate) time: Duration,
}

/// A message the broker still has, and how often it has delivered it.
#[derive(Debug, Clone)]
struct Kept {
    message: Credit,
    deliveries: u32,
}

/// What comes next: one delivery, or two copies for both instances at the same moment.
#[derive(Debug)]
enum Next {
    One(Kept),
    Both(Kept, Kept),
}

/// A running process of the consumer.
struct Instance {
    process: Process,
    works_on: Option<Kept>,
    killed: bool,
}

/// What an instance said; `None`: it is gone.
type Event = (usize, Option<Answer>);

pub(crate) struct Broker {
    start: Start,
    instances: [Instance; 2],
    events: mpsc::Receiver<Event>,
    /// For the reader of an instance that is started later.
    to_events: mpsc::Sender<Event>,
    queue: VecDeque<Next>,
    unacknowledged: usize,
    rng: Rng,
    bar: ProgressBar,
    deliveries: Deliveries,
}

impl Broker {
    /// Starts both instances.
    pub(crate) fn new(url: &str, handler: Handler, lines: &[Credit]) -> anyhow::Result<Self> {
        let (to_events, events) = mpsc::channel(16);
        let start = Start {
            database: url.to_owned(),
            handler,
            instance: 0,
        };
        Ok(Self {
            instances: [
                Instance::start(0, &to_events)?,
                Instance::start(1, &to_events)?,
            ],
            start,
            events,
            to_events,
            queue: queue(lines),
            unacknowledged: lines.len(),
            rng: Rng::with_seed(7),
            bar: bar(handler, lines.len()),
            deliveries: Deliveries::default(),
        })
    }

    /// Delivers until everything is acknowledged.
    pub(crate) async fn deliver(mut self) -> anyhow::Result<Deliveries> {
        for index in 0..self.instances.len() {
            self.greet(index).await?;
        }
        let all = self.unacknowledged;
        let began = Instant::now();
        while self.unacknowledged > 0 {
            self.hand_out().await?;
            if self.unacknowledged <= all / 2 && self.deliveries.killed == 0 {
                self.kill_the_second()?;
            }
            let event = timeout(PATIENCE, self.events.recv()).await;
            match event.context("no instance has answered for a minute")? {
                Some((index, Some(answer))) => self.answered(index, answer).await?,
                Some((index, None)) => self.gone(index).await?,
                None => bail!("both instances are gone"),
            }
        }
        self.deliveries.time = began.elapsed();
        self.bar.finish_and_clear();
        for instance in self.instances {
            instance.process.end().await?;
        }
        Ok(self.deliveries)
    }

    /// Tells a new instance what to be.
    async fn greet(&mut self, index: usize) -> anyhow::Result<()> {
        let start = Start {
            instance: i64::try_from(index)? + 1,
            ..self.start.clone()
        };
        self.instances[index].process.tell(&start).await
    }

    /// Gives work to whoever has none. Two copies wait until both instances can have them together.
    async fn hand_out(&mut self) -> anyhow::Result<()> {
        loop {
            let free = |index: &usize| self.instances[*index].works_on.is_none();
            let free: Vec<usize> = (0..2).filter(free).collect();
            match (self.queue.pop_front(), free.as_slice()) {
                (Some(Next::One(kept)), [index, ..]) => self.send(*index, kept).await?,
                (Some(Next::Both(first, second)), [0, 1]) => {
                    self.send(0, first).await?;
                    self.send(1, second).await?;
                }
                (Some(next), _) => {
                    self.queue.push_front(next);
                    return Ok(());
                }
                (None, _) => return Ok(()),
            }
        }
    }

    async fn send(&mut self, index: usize, mut kept: Kept) -> anyhow::Result<()> {
        kept.deliveries += 1;
        self.deliveries.total += 1;
        let instance = &mut self.instances[index];
        let kept = instance.works_on.insert(kept);
        // If it is gone, its reader says so in a moment, and the message goes to the other one.
        instance.process.tell(&kept.message).await
    }

    async fn answered(&mut self, index: usize, answer: Answer) -> anyhow::Result<()> {
        let kept = self.instances[index].works_on.take();
        let kept = kept.context("an answer without a delivery")?;
        match answer {
            Answer::Ack(done) => {
                if done == Done::Duplicate {
                    self.deliveries.duplicates[index] += 1;
                }
                if self.rng.u32(..100) < LOST {
                    self.deliveries.lost_acknowledgements += 1;
                    self.deliver_again(kept);
                } else {
                    self.unacknowledged -= 1;
                    self.bar.inc(1);
                }
            }
            Answer::Nack { after_ms, error } => {
                self.deliveries.failed += 1;
                if kept.deliveries >= TRIES {
                    bail!(
                        "{} failed {TRIES} times, at last with: {error}",
                        kept.message.message_id
                    );
                }
                self.deliver_again(kept);
                tokio::time::sleep(Duration::from_millis(after_ms.unwrap_or(10))).await;
            }
            Answer::Reject { error } => {
                bail!("{} was rejected: {error}", kept.message.message_id)
            }
        }
        Ok(())
    }

    fn deliver_again(&mut self, kept: Kept) {
        let later = self.queue.len().min(BACK_AFTER);
        self.queue.insert(later, Next::One(kept));
    }

    /// Kill -9, on Unix. Whatever it works on was not acknowledged, so it is delivered again.
    fn kill_the_second(&mut self) -> anyhow::Result<()> {
        let instance = &mut self.instances[1];
        if instance.works_on.is_some() {
            self.deliveries.killed += 1;
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
        let new = Instance::start(index, &self.to_events)?;
        let old = std::mem::replace(&mut self.instances[index], new);
        if let Some(kept) = old.works_on {
            self.deliver_again(kept);
        }
        self.greet(index).await
    }
}

impl Instance {
    /// This program once more, as a process of its own.
    fn start(index: usize, events: &mpsc::Sender<Event>) -> anyhow::Result<Self> {
        let (process, mut said) = Process::start("instance")?;
        let events = events.clone();
        tokio::spawn(async move {
            while let Some(answer) = said.next().await {
                if events.send((index, Some(answer))).await.is_err() {
                    return;
                }
            }
            // Nobody listens any more when everything is delivered.
            drop(events.send((index, None)).await);
        });
        Ok(Self {
            process,
            works_on: None,
            killed: false,
        })
    }
}

/// Two equal lines that follow each other are two copies that arrived together.
fn queue(lines: &[Credit]) -> VecDeque<Next> {
    let kept = |message: &Credit| Kept {
        message: message.clone(),
        deliveries: 0,
    };
    let mut queue = VecDeque::new();
    let mut rest = lines;
    loop {
        rest = match rest {
            [first, second, rest @ ..] if first == second => {
                queue.push_back(Next::Both(kept(first), kept(second)));
                rest
            }
            [one, rest @ ..] => {
                queue.push_back(Next::One(kept(one)));
                rest
            }
            [] => return queue,
        };
    }
}

/// Silent unless somebody looks.
fn bar(handler: Handler, length: usize) -> ProgressBar {
    if !std::io::stdout().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(
        "{prefix:>17} {wide_bar} {human_pos}/{human_len} acknowledged",
    )
    .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length as u64)
        .with_style(style)
        .with_prefix(handler.name())
}
