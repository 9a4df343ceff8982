//! What comes of bodies that break their transaction on MariaDB and MySQL: DDL commits it, few errors abort it.

use crate::contract::bodies::{
    Body, LATE,
    Said::{EndedDeleted, EndedKept, EndedNotFound, Own, Processed},
    verdict,
};

pub(crate) const BODIES: &[Body] = &[
    Body {
        name: "a failed statement, swallowed, then more work",
        statements: &["insert into orders values (2, 'A-1', null)", LATE],
        // Here a failed statement undoes itself and nothing else.
        ok: verdict(Processed, 1, 1, 1),
        err: verdict(Own, 0, 0, 0),
    },
    Body {
        name: "a failed statement, swallowed, as the very last one",
        statements: &[LATE, "insert into orders values (2, 'A-1', null)"],
        ok: verdict(Processed, 1, 1, 1),
        err: verdict(Own, 0, 0, 0),
    },
    Body {
        name: "a statement that is no SQL, swallowed",
        statements: &["selekt 1"],
        ok: verdict(Processed, 1, 1, 0),
        err: verdict(Own, 0, 0, 0),
    },
    Body {
        name: "the isolation level changed too late, swallowed",
        statements: &["set transaction isolation level serializable", LATE],
        ok: verdict(Processed, 1, 1, 1),
        err: verdict(Own, 0, 0, 0),
    },
    Body {
        name: "create table",
        statements: &["create table if not exists made (id bigint)", LATE],
        ok: verdict(EndedKept, 1, 1, 1),
        err: verdict(EndedDeleted, 0, 1, 1),
    },
    Body {
        name: "create table that fails",
        statements: &["create table orders (id bigint)", LATE],
        ok: verdict(EndedKept, 1, 1, 1),
        err: verdict(EndedDeleted, 0, 1, 1),
    },
    Body {
        name: "truncate",
        statements: &["truncate plain", LATE],
        ok: verdict(EndedKept, 1, 1, 1),
        err: verdict(EndedDeleted, 0, 1, 1),
    },
    Body {
        name: "create temporary table",
        statements: &[
            "create temporary table if not exists scratch (id bigint)",
            LATE,
        ],
        ok: verdict(Processed, 1, 1, 1),
        err: verdict(Own, 0, 0, 0),
    },
    Body {
        name: "create table; begin",
        statements: &["create table if not exists made (id bigint)", "begin", LATE],
        ok: verdict(EndedKept, 1, 1, 1),
        err: verdict(EndedDeleted, 0, 1, 0),
    },
    Body {
        name: "begin, which commits here",
        statements: &["begin", LATE],
        ok: verdict(EndedKept, 1, 1, 1),
        err: verdict(EndedDeleted, 0, 1, 0),
    },
    Body {
        name: "lock tables",
        statements: &["lock tables ledger write, inbox write", LATE],
        ok: verdict(EndedKept, 1, 1, 1),
        err: verdict(EndedDeleted, 0, 1, 1),
    },
    Body {
        name: "commit",
        statements: &["commit", LATE],
        ok: verdict(EndedKept, 1, 1, 1),
        err: verdict(EndedDeleted, 0, 1, 1),
    },
    Body {
        name: "rollback",
        statements: &["rollback", LATE],
        ok: verdict(EndedNotFound, 0, 0, 1),
        err: verdict(Own, 0, 0, 1),
    },
    Body {
        name: "commit; begin",
        statements: &["commit; begin", LATE],
        ok: verdict(EndedKept, 1, 1, 1),
        err: verdict(EndedDeleted, 0, 1, 0),
    },
    Body {
        name: "commit and chain",
        statements: &["commit and chain", LATE],
        ok: verdict(EndedKept, 1, 1, 1),
        err: verdict(EndedDeleted, 0, 1, 0),
    },
    Body {
        name: "commit; autocommit off",
        statements: &["commit", "set autocommit = 0", LATE],
        ok: verdict(EndedKept, 1, 1, 1),
        err: verdict(EndedDeleted, 0, 1, 0),
    },
    Body {
        name: "rollback; begin",
        statements: &["rollback; begin", LATE],
        ok: verdict(EndedNotFound, 0, 0, 0),
        err: verdict(Own, 0, 0, 0),
    },
    Body {
        name: "rollback and chain",
        statements: &["rollback and chain", LATE],
        ok: verdict(EndedNotFound, 0, 0, 0),
        err: verdict(Own, 0, 0, 0),
    },
    Body {
        name: "commit; begin; a failing statement",
        statements: &[
            "commit; begin",
            LATE,
            "insert into orders values (2, 'A-1', null)",
        ],
        ok: verdict(EndedKept, 1, 1, 1),
        err: verdict(EndedDeleted, 0, 1, 0),
    },
    Body {
        name: "a savepoint of its own, released",
        statements: &["savepoint mine", LATE, "release savepoint mine"],
        ok: verdict(Processed, 1, 1, 1),
        err: verdict(Own, 0, 0, 0),
    },
    Body {
        name: "a savepoint of its own, left open",
        statements: &["savepoint mine", LATE],
        ok: verdict(Processed, 1, 1, 1),
        err: verdict(Own, 0, 0, 0),
    },
    Body {
        name: "work taken back by a savepoint",
        statements: &["savepoint mine", LATE, "rollback to savepoint mine"],
        ok: verdict(Processed, 1, 1, 0),
        err: verdict(Own, 0, 0, 0),
    },
    Body {
        name: "rollback to a savepoint nobody set, swallowed",
        statements: &[LATE, "rollback to savepoint nobody"],
        ok: verdict(Processed, 1, 1, 1),
        err: verdict(Own, 0, 0, 0),
    },
    Body {
        name: "release of a savepoint nobody set, swallowed",
        statements: &[LATE, "release savepoint nobody"],
        ok: verdict(Processed, 1, 1, 1),
        err: verdict(Own, 0, 0, 0),
    },
];
