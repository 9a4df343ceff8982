//! A server process that lives exactly as long as this test process.
//!
//! libtest runs no code after the last test, and a test process may be killed. So the server is the child of a small
//! watchdog, a shell that holds the read end of a pipe whose only writer is this process. However this process ends,
//! the pipe closes, and the watchdog stops the server and removes its directory.
//!
//! `initdb`, `postgres` and `mariadbd` refuse or dislike root: for root, everything here runs as the database's own
//! system user, or as `nobody`.

use std::io::Read;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

/// `$1` is the directory, `$2` the signal that stops the server at once, the rest the server's command line.
///
/// A server that ends by itself leaves its directory, and so its log, to the process that started it.
const WATCHDOG: &str = r#"
directory=$1 signal=$2
shift 2
exec 3<&0    # a background job gets /dev/null as standard input, so the pipe needs another number
"$@" </dev/null 3<&- >"$directory/log" 2>&1 &
server=$!
{
    read -r _ <&3    # nothing is ever written: this returns when the test process has ended
    : >"$directory/stop"
    kill -s "$signal" "$server"
} &
wait "$server"
kill "$!" 2>/dev/null
if [ -e "$directory/stop" ]; then rm -rf "$directory"; fi
"#;

/// How long a server may take until it answers; it takes less than a second on an idle machine.
const START_TIMEOUT: Duration = Duration::from_mins(1);

/// A directory for one server, and the user it runs as.
#[derive(Debug)]
pub(crate) struct Home {
    directory: PathBuf,
    /// Only for root: the user and group to become.
    user: Option<(u32, u32)>,
}

impl Home {
    /// Makes a directory below the temporary directory; for root, it is given to `user`.
    pub(crate) fn new(user: &str) -> Self {
        let directory = tempfile::Builder::new()
            .prefix(&format!("inbox-{user}-"))
            .tempdir()
            .expect("a temporary directory")
            .keep();
        let made_by = fs::metadata(&directory)
            .expect("the directory just made")
            .uid();
        let user = (made_by == 0).then(|| {
            let (uid, gid) = ids_of(user)
                .or_else(|| ids_of("nobody"))
                .expect("the user `nobody`");
            chown(&directory, Some(uid), Some(gid)).expect("root may give a directory away");
            (uid, gid)
        });
        Self { directory, user }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// `program`, as the server's user and in its directory: root's own may be closed to that user.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.current_dir(&self.directory).stdin(Stdio::null());
        if let Some((uid, gid)) = self.user {
            command.uid(uid).gid(gid);
        }
        command
    }

    /// Starts the server under its watchdog; `stop` is the signal that ends it without delay.
    pub(crate) fn start(&self, server: &Command, stop: &str) -> Running {
        let mut watchdog = self.command("/bin/sh");
        watchdog
            .args(["-c", WATCHDOG, "inbox-test-watchdog"])
            .arg(&self.directory)
            .arg(stop)
            .arg(server.get_program())
            .args(server.get_args())
            .envs(
                server
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            // Ctrl-C at a terminal goes to a whole process group; this one cleans up instead.
            .process_group(0)
            .stdin(Stdio::piped())
            // Whoever reads our output must not wait for the clean-up.
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Running {
            watchdog: watchdog.spawn().expect("/bin/sh runs"),
            log: self.path("log"),
            started: Instant::now(),
        }
    }
}

/// A started server. It ends with the process, not with this value, which is kept in a `static`.
#[derive(Debug)]
pub(crate) struct Running {
    /// Owns the writing end of the pipe. Children of ours do not inherit it: Rust opens files close-on-exec.
    watchdog: Child,
    log: PathBuf,
    started: Instant,
}

impl Running {
    /// Waits a moment, for the next try to connect. `Err` is the server's log, once waiting has no point any more.
    pub(crate) fn still_starting(&mut self) -> Result<(), String> {
        let ended = self.watchdog.try_wait().expect("our own child").is_some();
        if ended || self.started.elapsed() > START_TIMEOUT {
            return Err(self.log());
        }
        thread::sleep(Duration::from_millis(20));
        Ok(())
    }

    pub(crate) fn log(&self) -> String {
        read_lossy(&self.log)
    }
}

/// Runs one step of a server's initialisation.
pub(crate) fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| {
        panic!(
            "{} does not start: {error}",
            command.get_program().display()
        )
    });
    assert!(
        output.status.success(),
        "{command:?} failed: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
}

/// The first directory that has all of `programs`, from `PATH` and then from `more`.
pub(crate) fn directory_with(
    programs: &[&str],
    more: impl IntoIterator<Item = PathBuf>,
) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).chain(more).find(|directory| {
        programs
            .iter()
            .all(|program| directory.join(program).is_file())
    })
}

/// A port that nobody listens on. Somebody may take it before the server does; the caller then tries another one.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .expect("a free port on the loopback interface")
        .port()
}

/// User and group id from `/etc/passwd`.
fn ids_of(user: &str) -> Option<(u32, u32)> {
    let passwd = fs::read_to_string("/etc/passwd").ok()?;
    let line = passwd
        .lines()
        .find(|line| line.split(':').next() == Some(user))?;
    let mut fields = line.split(':').skip(2);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

fn read_lossy(path: &Path) -> String {
    let mut bytes = Vec::new();
    match fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)) {
        Ok(_) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => format!("({} cannot be read: {error})", path.display()),
    }
}
