//! What can be wrong with the inbox's tables, and what mends it.

use std::fmt;

use inbox_core::TableName;

/// The tables are not as the inbox needs them: nothing is run until that is mended.
///
/// Its text names the table, everything that is wrong with it, and what to type.
#[derive(Debug)]
pub struct SchemaError(Box<Found>);

#[derive(Debug)]
struct Found {
    table: TableName,
    problems: Vec<SchemaProblem>,
    source: Option<sqlx::Error>,
}

impl SchemaError {
    pub(crate) fn new(table: &TableName, problems: Vec<SchemaProblem>) -> Self {
        Self(Box::new(Found {
            table: table.clone(),
            problems,
            source: None,
        }))
    }

    pub(crate) fn seen(table: &TableName, problem: SchemaProblem, source: sqlx::Error) -> Self {
        Self(Box::new(Found {
            table: table.clone(),
            problems: vec![problem],
            source: Some(source),
        }))
    }

    /// The inbox table.
    pub fn table(&self) -> &TableName {
        &self.0.table
    }

    /// Everything that was found, most basic first; never empty.
    pub fn problems(&self) -> &[SchemaProblem] {
        &self.0.problems
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "inbox table `{}` cannot be used: ", self.0.table)?;
        for (position, problem) in self.0.problems.iter().enumerate() {
            if position > 0 {
                f.write_str("; ")?;
            }
            write!(f, "{problem} ({})", problem.remedy())?;
        }
        Ok(())
    }
}

impl std::error::Error for SchemaError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|error| error as _)
    }
}

/// One thing that is wrong with the inbox's tables. Each would lose messages, double them, or stop them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaProblem {
    /// The schema (on MySQL the database, on SQLite the attached file) in the table's name does not exist.
    SchemaMissing,
    /// There is no such table.
    TableMissing,
    /// The name belongs to a view or something else that is not a table.
    NotATable {
        /// What it is.
        found: String,
    },
    /// A column is missing.
    ColumnMissing {
        /// The column.
        column: String,
    },
    /// A key column allows NULL, and NULL is never a duplicate of anything.
    ColumnNullable {
        /// The column.
        column: String,
    },
    /// A key column would treat different keys as equal, or cut them.
    ColumnFoldsKeys {
        /// The column.
        column: String,
        /// What is wrong with its type or collation.
        found: String,
    },
    /// The unique index that decides what is a duplicate does not exist.
    IndexMissing {
        /// The index.
        index: String,
    },
    /// The unique index exists, but does not do what it must.
    IndexBroken {
        /// The index.
        index: String,
        /// Why it does not decide.
        fault: IndexFault,
    },
    /// Another unique index stands on the table: it would refuse messages that are no duplicates.
    ExtraUniqueIndex {
        /// The index.
        index: String,
        /// Its columns, in order.
        columns: Vec<String>,
    },
    /// A trigger on the table can swallow or change a marker.
    Trigger {
        /// The trigger.
        name: String,
    },
    /// A rule on the table can swallow or change a marker.
    Rule {
        /// The rule.
        name: String,
    },
    /// The storage engine has no transactions: a rolled-back marker would stay.
    NotTransactional {
        /// The engine.
        engine: String,
    },
    /// The table does not survive a crash of the server, or is seen by one session only.
    NotDurable {
        /// What kind of table it is.
        found: String,
    },
    /// The server logs statements, and refuses writes at READ COMMITTED.
    BinlogFormat {
        /// The setting.
        found: String,
    },
    /// The claim wrote nothing although no marker stands in its way: something swallowed it.
    ClaimSwallowed,
    /// The database role lacks a privilege; the source says which.
    Forbidden,
}

/// Why a unique index does not decide what is a duplicate.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexFault {
    /// It is not unique.
    NotUnique,
    /// It covers only the rows of a condition.
    Partial,
    /// It is checked at commit instead of at the claim.
    Deferrable,
    /// Building it failed half-way.
    Invalid,
    /// It stands on other columns, or on the right ones in another order.
    OtherColumns {
        /// The columns, in order.
        found: Vec<String>,
    },
    /// It looks only at the beginning of a column.
    Prefix,
    /// It compares with a collation that treats different keys as equal.
    Collation {
        /// The collation.
        found: String,
    },
}

impl SchemaProblem {
    /// What to type to mend it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::SchemaMissing => {
                "create it first: the inbox makes only tables; on SQLite attach it on every connection"
            }
            Self::TableMissing => "run `inbox.install().await`, or apply what `inbox.ddl()` prints",
            Self::NotATable { .. } => "name another table with `Inbox::builder().table(..)`",
            Self::ColumnMissing { .. }
            | Self::ColumnNullable { .. }
            | Self::ColumnFoldsKeys { .. } => {
                "compare the table with what `inbox.ddl()` prints and alter the column"
            }
            Self::IndexMissing { .. } | Self::IndexBroken { .. } => {
                "drop it if it exists, then create the unique index as `inbox.ddl()` prints it"
            }
            Self::ExtraUniqueIndex { .. } => "drop it, or make it an ordinary index",
            Self::Trigger { .. } | Self::Rule { .. } => "drop it",
            Self::NotTransactional { .. } => "alter table … engine = InnoDB",
            Self::NotDurable { .. } => "make it an ordinary table: alter table … set logged",
            Self::BinlogFormat { .. } => "set binlog_format to ROW or MIXED",
            Self::ClaimSwallowed => {
                "look for a trigger, a rule or a row policy with `inbox.verify().await`"
            }
            Self::Forbidden => {
                "grant select and insert on the table, and delete for cleaning up after bodies \
                 that commit, to this role"
            }
        }
    }
}

