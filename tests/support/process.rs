//! Real processes to kill: roles that a test lets children play.
//!
//! A crash test needs a process that dies without a chance to clean up. The child is this test binary once more, told
//! to run one test only, [`ENTRY`], with the role in its environment. Parent and child speak in lines.
//!
//! ```text
//! roles! { "hold_claim" => contract::crash::hold_claim::<Postgres> }    // once, at the root of the test binary
//!
//! async fn hold_claim(mut role: Role) {                                 // what the child does
//!     let inbox = Inbox::<Postgres>::connect(&role.var("url")).await.unwrap();
//!     let claimed = inbox.begin("credit", "m1").await.unwrap();
//!     role.say("claimed");
//!     role.hear().await;                                                // never comes: the parent kills
//! }
//!
//! let mut child = Child::spawn("hold_claim", &[("url", database.url())]);   // what the test does
//! child.expect("claimed").await;
//! child.kill().await;
//! ```
//!
//! The test that [`roles!`] makes is no empty shell when it runs as an ordinary test, without a role: it then checks
//! this module, with children of its own.

use std::env;
use std::future::Future;
use std::io::{self, BufRead, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// The name of the test that [`roles!`] makes.
pub(crate) const ENTRY: &str = "roles_are_played_by_real_processes";

const ROLE: &str = "INBOX_TEST_ROLE";
const VARIABLE: &str = "INBOX_TEST_ROLE_";

/// libtest writes to the same standard output, so lines of ours carry a mark.
const MARK: &str = "inbox-role: ";

/// The longest that a test waits for its child, or a child for its test, before it fails.
const PATIENCE: Duration = Duration::from_mins(1);

/// Makes the test through which child processes of this binary play the given roles.
macro_rules! roles {
    ($($name:literal => $play:expr),* $(,)?) => {
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn roles_are_played_by_real_processes() {
            match $crate::support::process::Role::of_this_process() {
                None => $crate::support::process::check().await,
                Some(role) => match role.name() {
                    $($name => $crate::support::process::play(role, $play).await,)*
                    _ => $crate::support::process::play_own(role).await,
                },
            }
        }
    };
}
pub(crate) use roles;

/// The child's side.
#[derive(Debug)]
pub(crate) struct Role {
    name: String,
    heard: mpsc::UnboundedReceiver<String>,
}

impl Role {
    /// The role to play, if this process is such a child.
    pub(crate) fn of_this_process() -> Option<Self> {
        let name = env::var(ROLE).ok()?;
        let (hear, heard) = mpsc::unbounded_channel();
        thread::spawn(move || {
            for line in io::stdin().lock().lines().map_while(Result::ok) {
                hear.send(line).ok();
            }
            // The parent is gone, perhaps killed itself: a child that waits for ever helps nobody.
            std::process::exit(1);
        });
        Some(Self { name, heard })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// A variable that the parent gave to [`Child::spawn`].
    pub(crate) fn var(&self, name: &str) -> String {
        env::var(format!("{VARIABLE}{name}"))
            .unwrap_or_else(|_| panic!("the role {} was started without `{name}`", self.name))
    }

    /// Tells the parent one line.
    #[expect(
        clippy::unused_self,
        reason = "only a process that plays a role has somebody to talk to"
    )]
    pub(crate) fn say(&self, line: &str) {
        // libtest may have left an unfinished line behind.
        let text = format!("\n{MARK}{line}\n");
        io::stdout()
            .write_all(text.as_bytes())
            .expect("the parent listens");
    }

    /// The next line from the parent.
    pub(crate) async fn hear(&mut self) -> String {
        timeout(PATIENCE, self.heard.recv())
            .await
            .unwrap_or_else(|_| panic!("the role {} heard nothing for {PATIENCE:?}", self.name))
            .expect("the process exits before the channel closes")
    }
}

