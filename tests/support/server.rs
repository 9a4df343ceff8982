//! A server process that lives exactly as long as this test process.
//!
//! libtest runs no code after the last test, and a test process may be killed. So the server is the child of a small
//! watchdog, a shell that holds the read end of a pipe whose only writer is this process. However this process ends,
//! the pipe closes, and the watchdog stops the server and removes its directory.
//!
//! `initdb`, `postgres` and `mariadbd` refuse or dislike root: for root, everything here runs as the database's own
//! system user, or as `nobody`.

use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use url::Url;

use crate::support::database::{TestDatabase, finish_in_drop};

/// `$1` is the server's directory, `$2` the signal that stops `$3 ...`, a command that prepares or is the server.
///
/// A command that ends by itself leaves the directory, and so its log, to the process that asked for it.
const WATCHDOG: &str = r#"
directory=$1 signal=$2
shift 2
exec 3<&0    # a background job gets /dev/null as standard input, so the pipe needs another number
"$@" </dev/null 3<&- >>"$directory/log" 2>&1 &
command=$!
trap '' "$signal"    # from here on it is meant for the others of this process group
{
    read -r _ <&3    # nothing is ever written: this returns when the test process has ended
    : >"$directory/stop"
    kill -s "$signal" 0
} &
wait "$command"
status=$?
kill -s KILL "$!" 2>/dev/null
if [ -e "$directory/stop" ]; then
    # Helpers of a command may outlive it by a moment, and still write.
    for _ in 1 2 3 4 5 6 7 8 9 10; do rm -rf "$directory" && break; sleep 0.3; done
fi
exit "$status"
"#;

/// How long a server may take until it answers; it takes less than a second on an idle machine.
const START_TIMEOUT: Duration = Duration::from_mins(1);

/// A server for this process: its own, or one that was given.
#[derive(Debug)]
pub(crate) struct Server {
    /// As superuser, to the database that every such server has.
    pub(crate) admin: Url,
    own: Option<(Home, Running)>,
}

impl Server {
    /// The server whose URL is in this variable, if it is set.
    pub(crate) fn given(variable: &str, default_port: u16) -> Option<Self> {
        let url = env::var(variable).ok()?;
        let mut admin =
            Url::parse(&url).unwrap_or_else(|error| panic!("{variable}={url}: {error}"));
        // Whoever builds upon this URL need not know the default.
        let port = admin.port().unwrap_or(default_port);
        admin
            .set_port(Some(port))
            .unwrap_or_else(|()| panic!("{variable}={url} names no host"));
        Some(Self { admin, own: None })
    }

    /// Starts `command` with `port_option` and a free port, and waits until it answers.
    ///
    /// `directory_served` asks the server at a URL for its data directory: another one may have taken the port between
    /// our look and our server's start, which then fails.
    pub(crate) async fn start(
        home: Home,
        command: Command,
        port_option: &str,
        admin: impl Fn(u16) -> String,
        directory_served: impl AsyncFn(&str) -> Result<String, sqlx::Error>,
    ) -> Self {
        let mut log = String::new();
        for _ in 0..3 {
            let port = free_port();
            let admin = admin(port);
            let mut running = home.start(&command, &[port_option, &port.to_string()]);
            log = loop {
                let served = directory_served(&admin).await;
                if served.is_ok_and(|directory| Path::new(&directory) == home.data()) {
                    return Self {
                        admin: Url::parse(&admin).expect("a URL we wrote"),
                        own: Some((home, running)),
                    };
                }
                if let Err(log) = running.still_starting() {
                    break log;
                }
            };
        }
        panic!("the server did not start; its log says:\n{log}");
    }

    /// Where our own server lives.
    pub(crate) fn home(&self) -> Option<&Home> {
        self.own.as_ref().map(|(home, _)| home)
    }

    /// What our own server has logged so far; nothing is known of a server that was given.
    pub(crate) fn log(&self) -> Option<String> {
        self.own.as_ref().map(|(_, running)| running.log())
    }

    /// The handle of a database that was made with an owner of the same name.
    pub(crate) fn database(
        &self,
        name: String,
        password: Option<&str>,
        remove: impl Future<Output = Result<(), sqlx::Error>> + Send + 'static,
    ) -> TestDatabase {
        let mut admin_url = self.admin.clone();
        admin_url.set_path(&name);
        let mut url = admin_url.clone();
        url.set_username(&name).expect("a URL with a host");
        url.set_password(password).expect("a URL with a host");
        TestDatabase::new(name, url.into(), admin_url.into(), || {
            finish_in_drop(remove);
        })
    }
}

/// A directory for one server, and the user it runs as.
#[derive(Debug)]
pub(crate) struct Home {
    directory: PathBuf,
    /// Only for root: the user and group to become.
    user: Option<(u32, u32)>,
    /// The signal that ends the server without delay.
    stop: &'static str,
}

impl Home {
    /// Makes a directory below the temporary directory; for root, it is given to `user`.
    pub(crate) fn new(user: &str, stop: &'static str) -> Self {
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
        Self {
            directory,
            user,
            stop,
        }
    }

    /// Where the server keeps its files.
    pub(crate) fn data(&self) -> PathBuf {
        self.path("data")
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

    /// Prepares the server's files; the panic of a failure has the command's output.
    pub(crate) fn run(&self, command: &Command) {
        let mut running = self.start(command, &[]);
        // `wait` would close the pipe, and so stop the command.
        let status = loop {
            match running.ended() {
                Some(status) => break status,
                None => thread::sleep(Duration::from_millis(5)),
            }
        };
        assert!(
            status.success(),
            "{} failed: {status}\n{}",
            command.get_program().display(),
            running.log()
        );
    }

    /// Starts a command, such as the server, under a watchdog.
    fn start(&self, command: &Command, more: &[&str]) -> Running {
        let variables = command.get_envs();
        let mut watchdog = self.command("/bin/sh");
        watchdog
            .args(["-c", WATCHDOG, "inbox-test-watchdog"])
            .arg(&self.directory)
            .arg(self.stop)
            .arg(command.get_program())
            .args(command.get_args())
            .args(more)
            .envs(variables.filter_map(|(name, value)| Some((name, value?))))
            // Ctrl-C at a terminal goes to a whole process group; this one is for the watchdog to end.
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

/// Only for a server that did not come to be: the others are kept in a `static`, which is never dropped.
impl Drop for Home {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.directory).ok();
    }
}

/// A started server. It ends with the process, not with this value.
#[derive(Debug)]
struct Running {
    /// Owns the writing end of the pipe. Children of ours do not inherit it: Rust opens files close-on-exec.
    watchdog: Child,
    log: PathBuf,
    started: Instant,
}

impl Running {
    /// Waits a moment, for the next try to connect. `Err` is the server's log, once waiting has no point any more.
    fn still_starting(&mut self) -> Result<(), String> {
        if self.ended().is_some() || self.started.elapsed() > START_TIMEOUT {
            return Err(self.log());
        }
        thread::sleep(Duration::from_millis(20));
        Ok(())
    }

    fn log(&self) -> String {
        match fs::read(&self.log) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => format!("({} cannot be read: {error})", self.log.display()),
        }
    }

    fn ended(&mut self) -> Option<ExitStatus> {
        self.watchdog.try_wait().expect("our own child")
    }
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

/// A port that nobody listens on, for the moment.
fn free_port() -> u16 {
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
