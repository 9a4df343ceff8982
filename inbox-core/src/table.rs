//! `TableName`: where the markers are, as names that are safe to write into SQL.

use std::fmt;
use std::str::FromStr;

/// The longest table name, in bytes.
///
/// With the rest of the index name (`ix_{table}_message_id_consumer`) it fills PostgreSQL's 63 bytes exactly.
pub const MAX_TABLE_BYTES: usize = 40;

/// The longest schema name, in bytes: PostgreSQL cuts identifiers after 63.
pub const MAX_SCHEMA_BYTES: usize = 63;

/// The table that holds the markers, with its schema if it has one; by default `inbox`.
///
/// Both identifiers consist of lower-case ASCII letters, digits and underscores and do not begin with a digit. So they
/// mean the same on every database, quoted or not, and cannot smuggle anything into SQL. They may still be reserved
/// words: whoever writes SQL quotes them.
///
/// A schema is a database in MySQL and MariaDB, and an attached database in SQLite.
///
/// ```
/// use inbox_core::TableName;
///
/// let name = TableName::new("app.inbox")?;
/// assert_eq!(name.schema(), Some("app"));
/// assert_eq!(name.table(), "inbox");
/// assert_eq!(name.index(), "ix_inbox_message_id_consumer");
/// assert_eq!(name.to_string(), "app.inbox");
/// # Ok::<(), inbox_core::TableNameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TableName {
    schema: Option<Box<str>>,
    table: Box<str>,
}

impl TableName {
    /// Reads `table` or `schema.table`.
    ///
    /// # Errors
    ///
    /// [`TableNameError`] shows the name and the rule that it breaks.
    pub fn new(name: &str) -> Result<Self, TableNameError> {
        let refused = |rule| TableNameError {
            value: name.to_owned(),
            rule,
        };
        let (schema, table) = match name.split_once('.') {
            Some((schema, table)) => (Some(schema), table),
            None => (None, name),
        };
        if !schema.into_iter().chain([table]).all(is_identifier) {
            return Err(refused(TableNameRule::Characters));
        }
        if table.len() > MAX_TABLE_BYTES {
            return Err(refused(TableNameRule::TableLength));
        }
        if schema.is_some_and(|schema| schema.len() > MAX_SCHEMA_BYTES) {
            return Err(refused(TableNameRule::SchemaLength));
        }
        Ok(Self {
            schema: schema.map(Box::from),
            table: Box::from(table),
        })
    }

    /// The schema, if the name has one. Without it, the database's own search decides.
    pub fn schema(&self) -> Option<&str> {
        self.schema.as_deref()
    }

    /// The table, without its schema.
    pub fn table(&self) -> &str {
        &self.table
    }

    /// The unique index on (`message_id`, `consumer`), the one that decides what a duplicate is.
    pub fn index(&self) -> String {
        format!("ix_{}_message_id_consumer", self.table)
    }
}

fn is_identifier(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes
        .next()
        .is_some_and(|first| matches!(first, b'a'..=b'z' | b'_'))
        && bytes.all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
}

impl Default for TableName {
    fn default() -> Self {
        Self {
            schema: None,
            table: Box::from("inbox"),
        }
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.schema {
            Some(schema) => write!(f, "{schema}.{}", self.table),
            None => f.write_str(&self.table),
        }
    }
}

impl FromStr for TableName {
    type Err = TableNameError;

    fn from_str(name: &str) -> Result<Self, TableNameError> {
        Self::new(name)
    }
}

/// A table name that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{value:?} cannot be the inbox table: {rule}")]
#[non_exhaustive]
pub struct TableNameError {
    /// The whole name that was given.
    pub value: String,
    /// The rule that it breaks.
    pub rule: TableNameRule,
}

/// The rules for a [`TableName`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableNameRule {
    /// `table` or `schema.table`, each made of `a-z`, `0-9` and `_`, not beginning with a digit.
    Characters,
    /// At most [`MAX_TABLE_BYTES`] bytes for the table.
    TableLength,
    /// At most [`MAX_SCHEMA_BYTES`] bytes for the schema.
    SchemaLength,
}

impl fmt::Display for TableNameRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Characters => f.write_str(
                "write `table` or `schema.table`, each of lower-case letters a-z, digits and `_`, not beginning with a digit",
            ),
            Self::TableLength => write!(
                f,
                "the table may have {MAX_TABLE_BYTES} bytes, so that the name of its index fits into the 63 bytes of PostgreSQL"
            ),
            Self::SchemaLength => write!(f, "the schema may have {MAX_SCHEMA_BYTES} bytes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_TABLE_BYTES, TableName, TableNameRule};

    #[test]
    fn the_default_is_inbox() {
        assert_eq!(TableName::new("inbox"), Ok(TableName::default()));
        assert_eq!(TableName::default().to_string(), "inbox");
        assert_eq!(TableName::default().schema(), None);
    }

    #[test]
    fn the_longest_index_name_fits_into_postgresql() -> Result<(), super::TableNameError> {
        let longest = TableName::new(&"t".repeat(MAX_TABLE_BYTES))?;
        assert_eq!(longest.index().len(), 63);
        Ok(())
    }

    #[test]
    fn names_that_are_refused() {
        use TableNameRule::{Characters, SchemaLength, TableLength};
        let long = "t".repeat(41);
        let in_long = format!("{}.inbox", "s".repeat(64));
        for (name, rule) in [
            ("", Characters),
            (".", Characters),
            ("app.", Characters),
            (".inbox", Characters),
            ("a.b.inbox", Characters),
            ("Inbox", Characters),
            ("1inbox", Characters),
            ("in box", Characters),
            ("in-box", Characters),
            ("inbox;drop table accounts", Characters),
            ("inbox\"", Characters),
            ("inbox\0", Characters),
            ("ınbox", Characters),
            (&long, TableLength),
            (&in_long, SchemaLength),
        ] {
            let error = TableName::new(name).expect_err(name);
            assert_eq!(error.rule, rule, "{name:?}");
            assert_eq!(error.value, name);
        }
    }

    #[test]
    fn the_error_shows_the_name_and_the_rule() {
        let error = TableName::new("App.Inbox").expect_err("upper case");
        assert_eq!(
            error.to_string(),
            "\"App.Inbox\" cannot be the inbox table: write `table` or `schema.table`, each of lower-case letters a-z, \
             digits and `_`, not beginning with a digit"
        );
    }
}
