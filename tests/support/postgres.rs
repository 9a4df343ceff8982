//! PostgreSQL: a server of our own, or the one that `INBOX_TEST_POSTGRES_URL` names.

use std::env;
use std::fs;
use std::path::PathBuf;

use sqlx::postgres::PgPoolOptions;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, PgPool};
use tokio::sync::OnceCell;
use url::Url;

use crate::support::database::{TestDatabase, finish_in_drop, unique_name};
use crate::support::server::{Home, Running, directory_with, free_port};

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

#[derive(Debug)]
struct Server {
    /// As superuser, to the database `postgres`.
    admin: Url,
    own: Option<(Home, Running)>,
}

static SERVER: OnceCell<Server> = OnceCell::const_new();

/// A new database, in which everything is as PostgreSQL has it by default.
pub(crate) async fn fresh_database() -> TestDatabase {
    let server = SERVER.get_or_init(server).await;
    let name = unique_name();
    let mut admin = PgConnection::connect(server.admin.as_str()).await.unwrap();
    for statement in [
        // A database copied from template0 depends on nothing that others left in template1.
        format!("create role {name} login password '{name}'"),
        format!("create database {name} owner {name} template template0"),
    ] {
        admin.execute(AssertSqlSafe(statement)).await.unwrap();
    }
    admin.close().await.unwrap();

    let mut admin_url = server.admin.clone();
    admin_url.set_path(&name);
    let mut url = admin_url.clone();
    url.set_username(&name).unwrap();
    url.set_password(Some(&name)).unwrap();
    let removal = remove(server.admin.clone(), name.clone());
    TestDatabase::new(name, url.into(), admin_url.into(), || {
        finish_in_drop(removal);
    })
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
    let (_, running) = SERVER.get()?.own.as_ref()?;
    Some(running.log())
}

async fn server() -> Server {
    if let Ok(url) = env::var("INBOX_TEST_POSTGRES_URL") {
        let mut admin = Url::parse(&url).expect("INBOX_TEST_POSTGRES_URL is a URL");
        let port = admin.port().unwrap_or(5432);
        admin
            .set_port(Some(port))
            .expect("INBOX_TEST_POSTGRES_URL names a host");
        return Server { admin, own: None };
    }

    let programs = directory_with(&["initdb", "postgres"], debian_directories()).expect(MISSING);
    let home = Home::new("postgres", "QUIT");
    let data = home.path("data");
    let mut initdb = home.command(programs.join("initdb"));
    initdb.arg("-D").arg(&data);
    initdb.args(["--username=postgres", "--auth=trust", "--encoding=UTF8"]);
    initdb.args(["--no-locale", "--no-sync"]);
    home.run(&initdb);

    let mut log = String::new();
    for _ in 0..3 {
        let port = free_port();
        let mut postgres = home.command(programs.join("postgres"));
        postgres
            .arg("-D")
            .arg(&data)
            .args(["-p", &port.to_string()]);
        for setting in SETTINGS {
            postgres.args(["-c", setting]);
        }
        // Where the C library looks for locales, so that German can be added without touching the machine.
        postgres.env("LOCPATH", home.path("locale"));
        let mut running = home.start(&postgres);

        let admin = format!("postgres://postgres@127.0.0.1:{port}/postgres");
        let admin = Url::parse(&admin).expect("a URL we wrote");
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
    panic!("PostgreSQL did not start; its log says:\n{log}");
}

/// The data directory of the server that answers at `url`: another server may have taken the port before ours.
async fn directory_served(url: &Url) -> Option<PathBuf> {
    let mut connection = PgConnection::connect(url.as_str()).await.ok()?;
    let directory: String = sqlx::query_scalar("show data_directory")
        .fetch_one(&mut connection)
        .await
        .ok()?;
    connection.close().await.ok()?;
    Some(directory.into())
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
    let server = SERVER.get_or_init(server).await;
    if let Some((home, _)) = &server.own {
        assert!(
            fs::exists("/usr/share/i18n/locales/de_DE").unwrap(),
            "these tests read German messages, which need the sources of the locale: apt-get install locales"
        );
        let locales = home.path("locale");
        home.run(home.command("mkdir").arg("-p").arg(&locales));
        let mut localedef = home.command("localedef");
        localedef.args(["-i", "de_DE", "-f", "UTF-8"]);
        localedef.arg(locales.join(GERMAN));
        home.run(&localedef);
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
