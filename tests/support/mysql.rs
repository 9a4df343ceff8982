//! MariaDB: a server of our own, or the one (also MySQL) that `INBOX_TEST_MYSQL_URL` names.

use std::path::PathBuf;

use sqlx::mysql::MySqlPoolOptions;
use sqlx::{AssertSqlSafe, Connection, Executor, MySqlConnection, MySqlPool};
use tokio::sync::OnceCell;
use url::Url;

use crate::support::database::{TestDatabase, unique_name};
use crate::support::server::{Home, Server, directory_with};

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

/// What came of the one attempt to have a server; every test that needs it hears of a failure.
static SERVER: OnceCell<Result<Server, String>> = OnceCell::const_new();

/// A new database with the server's default collation, whatever that is: our schema must not depend on it.
pub(crate) async fn fresh_database() -> TestDatabase {
    let server = server().await;
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

    let removal = remove(server.admin.clone(), name.clone());
    server.database(name, None, removal)
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
    let server = SERVER.get()?.as_ref().ok()?;
    server.home().map(Home::log)
}

async fn server() -> &'static Server {
    let server = SERVER.get_or_init(start).await;
    server.as_ref().unwrap_or_else(|reason| panic!("{reason}"))
}

async fn start() -> Result<Server, String> {
    if let Some(given) = Server::given("INBOX_TEST_MYSQL_URL", 3306) {
        return given;
    }
    let program = |name| {
        let debian = ["/usr/sbin", "/usr/bin"].map(PathBuf::from);
        directory_with(&[name], debian)
            .map(|directory| directory.join(name))
            .ok_or(MISSING)
    };
    let (install, mariadbd) = (program("mariadb-install-db")?, program("mariadbd")?);
    let mut home = Home::new("mysql", "KILL");
    let data = format!("--datadir={}", home.data().display());

    let mut prepare = home.command(install);
    prepare.args(["--no-defaults", "--skip-test-db", &data]);
    prepare.arg("--auth-root-authentication-method=normal");
    home.run(&prepare)?;

    let mut server = home.command(mariadbd);
    server.args(SETTINGS).arg(data);
    server.arg(format!("--socket={}", home.path("socket").display()));
    let url = |port| format!("mysql://root@127.0.0.1:{port}/mysql");
    Server::start(home, &server, "--port", url, directory_served).await
}

async fn directory_served(url: &str) -> Result<String, sqlx::Error> {
    let mut connection = MySqlConnection::connect(url).await?;
    let directory = sqlx::query_scalar("select @@datadir")
        .fetch_one(&mut connection)
        .await?;
    connection.close().await?;
    Ok(directory)
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
