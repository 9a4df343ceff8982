//! MariaDB: a server of our own, or the one (also MySQL) that `INBOX_TEST_MYSQL_URL` names.

use std::env;
use std::path::PathBuf;

use sqlx::mysql::MySqlPoolOptions;
use sqlx::{AssertSqlSafe, Connection, Executor, MySqlConnection, MySqlPool};
use tokio::sync::OnceCell;
use url::Url;

use crate::support::database::{TestDatabase, finish_in_drop, unique_name};
use crate::support::server::{Home, Running, directory_with, free_port};

const MISSING: &str = "\
these tests need a MariaDB server: they found no `mariadbd` and `mariadb-install-db` on PATH or in /usr/sbin, /usr/bin.
Install it, they start it themselves:     apt-get install mariadb-server
or name a server, also MySQL, as root:    INBOX_TEST_MYSQL_URL=mysql://root:password@127.0.0.1:3306/mysql
or run everything with one command:       tests/run.sh";

/// Everything else is as MariaDB has it when nothing is configured: its databases are latin1, for instance.
const SETTINGS: [&str; 9] = [
    "--no-defaults",
    "--bind-address=127.0.0.1",
    "--skip-name-resolve",
    "--max-connections=200",
    "--innodb-buffer-pool-size=64M",
    "--innodb-log-file-size=16M",
    // As on most servers that matter. It makes `binlog_format` count, which can forbid READ COMMITTED writes.
    "--log-bin=binlog",
    "--binlog-format=MIXED",
    "--server-id=1",
];

#[derive(Debug)]
struct Server {
    /// As root, to the database `mysql`.
    admin: Url,
    own: Option<(Home, Running)>,
}

static SERVER: OnceCell<Server> = OnceCell::const_new();

/// A new database with the server's default collation, whatever that is: our schema must not depend on it.
pub(crate) async fn fresh_database() -> TestDatabase {
    let server = SERVER.get_or_init(server).await;
    let name = unique_name();
    let mut admin = MySqlConnection::connect(server.admin.as_str())
        .await
        .unwrap();
    for statement in [
        format!("create database {name}"),
        // Without a password, because MySQL's way to check one needs TLS or RSA, which these tests do without.
        format!("create user {name}@'%'"),
        format!("grant all on {name}.* to {name}@'%'"),
    ] {
        admin.execute(AssertSqlSafe(statement)).await.unwrap();
    }
    admin.close().await.unwrap();

    let mut admin_url = server.admin.clone();
    admin_url.set_path(&name);
    let mut url = admin_url.clone();
    url.set_username(&name).unwrap();
    url.set_password(None).unwrap();
    let removal = remove(server.admin.clone(), name.clone());
    TestDatabase::new(name, url.into(), admin_url.into(), || {
        finish_in_drop(removal);
    })
}

/// A pool on `database` whose sessions speak German.
pub(crate) async fn german_pool(database: &TestDatabase) -> MySqlPool {
    MySqlPoolOptions::new()
        .after_connect(|connection, _| {
            Box::pin(async move {
                connection.execute("set lc_messages = 'de_DE'").await?;
                Ok(())
            })
        })
        .connect(database.url())
        .await
        .unwrap()
}

/// What our own server has logged so far; nothing is known of a server that was given.
pub(crate) fn server_log() -> Option<String> {
    let (_, running) = SERVER.get()?.own.as_ref()?;
    Some(running.log())
}

async fn server() -> Server {
    if let Ok(url) = env::var("INBOX_TEST_MYSQL_URL") {
        let mut admin = Url::parse(&url).expect("INBOX_TEST_MYSQL_URL is a URL");
        let port = admin.port().unwrap_or(3306);
        admin
            .set_port(Some(port))
            .expect("INBOX_TEST_MYSQL_URL names a host");
        return Server { admin, own: None };
    }

    let debian = || ["/usr/sbin", "/usr/bin"].map(PathBuf::from);
    let mariadbd = directory_with(&["mariadbd"], debian())
        .expect(MISSING)
        .join("mariadbd");
    let install = directory_with(&["mariadb-install-db"], debian())
        .expect(MISSING)
        .join("mariadb-install-db");
    let home = Home::new("mysql", "TERM");
    let data = home.path("data");
    let mut install = home.command(install);
    install.args(["--no-defaults", "--skip-test-db"]);
    install.arg("--auth-root-authentication-method=normal");
    install.arg(format!("--datadir={}", data.display()));
    home.run(&install);

    let mut log = String::new();
    for _ in 0..3 {
        let port = free_port();
        let mut server = home.command(&mariadbd);
        server
            .args(SETTINGS)
            .arg(format!("--datadir={}", data.display()))
            .arg(format!("--socket={}", home.path("socket").display()))
            .arg(format!("--port={port}"));
        let mut running = home.start(&server);

        let admin =
            Url::parse(&format!("mysql://root@127.0.0.1:{port}/mysql")).expect("a URL we wrote");
        log = loop {
            if directory_served(&admin)
                .await
                .is_some_and(|served| served == data)
            {
                let own = Some((home, running));
                return Server { admin, own };
            }
            if let Err(log) = running.still_starting() {
                break log;
            }
        };
    }
    panic!("MariaDB did not start; its log says:\n{log}");
}

/// The data directory of the server that answers at `url`: another server may have taken the port before ours.
async fn directory_served(url: &Url) -> Option<PathBuf> {
    let mut connection = MySqlConnection::connect(url.as_str()).await.ok()?;
    let directory: String = sqlx::query_scalar("select @@datadir")
        .fetch_one(&mut connection)
        .await
        .ok()?;
    connection.close().await.ok()?;
    Some(directory.into())
}

async fn remove(admin: Url, name: String) -> Result<(), sqlx::Error> {
    let mut admin = MySqlConnection::connect(admin.as_str()).await?;
    // A session that is left in a transaction would hold the database's tables for as long as it lives.
    // (The number of a session is signed on MariaDB and unsigned on MySQL.)
    let sessions: Vec<i64> = sqlx::query_scalar(
        "select cast(id as signed) from information_schema.processlist where user = ?",
    )
    .bind(&name)
    .fetch_all(&mut admin)
    .await?;
    for session in sessions {
        // An error here means that it has ended by itself.
        admin
            .execute(AssertSqlSafe(format!("kill {session}")))
            .await
            .ok();
    }
    for statement in [
        "set lock_wait_timeout = 10".to_owned(),
        format!("drop database {name}"),
        format!("drop user {name}@'%'"),
    ] {
        admin.execute(AssertSqlSafe(statement)).await?;
    }
    admin.close().await
}
