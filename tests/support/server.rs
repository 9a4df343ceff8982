//! A server process that lives exactly as long as this test process.
//!
//! libtest runs no code after the last test, and a test process may be killed. So a server's directory has a watchdog,
//! a shell that reads from a pipe whose only writer is this process. However this process ends, the pipe closes, and
//! the watchdog stops the server and removes the directory.
//!
//! `initdb`, `postgres` and `mariadbd` refuse or dislike root: for root, everything here runs as the database's own
//! system user, or as `nobody`.

use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use url::Url;

use crate::support::database::{TestDatabase, finish_in_drop};

/// `$1` is the server's directory, `$2` the signal that stops a server without delay.
///
/// Each line it reads is the process group that runs now; an empty line says that it has ended by itself.
const WATCHDOG: &str = r#"
while read -r line; do group=$line; done
if [ "$group" ]; then
    kill -s "$2" -- "-$group"
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        sleep 0.1
        kill -s 0 -- "-$group" || break
    done
    kill -s KILL -- "-$group"
fi
# What was killed in the middle of a write may still finish it.
rm -rf "$1" || { sleep 1; rm -rf "$1"; }
"#;

/// Waits until the watchdog knows of this process, and then becomes `$1 ...`.
const LAUNCHER: &str = r#"read -r go && exec "$@" </dev/null"#;

/// How long a server may take until it answers; it takes less than a second on an idle machine.
const START_TIMEOUT: Duration = Duration::from_mins(1);

/// A server for this process: its own, or one that was given.
#[derive(Debug)]
pub(crate) struct Server {
    /// As superuser, to the database that every such server has.
    pub(crate) admin: Url,
    own: Option<Home>,
}

impl Server {
    /// The server whose URL is in this variable, if it is set.
    pub(crate) fn given(variable: &str, default_port: u16) -> Option<Result<Self, String>> {
        let url = env::var(variable).ok()?;
        let parsed = Url::parse(&url).map_err(|error| format!("{variable}={url}: {error}"));
        Some(parsed.and_then(|mut admin| {
            // Whoever builds upon this URL need not know the default.
            let port = admin.port().unwrap_or(default_port);
            admin
                .set_port(Some(port))
                .map_err(|()| format!("{variable}={url} names no host"))?;
            Ok(Self { admin, own: None })
        }))
    }

    /// Starts `command` with `port_option` and a free port, and waits until it answers.
    ///
    /// `directory_served` asks the server at a URL for its data directory: another one may have taken the port between
    /// our look and our server's start, which then fails.
    pub(crate) async fn start(
        mut home: Home,
        command: &Command,
        port_option: &str,
        admin: impl Fn(u16) -> String,
        directory_served: impl AsyncFn(&str) -> Result<String, sqlx::Error>,
    ) -> Result<Self, String> {
        for _ in 0..3 {
            let port = free_port();
            let admin = admin(port);
            let mut server = home.start(command, &[port_option, &port.to_string()]);
            let started = Instant::now();
            while server.try_wait().expect("our own child").is_none() {
                match directory_served(&admin).await {
                    Ok(directory) if Path::new(&directory) == home.data() => {
                        let admin = Url::parse(&admin).expect("a URL we wrote");
                        let own = Some(home);
                        return Ok(Self { admin, own });
                    }
                    answer if started.elapsed() > START_TIMEOUT => {
                        let log = home.log();
                        return Err(format!("the server does not serve: {answer:?}\n{log}"));
                    }
                    _ => thread::sleep(Duration::from_millis(20)),
                }
            }
            home.nothing_runs();
        }
        Err(format!("the server does not start:\n{}", home.log()))
    }

