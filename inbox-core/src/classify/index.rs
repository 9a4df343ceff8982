//! `ViolatedIndex`: what is known of the index that a unique violation is about, and whether it has a given name.

use super::{Violation, mysql, postgres, sqlite};

/// What is known of the index that a unique violation is about.
///
/// For handlers that want to recognise a violation of their *own* tables ("this order number is taken") with the same
/// code on all three databases:
///
/// ```
/// use inbox_core::Violation;
///
/// let taken = |error: Violation<'_>| error.index().is_some_and(|index| index.is_named("orders_number_key"));
///
/// assert!(taken(Violation::Postgres {
///     sqlstate: "23505",
///     schema: Some("public"),
///     table: Some("orders"),
///     constraint: Some("orders_number_key"),
/// }));
/// assert!(taken(Violation::MySql {
///     number: 1062,
///     message: "Duplicate entry '4711' for key 'orders.orders_number_key'",
/// }));
/// assert!(taken(Violation::Sqlite {
///     code: 2067,
///     message: "UNIQUE constraint failed: orders.number",
/// }));
/// ```
///
/// # Which names match
///
/// | database | it reports | [`is_named`](Self::is_named) accepts |
/// |---|---|---|
/// | PostgreSQL | the name | that name; a longer one is cut after 63 bytes first, as PostgreSQL does |
/// | MySQL, MariaDB | the name, since MySQL 8.0.19 `table.name` | the name with or without the table; `PRIMARY` for a primary key |
/// | SQLite | **only the columns** | `orders.shop, orders.number` as SQLite prints it, and the names that PostgreSQL generates for these columns: `orders_shop_number_key` (`.._idx` for an index), for a primary key `orders_pkey` |
/// | SQLite, index with an expression | the name | the name |
///
/// So **an index on plain columns of SQLite cannot be found by a name of your own choice.** Give indexes the names that
/// PostgreSQL would generate, `{table}_{columns joined by _}_key`, and one name serves all three databases; or ask for
/// the column list as well.
///
/// MariaDB puts the name into a text whose language follows `lc_messages`. In Czech, Hungarian, Japanese and Slovak the
/// name is not the end of the text, and then nothing is known of the index.
///
/// Names are compared exactly, upper and lower case included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViolatedIndex {
    schema: Option<String>,
    table: Option<String>,
    columns: Vec<String>,
    names: Names,
}

/// What names are compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Names {
    Postgres { constraint: String },
    MySql { printed: String },
    SqliteIndex { name: String },
    SqliteColumns { printed: String, primary: bool },
}

impl ViolatedIndex {
    pub(super) fn of(violation: &Violation<'_>) -> Option<Self> {
        if !violation.is_unique() {
            return None;
        }
        match *violation {
            Violation::Postgres {
                schema,
                table,
                constraint,
                ..
            } => Some(Self {
                schema: schema.map(str::to_owned),
                table: table.map(str::to_owned),
                ..Self::named(Names::Postgres {
                    constraint: constraint?.to_owned(),
                })
            }),
            Violation::MySql { number, message } => {
                let printed = mysql::printed_key(number, message)?;
                Some(Self {
                    table: printed.split_once('.').map(|(table, _)| table.to_owned()),
                    ..Self::named(Names::MySql {
                        printed: printed.to_owned(),
                    })
                })
            }
            Violation::Sqlite { code, message } => Some(match sqlite::violated(message)? {
                sqlite::Violated::Index(name) => Self::named(Names::SqliteIndex {
                    name: name.to_owned(),
                }),
                sqlite::Violated::Columns(list) => Self::listed(list, code == sqlite::PRIMARY_KEY),
            }),
        }
    }

    fn named(names: Names) -> Self {
        Self {
            schema: None,
            table: None,
            columns: Vec::new(),
            names,
        }
    }

    fn listed(list: &str, primary: bool) -> Self {
        let (table, columns) = sqlite::columns(list).unzip();
        Self {
            schema: None,
            table: table.map(str::to_owned),
            columns: columns.into_iter().flatten().map(str::to_owned).collect(),
            names: Names::SqliteColumns {
                printed: list.to_owned(),
                primary,
            },
        }
    }

    /// Whether the index has this name; see [the table above](Self#which-names-match).
    pub fn is_named(&self, name: &str) -> bool {
        match &self.names {
            Names::Postgres { constraint } => constraint == postgres::truncated(name),
            Names::MySql { printed } => {
                printed == name
                    || printed
                        .split_once('.')
                        .is_some_and(|(_, without_table)| without_table == name)
            }
            Names::SqliteIndex { name: reported } => reported == name,
            Names::SqliteColumns { printed, primary } => {
                printed == name || self.is_generated_name(name, *primary)
            }
        }
    }

    /// Whether PostgreSQL would generate this name for an index on these columns.
    fn is_generated_name(&self, name: &str, primary: bool) -> bool {
        let Some(table) = &self.table else {
            return false;
        };
        let name = postgres::truncated(name);
        let columns = self.columns.join("_");
        primary && name == postgres::generated(table, None, "pkey")
            || ["key", "idx"]
                .into_iter()
                .any(|label| name == postgres::generated(table, Some(&columns), label))
    }

    /// The name, where the database reports one: not for an index on plain columns in SQLite.
    pub fn name(&self) -> Option<&str> {
        match &self.names {
            Names::Postgres { constraint } => Some(constraint),
            Names::MySql { printed } => Some(match printed.split_once('.') {
                Some((_, without_table)) => without_table,
                None => printed,
            }),
            Names::SqliteIndex { name } => Some(name),
            Names::SqliteColumns { .. } => None,
        }
    }

    /// The schema of the table. Only PostgreSQL reports it.
    pub fn schema(&self) -> Option<&str> {
        self.schema.as_deref()
    }

    /// The table, where the database reports it: not MariaDB, and not MySQL before 8.0.19.
    pub fn table(&self) -> Option<&str> {
        self.table.as_deref()
    }

    /// The columns. Only SQLite reports them; empty on the other databases.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }
}
