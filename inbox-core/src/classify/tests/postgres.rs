//! PostgreSQL: fields of the error report, and the verdict.

use super::super::Verdict::{InboxIndex, NotUnique, OtherIndex, Unreadable};
use super::super::Violation;
use super::{app_inbox, inbox, unique};

#[test]
fn only_the_exact_names_are_the_inbox() {
    const INDEX: &str = "ix_inbox_message_id_consumer";
    for (inbox, violation, verdict) in [
        (inbox(), unique("public", "inbox", INDEX), InboxIndex),
        (inbox(), unique("anywhere", "inbox", INDEX), InboxIndex),
        (app_inbox(), unique("app", "inbox", INDEX), InboxIndex),
        // The same names in another schema are another inbox.
        (app_inbox(), unique("public", "inbox", INDEX), OtherIndex),
        // The same index name on another table.
        (inbox(), unique("public", "orders", INDEX), OtherIndex),
        // Another index of the inbox, e.g. that of its surrogate id.
        (inbox(), unique("public", "inbox", "inbox_pkey"), OtherIndex),
        // Names that contain ours, or are contained in it.
        (
            inbox(),
            unique("public", "inbox", "ix_inbox_message_id_consumer_2"),
            OtherIndex,
        ),
        (
            inbox(),
            unique("public", "inbox", "biz_ix_inbox_message_id_consumer"),
            OtherIndex,
        ),
        (inbox(), unique("public", "inbox", "ix_inbox"), OtherIndex),
        (
            inbox(),
            unique(
                "public",
                "inbox_audit",
                "ix_inbox_audit_message_id_consumer",
            ),
            OtherIndex,
        ),
        (
            inbox(),
            unique("public", "inbox", "IX_INBOX_MESSAGE_ID_CONSUMER"),
            OtherIndex,
        ),
        // A partition reports its own name.
        (
            inbox(),
            unique("public", "inbox_1", "inbox_1_message_id_consumer_idx"),
            OtherIndex,
        ),
        // Business data.
        (
            inbox(),
            unique("public", "orders", "orders_number_key"),
            OtherIndex,
        ),
    ] {
        assert_eq!(violation.verdict(&inbox), verdict, "{violation:?}");
    }
}

#[test]
fn fields_that_are_missing() {
    const INDEX: Option<&str> = Some("ix_inbox_message_id_consumer");
    for (schema, table, constraint, verdict) in [
        // A bare `raise unique_violation`.
        (None, None, None, Unreadable),
        (Some("public"), Some("inbox"), None, Unreadable),
        // `raise .. using constraint = '..'`: forged, and not complete.
        (None, None, INDEX, OtherIndex),
        (None, Some("orders"), INDEX, OtherIndex),
    ] {
        let violation = Violation::Postgres {
            sqlstate: "23505",
            schema,
            table,
            constraint,
        };
        assert_eq!(violation.verdict(&inbox()), verdict, "{violation:?}");
    }
    let violation = Violation::Postgres {
        sqlstate: "23505",
        schema: None,
        table: Some("inbox"),
        constraint: INDEX,
    };
    assert_eq!(violation.verdict(&app_inbox()), OtherIndex);
    assert_eq!(violation.verdict(&inbox()), InboxIndex);
}

#[test]
fn errors_that_are_no_unique_violation() {
    // Foreign key, not null, check, exclusion, serialization, deadlock, row too large for the index (which fills in the
    // constraint), success, nothing.
    for sqlstate in [
        "23503", "23502", "23514", "23P01", "40001", "40P01", "54000", "00000", "",
    ] {
        let violation = Violation::Postgres {
            sqlstate,
            schema: Some("public"),
            table: Some("inbox"),
            constraint: Some("ix_inbox_message_id_consumer"),
        };
        assert_eq!(violation.verdict(&inbox()), NotUnique, "{sqlstate}");
        assert_eq!(violation.index(), None);
    }
}