impl fmt::Display for SchemaProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SchemaMissing => f.write_str("its schema does not exist"),
            Self::TableMissing => f.write_str("it, or one of its columns, does not exist"),
            Self::NotATable { found } => write!(f, "it is not a table but {found}"),
            Self::ColumnMissing { column } => write!(f, "column `{column}` is missing"),
            Self::ColumnNullable { column } => {
                write!(
                    f,
                    "column `{column}` allows null, and null is never a duplicate"
                )
            }
            Self::ColumnFoldsKeys { column, found } => {
                write!(
                    f,
                    "column `{column}` {found}, so different keys could become one"
                )
            }
            Self::IndexMissing { index } => {
                write!(
                    f,
                    "the unique index `{index}` on (message_id, consumer) is missing"
                )
            }
            Self::IndexBroken { index, fault } => write!(f, "the index `{index}` {fault}"),
            Self::ExtraUniqueIndex { index, columns } => write!(
                f,
                "the unique index `{index}` on ({}) would refuse messages that are no duplicates",
                columns.join(", ")
            ),
            Self::Trigger { name } => write!(f, "the trigger `{name}` can swallow a marker"),
            Self::Rule { name } => write!(f, "the rule `{name}` can swallow a marker"),
            Self::NotTransactional { engine } => {
                write!(f, "its engine {engine} has no transactions")
            }
            Self::NotDurable { found } => write!(f, "it is {found} and forgets its markers"),
            Self::BinlogFormat { found } => write!(
                f,
                "the server's binlog_format {found} refuses writes at READ COMMITTED"
            ),
            Self::ClaimSwallowed => {
                f.write_str("a claim wrote nothing although no marker stands in its way")
            }
            Self::Forbidden => f.write_str("the database role may not use it"),
        }
    }
}

impl fmt::Display for IndexFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUnique => f.write_str("is not unique"),
            Self::Partial => f.write_str("is partial: it covers only some rows"),
            Self::Deferrable => {
                f.write_str("is deferrable: it decides at commit, not at the claim")
            }
            Self::Invalid => f.write_str("is invalid: building it failed half-way"),
            Self::OtherColumns { found } => write!(
                f,
                "is on ({}), not on (message_id, consumer)",
                found.join(", ")
            ),
            Self::Prefix => f.write_str("covers only the beginning of a column"),
            Self::Collation { found } => {
                write!(
                    f,
                    "compares by the collation {found}, so different keys could become one"
                )
            }
        }
    }
}

/// The columns our statements name.
const COLUMNS: [&str; 21] = [
    "id",
    "message_id",
    "consumer",
    "state",
    "received_at",
    "processed_at",
    "attempts",
    "lost_leases",
    "fence",
    "token",
    "lease_until",
    "next_at",
    "first_call_at",
    "parked_at",
    "last_error",
    "on_unknown",
    "max_attempts",
    "horizon_ms",
    "payload",
    "fingerprint",
    "result",
];

/// A column as a catalog describes it.
#[derive(Debug)]
pub(crate) struct FoundColumn {
    pub(crate) name: String,
    pub(crate) type_name: String,
    pub(crate) not_null: bool,
    pub(crate) collation: Option<String>,
    /// Whether the collation compares byte for byte.
    pub(crate) exact: bool,
}

/// An index as a catalog describes it.
#[derive(Debug)]
pub(crate) struct FoundIndex {
    pub(crate) name: String,
    pub(crate) unique: bool,
    pub(crate) faults: Vec<IndexFault>,
    pub(crate) columns: Vec<String>,
}

/// The rules about columns that are the same everywhere; `exact` knows the database's types.
pub(crate) fn check_columns(
    found: &[FoundColumn],
    exact: fn(&FoundColumn, bytes: u64) -> Result<(), String>,
    problems: &mut Vec<SchemaProblem>,
) {
    for name in COLUMNS {
        if !found.iter().any(|column| column.name == name) {
            problems.push(SchemaProblem::ColumnMissing {
                column: name.into(),
            });
        }
    }
    for (name, bytes) in [
        ("message_id", inbox_core::MAX_KEY_BYTES as u64),
        ("consumer", inbox_core::MAX_CONSUMER_BYTES as u64),
    ] {
        let Some(column) = found.iter().find(|column| column.name == name) else {
            continue;
        };
        if !column.not_null {
            problems.push(SchemaProblem::ColumnNullable {
                column: name.into(),
            });
        }
        if let Err(found) = exact(column, bytes) {
            problems.push(SchemaProblem::ColumnFoldsKeys {
                column: name.into(),
                found,
            });
        }
    }
}

/// The rules about indexes, the same everywhere.
pub(crate) fn check_index(
    found: &[FoundIndex],
    table: &TableName,
    problems: &mut Vec<SchemaProblem>,
) {
    let name = table.index();
    match found.iter().find(|index| index.name == name) {
        None => problems.push(SchemaProblem::IndexMissing {
            index: name.clone(),
        }),
        Some(index) => {
            let mut faults = index.faults.clone();
            if !index.unique {
                faults.push(IndexFault::NotUnique);
            }
            if index.columns != ["message_id", "consumer"] {
                faults.push(IndexFault::OtherColumns {
                    found: index.columns.clone(),
                });
            }
            problems.extend(faults.into_iter().map(|fault| SchemaProblem::IndexBroken {
                index: name.clone(),
                fault,
            }));
        }
    }
    for index in found {
        let ours = index.name == name || index.columns == ["id"];
        if index.unique && !ours {
            problems.push(SchemaProblem::ExtraUniqueIndex {
                index: index.name.clone(),
                columns: index.columns.clone(),
            });
        }
    }
}
