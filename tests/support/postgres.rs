//! PostgreSQL: a server of our own, or the one that `INBOX_TEST_POSTGRES_URL` names.

use std::fs;
use std::path::PathBuf;

use sqlx::postgres::PgPoolOptions;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, PgPool};
use tokio::sync::OnceCell;
use url::Url;

use crate::support::database::{TestDatabase, unique_name};
use crate::support::server::{Home, Server, directory_with, run};

const MISSING: &str = "\
these tests need a PostgreSQL server: they found no `initdb` and `postgres` on PATH or in /usr/lib/postgresql/*/bin.
Install it, they start it themselves:     apt-get install postgresql
or name a server, as its superuser:       INBOX_TEST_POSTGRES_URL=postgres://postgres:password@127.0.0.1:5432/postgres
or run everything with one command:       tests/run.sh";

const SETTINGS: [&str; 6] = [
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "max_connections=200",
    // Tests that deadlock on purpose should not wait the usual second.
    "deadlock_timeout=200ms",
    "lc_messages=C",
    "shared_buffers=32MB",
];

const GERMAN: &str = "de_DE.UTF-8";

/// What came of the one attempt to have a server; every test that needs it hears of a failure.
static SERVER: OnceCell<Result<Server, String>> = OnceCell::const_new();

/// A new database, in which everything is as PostgreSQL has it by default.
pub(crate) async fn fresh_database() -> TestDatabase {
    let server = server().await;
    let name = unique_name();
    let mut admin = PgConnection::connect(server.admin.as_str()).await.unwrap();
    for statement in [
        format!("create role {name} login password '{name}'"),
        // A copy of template0 depends on nothing that others left in template1.
        format!("create database {name} owner {name} template template0"),
    ] {
        admin.execute(AssertSqlSafe(statement)).await.unwrap();
    }
    admin.close().await.unwrap();

    let removal = remove(server.admin.clone(), name.clone());
    let password = name.clone();
    server.database(name, Some(&password), removal)
}

/// A pool on `database` whose sessions speak German.
pub(crate) async fn german_pool(database: &TestDatabase) -> PgPool {
    static LOCALE: OnceCell<()> = OnceCell::const_new();
    LOCALE.get_or_init(install_german).await;

    // Ordinary users may not choose the language of the server's messages, so it becomes the database's default.
    let mut admin = PgConnection::connect(database.admin_url()).await.unwrap();
    let set = format!(
        "alter database {} set lc_messages to '{GERMAN}'",
        database.name()
    );
    admin.execute(AssertSqlSafe(set)).await.unwrap_or_else(|error| {
        panic!("the PostgreSQL server has no locale {GERMAN} (root there: localedef -i de_DE -f UTF-8 {GERMAN}): {error}")
    });
    admin.close().await.unwrap();
    PgPoolOptions::new().connect(database.url()).await.unwrap()
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
    if let Some(given) = Server::given("INBOX_TEST_POSTGRES_URL", 5432) {
        return given;
    }
    let programs = directory_with(&["initdb", "postgres"], debian_directories()).ok_or(MISSING)?;
    let mut home = Home::new("postgres", "QUIT");

    let mut initdb = home.command(programs.join("initdb"));
    initdb.arg("-D").arg(home.data());
    initdb.args(["--username=postgres", "--auth=trust", "--encoding=UTF8"]);
    initdb.args(["--no-locale", "--no-sync"]);
    home.run(&initdb)?;

    let mut postgres = home.command(programs.join("postgres"));
    postgres.arg("-D").arg(home.data());
    for setting in SETTINGS {
        postgres.args(["-c", setting]);
    }
    // Where the C library looks for locales, so that German can be added without touching the machine.
    postgres.env("LOCPATH", home.path("locale"));
    let url = |port| format!("postgres://postgres@127.0.0.1:{port}/postgres");
    Server::start(home, &postgres, "-p", url, directory_served).await
}

async fn directory_served(url: &str) -> Result<String, sqlx::Error> {
    let mut connection = PgConnection::connect(url).await?;
    let directory = sqlx::query_scalar("show data_directory")
        .fetch_one(&mut connection)
        .await?;
    connection.close().await?;
    Ok(directory)
}

/// Debian keeps the server's programs off `PATH`; the newest version first.
fn debian_directories() -> Vec<PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            Some((
                entry.file_name().to_str()?.parse().ok()?,
                entry.path().join("bin"),
            ))
        })
        .collect();
    versions.sort();
    versions
        .into_iter()
        .rev()
        .map(|(_, directory)| directory)
        .collect()
}

/// Makes the German locale known to our own server. One that was given has it or not.
async fn install_german() {
    let server = server().await;
    if let Some(home) = server.home() {
        assert!(
            fs::exists("/usr/share/i18n/locales/de_DE").unwrap(),
            "these tests read German messages, which need the sources of the locale: apt-get install locales"
        );
        let locales = home.path("locale");
        run(home.command("mkdir").arg("-p").arg(&locales));
        let mut localedef = home.command("localedef");
        localedef.args(["-i", "de_DE", "-f", "UTF-8"]);
        localedef.arg(locales.join(GERMAN));
        run(&mut localedef);
    }
}

async fn remove(admin: Url, name: String) -> Result<(), sqlx::Error> {
    let mut admin = PgConnection::connect(admin.as_str()).await?;
    for statement in [
        format!("drop database {name} with (force)"),
        format!("drop role {name}"),
    ] {
        admin.execute(AssertSqlSafe(statement)).await?;
    }
    admin.close().await
}
