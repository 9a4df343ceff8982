//! Opens a pool that suits handlers: what `Inbox::connect` adds to sqlx's defaults.

use std::{str::FromStr, time::Duration};

use sqlx::{ConnectOptions as _, Connection, Database, Pool, pool::PoolOptions};

use crate::{
    backend::{Fault, driver::Driver, fault},
    error::{ConfigError, Error},
};

type Options<DB> = <<DB as Database>::Connection as Connection>::Options;

/// Reads a URL; the error shows what one looks like.
pub(crate) fn parse<D: Driver>(url: &str) -> Result<Options<D::Db>, Error> {
    check_scheme(url, D::Db::URL_SCHEMES)
        .and_then(|()| Options::<D::Db>::from_str(url))
        .map_err(|source| {
            Error::Config(ConfigError::Url {
                example: D::URL_EXAMPLE,
                source,
            })
        })
}

/// The driver does not look at the scheme: it would talk its own protocol to another database, and on SQLite
/// take any text for the name of a file.
fn check_scheme(url: &str, schemes: &[&str]) -> sqlx::Result<()> {
    let found = match url.split_once(':') {
        Some((scheme, _)) if schemes.contains(&scheme) => return Ok(()),
        Some((scheme, _)) => format!("it begins with `{scheme}:`"),
        None => "it has no scheme".into(),
    };
    let wanted = schemes.join(":` or `");
    Err(sqlx::Error::Configuration(
        format!("{found}, not with `{wanted}:`").into(),
    ))
}

/// Connects once by itself before there is a pool: a pool that cannot connect tries until its time is up and
/// then only says that it is, where a single connection says why.
///
/// A handler holds a connection for one message; ten seconds for getting one is long enough to ride out
/// a burst and short enough that a delivery goes back to its broker instead of hanging.
pub(crate) async fn open<DB: Database>(
    pool: PoolOptions<DB>,
    options: Options<DB>,
) -> Result<Pool<DB>, Error> {
    let first = options.connect().await.map_err(refusal)?;
    let pool = pool
        .acquire_timeout(Duration::from_secs(10))
        .connect_with(options)
        .await
        .map_err(refusal)?;
    // After the pool has its own, so that an in-memory database is not gone in between.
    first.close().await.map_err(Error::Database)?;
    Ok(pool)
}

/// Making a connection can be a write: SQLite is switched to WAL.
fn refusal(error: sqlx::Error) -> Error {
    match fault(&error) {
        Fault::ReadOnly => ConfigError::ReadOnly(error).into(),
        _ => Error::Database(error),
    }
}
