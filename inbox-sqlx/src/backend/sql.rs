//! The one place where names become SQL text: templates in, ready statements out.

use std::{sync::Arc, time::Duration};

use inbox_core::TableName;
use sqlx::{AssertSqlSafe, SqlSafeStr, SqlStr};

/// What the statements of one inbox depend on besides the database.
#[derive(Debug, Clone)]
pub struct Settings {
    pub(crate) table: TableName,
    /// How long a claim waits for another transaction that holds the same key.
    pub(crate) claim_timeout: Duration,
    /// Whether our statements may stay prepared on the connection under a name.
    pub(crate) prepared: Prepared,
}

/// Whether statements are kept on the connection between calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prepared {
    /// Prepared once per connection under a name: the fast way.
    Named,
    /// Prepared anew each time, for poolers that hand one session to many clients.
    Unnamed,
}

/// The statements of one inbox, made once when it is built.
///
/// Each backend fills in its own dialect; what a field must do stands here.
#[derive(Debug)]
pub struct Statements {
    /// Begin at READ COMMITTED, bound the claim's wait and set the canary: one flight.
    pub(crate) begin: SqlStr,
    /// Insert the marker (key, consumer, token).
    pub(crate) claim: SqlStr,
    /// Read the marker of (key, consumer): id, state, milliseconds until it may be claimed again.
    pub(crate) look: SqlStr,
    /// Release the canary: fails unless the transaction that set it is alive.
    pub(crate) seal: SqlStr,
    /// Takes back what a failed seal did to a transaction that is not ours.
    pub(crate) undo_seal: Option<SqlStr>,
    /// Roll back to the canary: fails only if the transaction that set it is gone.
    pub(crate) probe: SqlStr,
    /// Commit or roll back whatever is open, as text.
    pub(crate) commit: SqlStr,
    pub(crate) rollback: SqlStr,
    /// Find, and delete, exactly the marker one claim wrote: by id, key, consumer and token.
    pub(crate) find_own: SqlStr,
    pub(crate) delete_own: SqlStr,
    /// Everything an operator may ask of one marker.
    pub(crate) status: SqlStr,
    pub(crate) table: TableName,
    pub(crate) prepared: Prepared,
}

impl Statements {
    /// Whether sqlx may keep our statements prepared on the connection.
    pub(crate) fn persistent(&self) -> bool {
        self.prepared == Prepared::Named
    }
}

/// Turns a finished text into something sqlx accepts, cheap to clone.
///
/// This is the only `AssertSqlSafe` of the crate. What gets here is a template of ours with nothing
/// filled in but a validated [`TableName`] (lower-case letters, digits and underscores), numbers, and the
/// hexadecimal name of the canary; keys, consumers and texts are always bound.
pub(crate) fn sql(text: String) -> SqlStr {
    AssertSqlSafe(Arc::<str>::from(text)).into_sql_str()
}

/// The quoted names of one inbox's objects.
#[derive(Debug)]
pub(crate) struct Names {
    schema: Option<String>,
    quote: char,
    table: TableName,
}

impl Names {
    pub(crate) fn new(table: &TableName, quote: char) -> Self {
        let schema = table
            .schema()
            .map(|schema| format!("{quote}{schema}{quote}."));
        Self {
            schema,
            quote,
            table: table.clone(),
        }
    }

    fn plain(&self, name: &str) -> String {
        format!("{0}{name}{0}", self.quote)
    }

    fn qualified(&self, name: &str) -> String {
        format!(
            "{}{}",
            self.schema.as_deref().unwrap_or(""),
            self.plain(name)
        )
    }

    /// The inbox table, with its schema if it has one.
    pub(crate) fn inbox(&self) -> String {
        self.qualified(self.table.table())
    }

    /// Fills a template of ours: `{inbox}` and the other names in braces.
    ///
    /// `indexes` says whether this dialect writes an index's schema before the index or leaves it out.
    pub(crate) fn fill(&self, template: &str, indexes: IndexNames) -> String {
        let index = |name: String| match indexes {
            IndexNames::Plain => self.plain(&name),
            IndexNames::Qualified => self.qualified(&name),
        };
        let table = self.table.table();
        template
            .replace("{inbox}", &self.inbox())
            .replace("{inbox_table}", &self.plain(table))
            .replace("{version}", &self.qualified(&version_table(&self.table)))
            .replace("{unique_index}", &index(self.table.index()))
            .replace(
                "{processed_index}",
                &index(format!("ix_{table}_processed_at")),
            )
            .replace(
                "{unfinished_index}",
                &index(format!("ix_{table}_unfinished")),
            )
    }
}

/// How a dialect names an index in `create index`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum IndexNames {
    /// The index lives in its table's schema: PostgreSQL, MySQL.
    Plain,
    /// The schema stands before the index, not before the table: SQLite.
    Qualified,
}

/// The small table that records which schema versions were installed.
pub(crate) fn version_table(table: &TableName) -> String {
    format!("{}_schema_version", table.table())
}
