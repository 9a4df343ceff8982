//! What can be wrong with the tables on MariaDB and MySQL. A claim notices little of it.

use inbox_sqlx::{
    IndexFault,
    SchemaProblem::{
        self, ColumnFoldsKeys, ColumnMissing, ColumnNullable, ExtraUniqueIndex, IndexBroken,
        IndexMissing, NotATable, NotTransactional, TableMissing, Trigger,
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
    "drop view if exists inbox",
    "drop table if exists inbox, elsewhere, inbox_schema_version",
];

/// A schema is a database here.
pub(crate) fn qualified_table(database: &TestDatabase) -> String {
    format!("{}.other", database.name())
}

pub(crate) const MAKE_SCHEMA: &[&str] = &[];

/// Breaks any inbox table in a way that `verify` finds.
pub(crate) const BREAK: &str = "alter table {inbox} drop column last_error";

const INDEX: &str = "ix_inbox_message_id_consumer";

fn broken(fault: IndexFault) -> Vec<SchemaProblem> {
    vec![IndexBroken {
        index: INDEX.into(),
        fault,
    }]
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
            "rename table inbox to elsewhere",
            "create view inbox as select * from elsewhere",
        ],
        problems: || {
            vec![NotATable {
                found: "a view".into(),
            }]
        },
        claim: Unaware,
    },
    Broken {
        name: "an engine without transactions",
        statements: &["alter table inbox engine = MyISAM"],
        problems: || {
            vec![NotTransactional {
                engine: "MyISAM".into(),
            }]
        },
        claim: Unaware,
    },
    Broken {
        name: "a column the claim needs is missing",
        statements: &["alter table inbox drop column token"],
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
        statements: &["alter table inbox modify message_id varbinary(255) null"],
        problems: || {
            vec![ColumnNullable {
                column: "message_id".into(),
            }]
        },
        claim: Unaware,
    },
    Broken {
        name: "a nullable consumer",
        statements: &["alter table inbox modify consumer varbinary(200) null"],
        problems: || {
            vec![ColumnNullable {
                column: "consumer".into(),
            }]
        },
        claim: Unaware,
    },
    Broken {
        name: "the usual collation",
        statements: &[
            "alter table inbox modify message_id varchar(255) character set utf8mb4 collate utf8mb4_general_ci not null",
        ],
        problems: || {
            folds(
                "message_id",
                "is varchar(255) with the collation utf8mb4_general_ci",
            )
        },
        claim: Unaware,
    },
    Broken {
        name: "a binary collation, which pads",
        statements: &[
            "alter table inbox modify message_id varchar(255) character set utf8mb4 collate utf8mb4_bin not null",
        ],
        problems: || {
            folds(
                "message_id",
                "is varchar(255) with the collation utf8mb4_bin",
            )
        },
        claim: Unaware,
    },
    Broken {
        name: "the database's default",
        statements: &["alter table inbox modify consumer varchar(200) not null"],
        problems: || {
            folds(
                "consumer",
                "is varchar(200) with the collation latin1_swedish_ci",
            )
        },
        claim: Unaware,
    },
    Broken {
        name: "too short",
        statements: &["alter table inbox modify message_id varbinary(100) not null"],
        problems: || folds("message_id", "holds 100 bytes, not 255"),
        claim: Unaware,
    },
    Broken {
        name: "padded with zeros",
        statements: &["alter table inbox modify message_id binary(255) not null"],
        problems: || folds("message_id", "is binary(255), not varbinary"),
        claim: Unaware,
    },
    Broken {
        name: "no index",
        statements: &["alter table inbox drop key ix_inbox_message_id_consumer"],
        problems: missing,
        // Nothing fails then: every delivery is processed. That is what `verify` at start-up is for.
        claim: Unaware,
    },
    Broken {
        name: "an index of the same columns under another name",
        statements: &[
            "alter table inbox rename key ix_inbox_message_id_consumer to something_else",
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
        statements: &["alter table inbox drop key ix_inbox_message_id_consumer, \
             add key ix_inbox_message_id_consumer (message_id, consumer)"],
        problems: || broken(IndexFault::NotUnique),
        claim: Unaware,
    },
    Broken {
        name: "a prefix",
        statements: &["alter table inbox drop key ix_inbox_message_id_consumer, \
             add unique key ix_inbox_message_id_consumer (message_id(10), consumer)"],
        problems: || broken(IndexFault::Prefix),
        claim: Unaware,
    },
    Broken {
        name: "one column",
        statements: &["alter table inbox drop key ix_inbox_message_id_consumer, \
             add unique key ix_inbox_message_id_consumer (message_id)"],
        problems: || {
            broken(IndexFault::OtherColumns {
                found: vec!["message_id".into()],
            })
        },
        claim: Unaware,
    },
    Broken {
        name: "the other order",
        statements: &["alter table inbox drop key ix_inbox_message_id_consumer, \
             add unique key ix_inbox_message_id_consumer (consumer, message_id)"],
        problems: || {
            broken(IndexFault::OtherColumns {
                found: vec!["consumer".into(), "message_id".into()],
            })
        },
        claim: Unaware,
    },
    Broken {
        name: "a second unique index",
        statements: &["create unique index second on inbox (message_id)"],
        problems: || extra("second", &["message_id"]),
        claim: Unaware,
    },
    Broken {
        name: "a trigger",
        statements: &[
            "create trigger audit before insert on inbox for each row set new.message_id = 'same'",
        ],
        problems: || {
            vec![Trigger {
                name: "audit".into(),
            }]
        },
        claim: Unaware,
    },
];
