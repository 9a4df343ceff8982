//! Which database a URL means, and whether this build speaks to it.

use anyhow::bail;

/// The databases an inbox can live in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Database {
    Sqlite,
    #[cfg(feature = "postgres")]
    Postgres,
    #[cfg(feature = "mysql")]
    MySql,
}

impl Database {
    /// Reads the scheme of a URL. The errors never repeat the URL: it may hold a password.
    pub(crate) fn of(url: &str) -> anyhow::Result<Self> {
        let (scheme, _) = url.split_once(':').unwrap_or((url, ""));
        match scheme {
            "sqlite" => Ok(Self::Sqlite),
            #[cfg(feature = "postgres")]
            "postgres" | "postgresql" => Ok(Self::Postgres),
            #[cfg(not(feature = "postgres"))]
            "postgres" | "postgresql" => bail!(missing("PostgreSQL", "postgres")),
            #[cfg(feature = "mysql")]
            "mysql" | "mariadb" => Ok(Self::MySql),
            #[cfg(not(feature = "mysql"))]
            "mysql" | "mariadb" => bail!(missing("MySQL and MariaDB", "mysql")),
            _ => bail!(
                "--database takes a URL that begins with sqlite:, postgres: or mysql:, \
                 for example sqlite://bank.sqlite?mode=rwc"
            ),
        }
    }
}

#[cfg(not(all(feature = "postgres", feature = "mysql")))]
fn missing(database: &str, feature: &str) -> String {
    let example = env!("CARGO_CRATE_NAME");
    format!(
        "this build does not speak to {database}; add the feature:\n\n    \
         cargo run --features {feature} --example {example} -- --database {feature}://..."
    )
}
