//! The only seam between the inbox and a database: what each of the three must be able to do.
//!
//! One file per database, the same item order in each. Differences that users can see:
//!
//! | | PostgreSQL | MySQL / MariaDB | SQLite |
//! |---|---|---|---|
//! | claim | `insert … on conflict do nothing` | plain `insert`, error 1062 by index name | `insert … on conflict do nothing` |
//! | a second claim of the same key | waits in the insert | waits in the insert | waits at `begin immediate` |
//! | bound of that wait | `lock_timeout`, for the claim alone | MariaDB: `set statement … for`; MySQL: its own `innodb_lock_wait_timeout` | `busy_timeout` of the connection |
//! | a swallowed error | aborts the transaction | aborts the statement (a deadlock: the transaction) | aborts the statement |

mod fault;
pub(crate) mod leases;
#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "postgres")]
mod postgres;
pub(crate) mod sql;
#[cfg(feature = "sqlite")]
mod sqlite;
pub(crate) mod upkeep;

use std::time::Duration;

use inbox_core::{Consumer, Key, Violation};
use sqlx::{Database, Pool};

pub(crate) use self::fault::Fault;
use self::sql::{Settings, Statements};
use crate::{__private::HandlerConnection, error::Error, schema::SchemaProblem};

/// A database that can hold an inbox: [`Postgres`](sqlx::Postgres), [`MySql`](sqlx::MySql) and
/// [`Sqlite`](sqlx::Sqlite), each behind the feature of its name.
///
/// The trait is sealed: nobody outside can name what its hidden item must be. What the inbox asks of a
/// database is that item's business, so that nothing of it is in scope of code that is generic over
/// `DB: Backend`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a database an inbox can be in",
    label = "not such a database",
    note = "write `Postgres`, `MySql` or `Sqlite`, and enable the feature of that name in `inbox-sqlx`"
)]
pub trait Backend: Database<Connection: HandlerConnection<Database = Self>> {
    #[doc(hidden)]
    type Driver: driver::Driver<Db = Self>;
}

/// What all parts of a driver are about: one database.
pub trait ForDatabase {
    type Db: Database;
}

/// The connection of a driver's database.
pub(crate) type Conn<D> = <<D as ForDatabase>::Db as Database>::Connection;

/// One claim: who wants what, and the proof that a marker found later is its own.
#[derive(Debug)]
pub struct NewClaim<'a> {
    pub(crate) consumer: &'a Consumer,
    pub(crate) key: &'a Key,
    pub(crate) token: &'a Token,
}

/// What a claim statement answered.
#[derive(Debug)]
pub enum Claimed {
    /// The marker was inserted under this row id.
    Inserted(i64),
    /// Nothing was inserted: somebody else's marker may stand in the way. Look.
    Refused,
    /// The same, and the database said it with this error.
    RefusedBy(sqlx::Error),
}

/// A marker as the claim's second look sees it.
#[derive(Debug)]
pub struct FoundMarker {
    pub(crate) row: i64,
    pub(crate) state: i64,
    /// Until it may be claimed again, by the database's clock; zero when it may be now.
    pub(crate) wait: Duration,
}

/// Sixteen random bytes that only the claim that made them knows.
pub(crate) type Token = [u8; 16];

/// The marker that one claim of ours wrote, for looking it up after its transaction ended.
#[derive(Debug)]
pub struct OwnMarker<'a> {
    pub(crate) row: i64,
    pub(crate) claim: NewClaim<'a>,
}

/// One marker, for an operator's eyes. Ages are by the database's clock.
#[derive(Debug)]
pub struct MarkerStatus {
    pub(crate) row: i64,
    pub(crate) state: i64,
    pub(crate) attempts: i64,
    pub(crate) received_ms_ago: i64,
    pub(crate) processed_ms_ago: Option<i64>,
}

pub(crate) mod driver {
    //! Keeps [`Backend`](super::Backend) sealed: nobody outside can name this trait.

    use super::{
        Backend, Claimed, Conn, Error, ForDatabase, FoundMarker, MarkerStatus, NewClaim, OwnMarker,
        Pool, SchemaProblem, Settings, Statements, leases::Take, upkeep::Upkeep,
    };

    /// What a database must be able to do for the inbox. All futures are `Send`.
    ///
    /// None of the methods is safe to drop half-way: they run on a connection that a guard owns
    /// and closes unless it is told that all went well.
    pub trait Driver: ForDatabase<Db: Backend<Driver = Self>> + Take + Upkeep + Sized {
        /// The URL a user would pass, for error messages.
        const URL_EXAMPLE: &'static str;

        /// A pool tuned for handlers: see `Inbox::connect`.
        fn connect(
            url: &str,
            claim_timeout: std::time::Duration,
        ) -> impl Future<Output = Result<Pool<Self::Db>, Error>> + Send;

        /// Refuses pools on which an inbox cannot be right.
        fn check_pool(pool: &Pool<Self::Db>) -> Result<(), Error>;