/// The parent's side. A child that is dropped is killed.
#[derive(Debug)]
pub(crate) struct Child {
    role: String,
    process: tokio::process::Child,
    /// Closing it ends the child.
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Child {
    /// Starts a process that plays `role`; it reads `variables` with [`Role::var`].
    pub(crate) fn spawn(role: &str, variables: &[(&str, &str)]) -> Self {
        let this_binary = env::current_exe().expect("the path of this test binary");
        let mut process = Command::new(this_binary)
            .args([ENTRY, "--exact", "--nocapture"])
            .env(ROLE, role)
            .envs(
                variables
                    .iter()
                    .map(|(name, value)| (format!("{VARIABLE}{name}"), value)),
            )
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("this test binary starts once more");
        Self {
            role: role.to_owned(),
            input: process.stdin.take().expect("piped"),
            output: BufReader::new(process.stdout.take().expect("piped")).lines(),
            process,
        }
    }

    /// The operating system's number for the process.
    pub(crate) fn id(&self) -> u32 {
        self.process.id().expect("not waited for yet")
    }

    /// Tells the child one line.
    pub(crate) async fn say(&mut self, line: &str) {
        self.input
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap_or_else(|error| panic!("the child {} no longer listens: {error}", self.role));
    }

    /// The next line from the child.
    pub(crate) async fn hear(&mut self) -> String {
        loop {
            let line = timeout(PATIENCE, self.output.next_line())
                .await
                .unwrap_or_else(|_| panic!("the child {} said nothing for {PATIENCE:?}", self.role))
                .expect("lines of text");
            match line {
                Some(line) => {
                    if let Some(said) = line.strip_prefix(MARK) {
                        return said.to_owned();
                    }
                }
                None => panic!(
                    "the child {} ended before it said what the test waits for",
                    self.role
                ),
            }
        }
    }

    /// Waits for this line, which must be the next one.
    pub(crate) async fn expect(&mut self, line: &str) {
        assert_eq!(self.hear().await, line, "said by the child {}", self.role);
    }

    /// Kills the process as `kill -9` does, and waits until it is gone.
    pub(crate) async fn kill(mut self) {
        self.process
            .start_kill()
            .expect("the child is ours to kill");
        let status = self.end().await;
        assert_eq!(
            status.signal(),
            Some(9),
            "the child {} ended by itself before it was killed: {status}",
            self.role
        );
    }

    /// The same for a child that may have ended by itself, without a panic, a moment ago.
    pub(crate) async fn kill_or_finish(mut self) {
        self.process
            .start_kill()
            .expect("the child is ours to kill");
        let status = self.end().await;
        assert!(
            status.success() || status.signal() == Some(9),
            "the child {} failed: {status}",
            self.role
        );
    }

    /// Waits until the child has played its role to the end, without a panic.
    pub(crate) async fn finish(mut self) {
        let status = self.end().await;
        assert!(status.success(), "the child {} failed: {status}", self.role);
    }

    async fn end(&mut self) -> ExitStatus {
        timeout(PATIENCE, self.process.wait())
            .await
            .unwrap_or_else(|_| panic!("the child {} did not end within {PATIENCE:?}", self.role))
            .expect("waiting for our own child")
    }
}

/// Plays one role; a named function helps the compiler to see what the closures of [`roles!`] take.
pub(crate) async fn play<F: Future<Output = ()>>(role: Role, play: impl FnOnce(Role) -> F) {
    play(role).await;
}

/// The roles that [`check`] needs.
pub(crate) async fn play_own(mut role: Role) {
    match role.name() {
        "echo" => {
            role.say(&role.var("greeting"));
            let heard = role.hear().await;
            role.say(&heard);
        }
        unknown => panic!("no role of this name is listed in `roles!`: {unknown}"),
    }
}

/// What this module promises, tried with real children.
pub(crate) async fn check() {
    let mut obedient = Child::spawn("echo", &[("greeting", "hello")]);
    obedient.expect("hello").await;
    obedient.say("again").await;
    obedient.expect("again").await;
    obedient.finish().await;

    let mut killed = Child::spawn("echo", &[("greeting", "hello")]);
    killed.expect("hello").await;
    killed.kill().await;

    let mut orphan = Child::spawn("echo", &[("greeting", "hello")]);
    orphan.expect("hello").await;
    let Child {
        mut process, input, ..
    } = orphan;
    drop(input);
    let status = timeout(PATIENCE, process.wait())
        .await
        .expect("an orphan ends by itself")
        .unwrap();
    assert_eq!(status.code(), Some(1));
}
