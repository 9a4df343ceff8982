//! What can be wrong with the tables on PostgreSQL.

use inbox_sqlx::{
    IndexFault,
    SchemaProblem::{
        self, ColumnFoldsKeys, ColumnMissing, ColumnNullable, ExtraUniqueIndex, IndexBroken,
        IndexMissing, NotATable, NotDurable, Rule, TableMissing, Trigger,
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
    "drop table if exists inbox cascade",
    "drop table if exists elsewhere cascade",
    "drop table if exists inbox_schema_version",
    "drop collation if exists sloppy",
    "create collation sloppy (provider = icu, locale = 'und-u-ks-level1', deterministic = false)",
    "drop extension if exists citext",
    "create extension citext",
    "create or replace function swallow() returns trigger language plpgsql as 'begin return null; end'",
];

pub(crate) fn qualified_table(_database: &TestDatabase) -> String {
    "app.inbox".into()
}

pub(crate) const MAKE_SCHEMA: &[&str] = &["create schema app"];

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
            "alter table inbox rename to elsewhere",
            "create view inbox as select * from elsewhere",
            GRANT,
        ],
        problems: || {
            vec![NotATable {
                found: "a view".into(),
            }]
        },
        // It works through this one. Whether it always would is more than `verify` can tell.
        claim: Unaware,
    },
    Broken {
        name: "unlogged",
        statements: &["alter table inbox set unlogged"],
        problems: || {
            vec![NotDurable {
                found: "unlogged".into(),
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
        statements: &["alter table inbox alter column message_id drop not null"],
        problems: || {
            vec![ColumnNullable {
                column: "message_id".into(),
            }]
        },
        claim: Unaware,
    },
    Broken {
        name: "a nullable consumer",
        statements: &["alter table inbox alter column consumer drop not null"],
        problems: || {
            vec![ColumnNullable {
                column: "consumer".into(),
            }]
        },
        claim: Unaware,
    },
    Broken {
        name: "citext",
        statements: &["alter table inbox alter column message_id type citext"],
        problems: || folds("message_id", "is citext, not text"),
        claim: Unaware,
    },
    Broken {
        name: "padded",
        statements: &["alter table inbox alter column message_id type char(255)"],
        problems: || folds("message_id", "is character(255), not text"),
        claim: Unaware,
    },
    Broken {
        name: "too short",
        statements: &["alter table inbox alter column consumer type varchar(10)"],
        problems: || folds("consumer", "is character varying(10), not text"),
        claim: Unaware,
    },
    Broken {
        name: "a collation that folds",
        statements: &["alter table inbox alter column message_id type text collate sloppy"],
        problems: || {
            let mut all = folds("message_id", "has the non-deterministic collation sloppy");
            all.extend(broken(IndexFault::Collation {
                found: "sloppy".into(),
            }));
            all
        },
        claim: Unaware,
    },
    Broken {
        name: "a collation of the index alone that folds",
        statements: &[
            "drop index ix_inbox_message_id_consumer",
            "create unique index ix_inbox_message_id_consumer on inbox (message_id collate sloppy, consumer)",
        ],
        problems: || {
            broken(IndexFault::Collation {
                found: "sloppy".into(),
            })
        },
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
        statements: &["alter index ix_inbox_message_id_consumer rename to something_else"],
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
        name: "deferrable",
        statements: &[
            "drop index ix_inbox_message_id_consumer",
            "alter table inbox add constraint ix_inbox_message_id_consumer unique (message_id, consumer) deferrable",
        ],
        problems: || broken(IndexFault::Deferrable),
        claim: Refused,
    },
    Broken {
        name: "invalid",
        statements: &[
            "drop index ix_inbox_message_id_consumer",
            "insert into inbox (message_id, consumer) values ('twice', 'c'), ('twice', 'c')",
            "!create unique index concurrently ix_inbox_message_id_consumer on inbox (message_id, consumer)",
        ],
        problems: || broken(IndexFault::Invalid),
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
        name: "a second unique index that is partial",
        statements: &["create unique index second on inbox (consumer) where state = 3"],
        problems: || extra("second", &["consumer"]),
        claim: Unaware,
    },
    Broken {
        name: "a trigger that swallows",
        statements: &[
            "create trigger audit before insert on inbox for each row execute function swallow()",
        ],
        problems: || {
            vec![Trigger {
                name: "audit".into(),
            }]
        },
        claim: Refused,
    },
    Broken {
        name: "a rule that swallows",
        statements: &["create rule audit as on insert to inbox do instead nothing"],
        problems: || {
            vec![Rule {
                name: "audit".into(),
            }]
        },
        claim: Refused,
    },
];

const GRANT: &str = "grant all on inbox to public";
