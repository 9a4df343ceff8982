//! Which unique index a database error is about, and whether it is the inbox's own.
//!
//! Pure functions over what a driver could tell, one file per database. No server is needed to test them, and none of
//! them looks for a name anywhere in a text: business data is part of the messages of MySQL.

mod index;
mod mysql;
mod postgres;
mod sqlite;
#[cfg(test)]
mod tests;

pub use self::index::ViolatedIndex;
use crate::TableName;

/// What a driver tells about an error, as far as it matters here.
///
/// Any error of the database may be put in; [`Verdict::NotUnique`] is the answer for those that are not a unique
/// violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Violation<'a> {
    /// PostgreSQL: the fields of the error report. Its text, which may be in any language, is not needed.
    Postgres {
        /// `SQLSTATE`, e.g. `23505`.
        sqlstate: &'a str,
        /// The schema of the table.
        schema: Option<&'a str>,
        /// The table.
        table: Option<&'a str>,
        /// The constraint, or the unique index, which PostgreSQL reports in the same field.
        constraint: Option<&'a str>,
    },
    /// MySQL and MariaDB: the number, and the text because the name of the key is nowhere else.
    MySql {
        /// The error number, e.g. `1062`.
        number: u16,
        /// The text, in whatever language the server speaks.
        message: &'a str,
    },
    /// SQLite: the extended result code, and the text because the columns are nowhere else.
    Sqlite {
        /// The extended result code, e.g. `2067`.
        code: i32,
        /// The text, always in English.
        message: &'a str,
    },
}

/// What a database error means for the inbox.
///
/// It is about the index only. Whether the error was raised by the claim or by the handler's own statements is for the
/// caller to know: what a handler raises is never a duplicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The unique index of the inbox: the marker is there already.
    InboxIndex,
    /// A unique violation of any other index: a fact about the data, to be reported.
    OtherIndex,
    /// A unique violation, but the error does not say of which index. Read the marker back instead of guessing.
    Unreadable,
    /// Not a unique violation.
    NotUnique,
}

impl Violation<'_> {
    /// Whether the error is about the unique index of this inbox.
    ///
    /// Exact on every database: a longer name that contains the index's, a key value that spells an error message, the
    /// same index name on another PostgreSQL table, the primary key of the inbox are all [`Verdict::OtherIndex`]. Two
    /// things a database does not tell: MySQL before 8.0.19 and MariaDB leave out the table, and SQLite and MySQL the
    /// schema.
    ///
    /// A partition of a PostgreSQL table reports its own index name and is [`Verdict::OtherIndex`] too. The claim does
    /// not depend on that: with `on conflict (message_id, consumer) do nothing` it never raises the violation.
    ///
    /// ```
    /// use inbox_core::{TableName, Verdict, Violation};
    ///
    /// let error = Violation::MySql {
    ///     number: 1062,
    ///     message: "Doppelter Eintrag 'm-1-credit' für Schlüssel 'ix_inbox_message_id_consumer'",
    /// };
    /// assert_eq!(error.verdict(&TableName::default()), Verdict::InboxIndex);
    /// ```
    pub fn verdict(&self, inbox: &TableName) -> Verdict {
        if !self.is_unique() {
            return Verdict::NotUnique;
        }
        let ours = match *self {
            Self::Postgres {
                schema,
                table,
                constraint,
                ..
            } => postgres::is_inbox(schema, table, constraint, inbox),
            Self::MySql { number, message } => mysql::is_inbox(number, message, inbox),
            Self::Sqlite { message, .. } => sqlite::is_inbox(message, inbox),
        };
        match ours {
            Some(true) => Verdict::InboxIndex,
            Some(false) => Verdict::OtherIndex,
            None => Verdict::Unreadable,
        }
    }

    /// The index that a unique violation is about, as far as the database says.
    ///
    /// Nothing if the error is not a unique violation, or does not say which index it is about (a MySQL server that
    /// speaks Japanese, for example).
    pub fn index(&self) -> Option<ViolatedIndex> {
        ViolatedIndex::of(self)
    }

    fn is_unique(&self) -> bool {
        match *self {
            Self::Postgres { sqlstate, .. } => sqlstate == postgres::UNIQUE_VIOLATION,
            Self::MySql { number, .. } => mysql::is_unique(number),
            Self::Sqlite { code, .. } => sqlite::is_unique(code),
        }
    }
}
