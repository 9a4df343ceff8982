//! Other processes of the same example: started with a role, and talked to in lines of JSON.

use std::{
    io::ErrorKind,
    process::{ExitStatus, Stdio},
};

use anyhow::Context as _;
use serde::{Serialize, de::DeserializeOwned};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines, Stdin},
    process::{Child, ChildStdin, ChildStdout, Command},
};

/// This program once more, as a process of its own. Dropped, it is killed.
pub(crate) struct Process {
    child: Child,
    stdin: ChildStdin,
}

/// What a process says.
pub(crate) struct Said(Lines<BufReader<ChildStdout>>);

impl Process {
    /// Starts it. `role` is the argument that tells it what it is.
    pub(crate) fn start(role: &str) -> anyhow::Result<(Self, Said)> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg(role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot start another process, the {role}"))?;
        let stdin = child.stdin.take().context("no stdin")?;
        let stdout = child.stdout.take().context("no stdout")?;
        Ok((Self { child, stdin }, Said(BufReader::new(stdout).lines())))
    }

    /// Tells it something. If it is gone, whoever listens to it learns that in a moment, so that is no error.
    pub(crate) async fn tell(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        match self.stdin.write_all(line(value)?.as_bytes()).await {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Kill -9, on Unix.
    pub(crate) fn kill(&mut self) -> std::io::Result<()> {
        self.child.start_kill()
    }

    /// Waits until it has ended.
    pub(crate) async fn ended(&mut self) -> std::io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Tells it that nothing more will come, and waits until it has ended.
    pub(crate) async fn end(self) -> std::io::Result<ExitStatus> {
        let Self { mut child, stdin } = self;
        drop(stdin);
        child.wait().await
    }
}

impl Said {
    /// The next thing it says; nothing if it is gone. The last line of a killed process may be cut off: that
    /// says nothing either.
    pub(crate) async fn next<T: DeserializeOwned>(&mut self) -> Option<T> {
        let line = self.0.next_line().await.ok()??;
        serde_json::from_str(&line).ok()
    }
}

/// The other side: what the process that started this one tells it.
pub(crate) struct Told(Lines<BufReader<Stdin>>);

impl Told {
    pub(crate) fn new() -> Self {
        Self(BufReader::new(tokio::io::stdin()).lines())
    }

    /// The next thing; nothing if nothing more will come.
    pub(crate) async fn next<T: DeserializeOwned>(&mut self) -> anyhow::Result<Option<T>> {
        let Some(line) = self.0.next_line().await? else {
            return Ok(None);
        };
        Ok(Some(serde_json::from_str(&line)?))
    }

    /// What this process is to be: the first thing it is told.
    pub(crate) async fn first<T: DeserializeOwned>(&mut self) -> anyhow::Result<T> {
        self.next().await?.with_context(|| {
            let example = env!("CARGO_CRATE_NAME");
            format!("this is a part of an example; start it with `cargo run --example {example}`")
        })
    }
}

/// Says something to the process that started this one. One at a time.
pub(crate) async fn say(value: &impl Serialize) -> anyhow::Result<()> {
    let mut stdout = tokio::io::stdout();
    stdout.write_all(line(value)?.as_bytes()).await?;
    stdout.flush().await?;
    Ok(())
}

/// A value as one line, with its end.
pub(crate) fn line(value: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string(value).map(|json| json + "\n")
}
