//! The mail provider: somebody else's server, which knows nothing of our database. Here it is a process that
//! goes wrong as it is told to, and keeps a log.

use std::{
    ops::Range,
    process::ExitCode,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    time::sleep,
};

use crate::{
    process::{self, Told},
    protocol::{Call, Log, Opened, Opening, Reply, ShowLog},
    receipt::{NOWHERE, Trouble},
};

/// How long a call takes if all goes well, in milliseconds.
const PROMPT: Range<u64> = 20..80;

/// When a late answer comes: after the caller's patience is over.
const LATE: Duration = Duration::from_millis(600);

struct Provider {
    opening: Opening,
    log: Mutex<Log>,
    calls_on_their_way: AtomicUsize,
}

/// What is to be done about a call.
enum Plan {
    Answer(Reply),
    Send,
    Fail(Trouble),
}

/// Answers calls until the main process closes the pipe.
pub(crate) async fn main() -> anyhow::Result<ExitCode> {
    let mut told = Told::new();
    let provider = Arc::new(Provider {
        opening: told.first().await?,
        log: Mutex::default(),
        calls_on_their_way: AtomicUsize::new(0),
    });
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let port = listener.local_addr()?.port();
    tokio::spawn(accept(listener, Arc::clone(&provider)));
    process::say(&Opened { port }).await?;
    while let Some(ShowLog) = told.next().await? {
        while provider.calls_on_their_way.load(Ordering::SeqCst) > 0 {
            sleep(Duration::from_millis(20)).await;
        }
        let log = provider.log(|log| log.clone());
        process::say(&log).await?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn accept(listener: TcpListener, provider: Arc<Provider>) {
    while let Ok((stream, _)) = listener.accept().await {
        let provider = Arc::clone(&provider);
        provider.calls_on_their_way.fetch_add(1, Ordering::SeqCst);
        tokio::spawn(async move {
            // A caller that gave up, or was killed, changes nothing about what is done here.
            drop(provider.serve(stream).await);
            provider.calls_on_their_way.fetch_sub(1, Ordering::SeqCst);
        });
    }
}

impl Provider {
    async fn serve(&self, mut stream: TcpStream) -> anyhow::Result<()> {
        let mut line = String::new();
        BufReader::new(&mut stream).read_line(&mut line).await?;
        let call: Call = serde_json::from_str(&line)?;
        let reply = match self.receive(&call) {
            Plan::Answer(reply) => reply,
            Plan::Send => {
                sleep(Duration::from_millis(fastrand::u64(PROMPT))).await;
                self.send(&call)
            }
            Plan::Fail(Trouble::Refuse) => Reply::Refused,
            Plan::Fail(Trouble::Hang) => {
                // Until the caller hangs up.
                stream.read_to_end(&mut Vec::new()).await?;
                return Ok(());
            }
            Plan::Fail(Trouble::AnswerLate) => {
                sleep(LATE).await;
                self.send(&call)
            }
            Plan::Fail(Trouble::LoseAnswer) => {
                self.send(&call);
                return Ok(());
            }
        };
        stream.write_all(process::line(&reply)?.as_bytes()).await?;
        Ok(())
    }

    /// Notes a call, and what is to be done about it.
    fn receive(&self, call: &Call) -> Plan {
        let id = &call.receipt.message_id;
        self.log(|log| {
            let entry = log.entry(id.clone()).or_default();
            let earlier: usize = entry.calls.values().sum();
            *entry.calls.entry(call.idempotency_key.clone()).or_default() += 1;
            if call.receipt.to.ends_with(NOWHERE) {
                entry.rejected += 1;
                return Plan::Answer(Reply::Rejected);
            }
            if self.opening.knows_keys && entry.sent > 0 {
                entry.recognised += 1;
                return Plan::Answer(Reply::Sent);
            }
            let trouble = self.opening.troubles.get(id);
            match trouble.and_then(|troubles| troubles.get(earlier)) {
                Some(&trouble) => {
                    entry.troubles.push(trouble);
                    Plan::Fail(trouble)
                }
                None => Plan::Send,
            }
        })
    }

    /// Sends the mail; not a second time under the same key, if it knows keys.
    fn send(&self, call: &Call) -> Reply {
        self.log(|log| {
            let entry = log.entry(call.receipt.message_id.clone()).or_default();
            if self.opening.knows_keys && entry.sent > 0 {
                entry.recognised += 1;
            } else {
                entry.sent += 1;
            }
        });
        Reply::Sent
    }

    fn log<T>(&self, look: impl FnOnce(&mut Log) -> T) -> T {
        look(&mut self.log.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
