//! What can be wrong with the tables on SQLite.

use inbox_sqlx::{
    IndexFault,
    SchemaProblem::{
        self, ColumnFoldsKeys, ColumnMissing, ColumnNullable, ExtraUniqueIndex, IndexBroken,
        IndexMissing, NotATable, TableMissing, Trigger,
    },
};

use crate::{
    contract::schema::{
        Broken,
        Claim::{Refused, Unaware},
    },
    support::database::TestDatabase,
};

/// Makes `inbox.install()` start from nothing. A view may stand where the table was.
pub(crate) const REMOVE: &[&str] = &[
    "?drop view inbox",
    "drop table if exists inbox",
    "drop table if exists elsewhere",
    "drop table if exists inbox_schema_version",
];

/// Attached databases are a matter of each connection; this one is always there.
pub(crate) fn qualified_table(_database: &TestDatabase) -> String {
    "main.other".into()
}

pub(crate) const MAKE_SCHEMA: &[&str] = &[];

/// Breaks any inbox table in a way that `verify` finds.
pub(crate) const BREAK: &str = "pragma writable_schema = on; \
     update sqlite_master set sql = replace(replace(sql, 'last_error     text', 'last_mistake text'), \
     'check (length(cast(last_error as blob)) <= 500)', '') where name = 'other'; \
     pragma writable_schema = reset; create table bump (i); drop table bump";

const INDEX: &str = "ix_inbox_message_id_consumer";

fn broken(fault: IndexFault) -> Vec<SchemaProblem> {
    vec![IndexBroken {
        index: INDEX.into(),
        fault,
    }]
}

fn collation(found: &str) -> Vec<SchemaProblem> {
    broken(IndexFault::Collation {
        found: found.into(),
    })
}

fn folds(column: &str, found: &str) -> Vec<SchemaProblem> {
    vec![ColumnFoldsKeys {
        column: column.into(),
        found: found.into(),
    }]
}

fn extra(index: &str, columns: &[&str]) -> Vec<SchemaProblem> {
    vec![ExtraUniqueIndex {
        index: index.into(),
        columns: columns.iter().map(|&column| column.into()).collect(),
    }]
}

fn missing() -> Vec<SchemaProblem> {
    vec![IndexMissing {
        index: INDEX.into(),
    }]
}

/// Writes another table definition in place of ours, and rebuilds the indexes by it.
macro_rules! redefined {
    ($from:literal, $to:literal) => {
        concat!(
            "pragma writable_schema = on; update sqlite_master set sql = replace(replace(sql, '",
            $from,
            "', '",
            $to,
            "'), ') strict', ')') where name = 'inbox'; pragma writable_schema = reset; create table bump (i); drop table bump; reindex"
        )
    };
}