    /// Where our own server lives.
    pub(crate) fn home(&self) -> Option<&Home> {
        self.own.as_ref()
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
///
/// The watchdog removes it, and ends what runs in it, when this is dropped or this process ends.
#[derive(Debug)]
pub(crate) struct Home {
    directory: PathBuf,
    /// Only for root: the user and group to become.
    user: Option<(u32, u32)>,
    /// Owns the writing end of the pipe. Children of ours do not inherit it: Rust opens files close-on-exec.
    watchdog: Child,
}

impl Home {
    /// Makes a directory below the temporary directory; for root, it is given to `user`.
    ///
    /// `stop` is the signal that ends the server without delay.
    pub(crate) fn new(user: &str, stop: &str) -> Self {
        let directory = tempfile::Builder::new()
            .prefix(&format!("inbox-{user}-"))
            .tempdir()
            .expect("a temporary directory")
            .keep();
        let made_by = fs::metadata(&directory).expect("just made").uid();
        let user = (made_by == 0).then(|| {
            let (uid, gid) = ids_of(user)
                .or_else(|| ids_of("nobody"))
                .expect("the user `nobody`");
            chown(&directory, Some(uid), Some(gid)).expect("root may give a directory away");
            (uid, gid)
        });
        let watchdog = as_user(user, "/bin/sh")
            .args(["-c", WATCHDOG, "inbox-test-watchdog"])
            .arg(&directory)
            .arg(stop)
            // Ctrl-C at a terminal goes to a whole process group; this one is to outlive us.
            .process_group(0)
            .stdin(Stdio::piped())
            // Whoever reads our output must not wait for the clean-up.
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("/bin/sh runs");
        Self {
            directory,
            user,
            watchdog,
        }
    }

    /// Where the server keeps its files.
    pub(crate) fn data(&self) -> PathBuf {
        self.path("data")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// What the programs in this directory have said so far.
    pub(crate) fn log(&self) -> String {
        let path = self.path("log");
        match fs::read(&path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => format!("({} cannot be read: {error})", path.display()),
        }
    }

    /// `program`, as the server's user and in its directory: root's own may be closed to that user.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = as_user(self.user, program);
        command.current_dir(&self.directory).stdin(Stdio::null());
        // MariaDB's temporary tables would survive a kill anywhere else.
        command.env("TMPDIR", &self.directory);
        command
    }

    /// Prepares the server's files.
    pub(crate) fn run(&mut self, command: &Command) -> Result<(), String> {
        let status = self.start(command, &[]).wait().expect("our own child");
        self.nothing_runs();
        if status.success() {
            return Ok(());
        }
        let program = command.get_program().display();
        Err(format!("{program} failed: {status}\n{}", self.log()))
    }

    /// Starts a command, such as the server, in the watchdog's care.
    fn start(&mut self, command: &Command, more: &[&str]) -> Child {
        let log = fs::File::options()
            .append(true)
            .create(true)
            .open(self.path("log"))
            .expect("a file in a directory of ours");
        let variables = command.get_envs();
        let mut child = self
            .command("/bin/sh")
            .args(["-c", LAUNCHER, "inbox-test-launcher"])
            .arg(command.get_program())
            .args(command.get_args())
            .args(more)
            .envs(variables.filter_map(|(name, value)| Some((name, value?))))
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(log.try_clone().expect("one more handle of a file"))
            .stderr(log)
            .spawn()
            .expect("/bin/sh runs");
        self.tell_watchdog(&format!("{}\n", child.id()));
        let mut go = child.stdin.take().expect("piped");
        go.write_all(b"go\n").expect("the launcher reads");
        child
    }

    fn nothing_runs(&mut self) {
        self.tell_watchdog("\n");
    }

    fn tell_watchdog(&mut self, line: &str) {
        let pipe = self.watchdog.stdin.as_mut().expect("piped");
        pipe.write_all(line.as_bytes()).expect("the watchdog reads");
    }
}

/// Runs a short command to its end; a failure of it fails the test.
pub(crate) fn run(command: &mut Command) {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
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

fn as_user(user: Option<(u32, u32)>, program: impl AsRef<Path>) -> Command {
    let mut command = Command::new(program.as_ref());
    if let Some((uid, gid)) = user {
        command.uid(uid).gid(gid);
    }
    command
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