        /// A second connection that keeps the database alive, for databases that need that.
        fn keeper(
            pool: &Pool<Self::Db>,
        ) -> impl Future<Output = sqlx::Result<Option<Conn<Self>>>> + Send;

        /// All statements of one inbox. `canary` is a savepoint name nobody can guess.
        fn statements(settings: &Settings, canary: &str) -> Statements;

        /// The statements that create or upgrade the tables, one text per version.
        fn ddl(settings: &Settings) -> String;

        fn begin(
            conn: &mut Conn<Self>,
            sql: &Statements,
        ) -> impl Future<Output = sqlx::Result<()>> + Send;

        fn claim(
            conn: &mut Conn<Self>,
            sql: &Statements,
            claim: &NewClaim<'_>,
        ) -> impl Future<Output = sqlx::Result<Claimed>> + Send;

        fn look(
            conn: &mut Conn<Self>,
            sql: &Statements,
            claim: &NewClaim<'_>,
        ) -> impl Future<Output = sqlx::Result<Option<FoundMarker>>> + Send;

        /// Seals and commits; afterwards the connection may go back to its pool.
        fn seal_and_commit(
            conn: &mut Conn<Self>,
            sql: &Statements,
        ) -> impl Future<Output = sqlx::Result<()>> + Send;

        /// Runs one of the texts that take no values and give no rows.
        fn run(
            conn: &mut Conn<Self>,
            text: sqlx::SqlStr,
        ) -> impl Future<Output = sqlx::Result<()>> + Send;

        fn find_own(
            conn: &mut Conn<Self>,
            sql: &Statements,
            own: &OwnMarker<'_>,
        ) -> impl Future<Output = sqlx::Result<bool>> + Send;

        /// Deletes exactly that marker; says whether it was there.
        fn delete_own(
            conn: &mut Conn<Self>,
            sql: &Statements,
            own: &OwnMarker<'_>,
        ) -> impl Future<Output = sqlx::Result<bool>> + Send;

        fn status(
            conn: &mut Conn<Self>,
            sql: &Statements,
            claim: (&inbox_core::Consumer, &inbox_core::Key),
        ) -> impl Future<Output = sqlx::Result<Option<MarkerStatus>>> + Send;

        /// Creates or upgrades the tables; instances may do so at the same moment.
        fn install(
            conn: &mut Conn<Self>,
            settings: &Settings,
        ) -> impl Future<Output = sqlx::Result<()>> + Send;

        /// Everything about the tables that would make the inbox wrong; empty when all is well.
        fn verify(
            conn: &mut Conn<Self>,
            settings: &Settings,
        ) -> impl Future<Output = sqlx::Result<Vec<SchemaProblem>>> + Send;
    }
}

/// What the database told about a violated constraint, if it was a database that spoke.
pub(crate) fn violation(error: &sqlx::Error) -> Option<Violation<'_>> {
    let error = error.as_database_error()?;
    #[cfg(feature = "postgres")]
    if let Some(error) = error.try_downcast_ref::<sqlx::postgres::PgDatabaseError>() {
        return Some(postgres::violation(error));
    }
    #[cfg(feature = "mysql")]
    if let Some(error) = error.try_downcast_ref::<sqlx::mysql::MySqlDatabaseError>() {
        return Some(mysql::violation(error));
    }
    #[cfg(feature = "sqlite")]
    if let Some(error) = error.try_downcast_ref::<sqlx::sqlite::SqliteError>() {
        return sqlite::violation(error);
    }
    let _: &dyn sqlx::error::DatabaseError = error;
    None
}

/// What an error means for the inbox.
pub(crate) fn fault(error: &sqlx::Error) -> Fault {
    match error {
        sqlx::Error::Database(error) => database_fault(error.as_ref()),
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed => Fault::Unavailable,
        _ => Fault::Other,
    }
}

/// The same for one link of an error's chain, if it is about a database. A `#[error(transparent)]` variant
/// hides the `sqlx::Error` itself, and shows only what is in it.
pub(crate) fn fault_of_link(error: &(dyn std::error::Error + 'static)) -> Option<Fault> {
    if let Some(error) = error.downcast_ref::<sqlx::Error>() {
        return Some(fault(error));
    }
    if let Some(error) = error.downcast_ref::<Box<dyn sqlx::error::DatabaseError>>() {
        return Some(database_fault(error.as_ref()));
    }
    error.is::<std::io::Error>().then_some(Fault::Unavailable)
}

fn database_fault(error: &dyn sqlx::error::DatabaseError) -> Fault {
    #[cfg(feature = "postgres")]
    if let Some(error) = error.try_downcast_ref::<sqlx::postgres::PgDatabaseError>() {
        return postgres::fault(error);
    }
    #[cfg(feature = "mysql")]
    if let Some(error) = error.try_downcast_ref::<sqlx::mysql::MySqlDatabaseError>() {
        return mysql::fault(error);
    }
    #[cfg(feature = "sqlite")]
    if let Some(error) = error.try_downcast_ref::<sqlx::sqlite::SqliteError>() {
        return sqlite::fault(error);
    }
    let _ = error;
    Fault::Other
}