pub(crate) const BROKEN: &[Broken] = &[
    Broken {
        name: "no table",
        statements: &["drop table inbox"],
        problems: || vec![TableMissing],
        claim: Refused,
    },
    Broken {
        name: "a view",
        statements: &[
            "alter table inbox rename to elsewhere",
            "create view inbox as select * from elsewhere",
        ],
        problems: || {
            vec![NotATable {
                found: "a view".into(),
            }]
        },
        claim: Refused,
    },
    Broken {
        name: "a column the claim needs is missing",
        statements: &["alter table inbox rename column token to chip"],
        problems: || {
            vec![ColumnMissing {
                column: "token".into(),
            }]
        },
        claim: Refused,
    },
    Broken {
        name: "a column other modes need is missing",
        statements: &["alter table inbox drop column fingerprint"],
        problems: || {
            vec![ColumnMissing {
                column: "fingerprint".into(),
            }]
        },
        claim: Unaware,
    },
    Broken {
        name: "a nullable key",
        statements: &[redefined!(
            "message_id     text    not null",
            "message_id     text            "
        )],
        problems: || {
            vec![ColumnNullable {
                column: "message_id".into(),
            }]
        },
        claim: Unaware,
    },
    Broken {
        name: "a collation that folds case",
        statements: &[redefined!(
            "message_id     text    not null",
            "message_id text collate nocase not null"
        )],
        problems: || collation("nocase"),
        claim: Unaware,
    },
    Broken {
        name: "a collation that cuts blanks",
        statements: &[redefined!(
            "consumer       text    not null",
            "consumer text collate rtrim not null"
        )],
        problems: || collation("rtrim"),
        claim: Unaware,
    },
    Broken {
        name: "a collation of the index alone that folds",
        statements: &[
            "drop index ix_inbox_message_id_consumer",
            "create unique index ix_inbox_message_id_consumer on inbox (message_id collate nocase, consumer)",
        ],
        problems: || collation("nocase"),
        claim: Unaware,
    },
    Broken {
        name: "numbers",
        statements: &[redefined!(
            "message_id     text    not null",
            "message_id integer not null"
        )],
        problems: || folds("message_id", "is declared \"INTEGER\", not text"),
        claim: Unaware,
    },
    Broken {
        name: "numbers by another name",
        statements: &[redefined!(
            "message_id     text    not null",
            "message_id string not null"
        )],
        problems: || folds("message_id", "is declared \"string\", not text"),
        claim: Unaware,
    },
    Broken {
        name: "no index",
        statements: &["drop index ix_inbox_message_id_consumer"],
        problems: missing,
        claim: Refused,
    },
    Broken {
        name: "an index of the same columns under another name",
        statements: &[
            "drop index ix_inbox_message_id_consumer",
            "create unique index something_else on inbox (message_id, consumer)",
        ],
        problems: || {
            let mut all = missing();
            all.extend(extra("something_else", &["message_id", "consumer"]));
            all
        },
        claim: Unaware,
    },
    Broken {
        name: "not unique",
        statements: &[
            "drop index ix_inbox_message_id_consumer",
            "create index ix_inbox_message_id_consumer on inbox (message_id, consumer)",
        ],
        problems: || broken(IndexFault::NotUnique),
        claim: Refused,
    },
    Broken {
        name: "partial",
        statements: &[
            "drop index ix_inbox_message_id_consumer",
            "create unique index ix_inbox_message_id_consumer on inbox (message_id, consumer) where state = 2",
        ],
        problems: || broken(IndexFault::Partial),
        claim: Refused,
    },
    Broken {
        name: "one column",
        statements: &[
            "drop index ix_inbox_message_id_consumer",
            "create unique index ix_inbox_message_id_consumer on inbox (message_id)",
        ],
        problems: || {
            broken(IndexFault::OtherColumns {
                found: vec!["message_id".into()],
            })
        },
        claim: Refused,
    },
    Broken {
        name: "the other order",
        statements: &[
            "drop index ix_inbox_message_id_consumer",
            "create unique index ix_inbox_message_id_consumer on inbox (consumer, message_id)",
        ],
        problems: || {
            broken(IndexFault::OtherColumns {
                found: vec!["consumer".into(), "message_id".into()],
            })
        },
        claim: Unaware,
    },
    Broken {
        name: "an expression",
        statements: &[
            "drop index ix_inbox_message_id_consumer",
            "create unique index ix_inbox_message_id_consumer on inbox (lower(message_id), consumer)",
        ],
        problems: || {
            broken(IndexFault::OtherColumns {
                found: vec!["(expression)".into(), "consumer".into()],
            })
        },
        claim: Refused,
    },
    Broken {
        name: "a second unique index",
        statements: &["create unique index second on inbox (message_id)"],
        problems: || extra("second", &["message_id"]),
        claim: Unaware,
    },
    Broken {
        name: "a trigger that swallows",
        statements: &[
            "create trigger audit before insert on inbox begin select raise(ignore); end",
        ],
        problems: || {
            vec![Trigger {
                name: "audit".into(),
            }]
        },
        claim: Refused,
    },
];
