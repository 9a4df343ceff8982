//! SQLite: lists of columns, and the verdict.

use super::super::Verdict::{InboxIndex, NotUnique, OtherIndex, Unreadable};
use super::{app_inbox, inbox, sqlite};

#[test]
fn only_the_exact_columns_or_the_name_are_the_inbox() {
    for (message, verdict) in [
        (
            "UNIQUE constraint failed: inbox.message_id, inbox.consumer",
            InboxIndex,
        ),
        (
            "UNIQUE constraint failed: index 'ix_inbox_message_id_consumer'",
            InboxIndex,
        ),
        // The surrogate id, other columns, other order, more or fewer columns.
        ("UNIQUE constraint failed: inbox.id", OtherIndex),
        ("UNIQUE constraint failed: inbox.rowid", OtherIndex),
        (
            "UNIQUE constraint failed: inbox.consumer, inbox.message_id",
            OtherIndex,
        ),
        ("UNIQUE constraint failed: inbox.message_id", OtherIndex),
        (
            "UNIQUE constraint failed: inbox.message_id, inbox.consumer, inbox.id",
            OtherIndex,
        ),
        (
            "UNIQUE constraint failed: x, inbox.message_id, inbox.consumer",
            OtherIndex,
        ),
        // Another table.
        (
            "UNIQUE constraint failed: inbox_audit.message_id, inbox_audit.consumer",
            OtherIndex,
        ),
        (
            "UNIQUE constraint failed: Inbox.message_id, Inbox.consumer",
            OtherIndex,
        ),
        ("UNIQUE constraint failed: orders.number", OtherIndex),
        // Another index.
        (
            "UNIQUE constraint failed: index 'ix_inbox_message_id_consumer_2'",
            OtherIndex,
        ),
        (
            "UNIQUE constraint failed: index 'inbox.message_id, inbox.consumer'",
            OtherIndex,
        ),
        (
            "UNIQUE constraint failed: index 'orders_lower_email'",
            OtherIndex,
        ),
        // Not what SQLite writes.
        (
            "unique constraint failed: inbox.message_id, inbox.consumer",
            Unreadable,
        ),
        (
            " UNIQUE constraint failed: inbox.message_id, inbox.consumer",
            Unreadable,
        ),
        ("UNIQUE constraint failed: ", Unreadable),
        ("UNIQUE constraint failed: index ''", Unreadable),
        ("constraint failed", Unreadable),
        ("", Unreadable),
    ] {
        // A primary key on the two columns decides just as well as a unique index on them.
        for code in [2067, 1555, 2579] {
            assert_eq!(
                sqlite(code, message).verdict(&inbox()),
                verdict,
                "{code} {message}"
            );
        }
    }
    let ours = "UNIQUE constraint failed: inbox.message_id, inbox.consumer";
    assert_eq!(sqlite(2067, ours).verdict(&app_inbox()), InboxIndex);
    // Foreign key, not null, check, trigger (`raise(abort, ..)` can say anything), plain SQLITE_CONSTRAINT, busy.
    for code in [787, 1299, 275, 1811, 19, 5, 517, 0] {
        assert_eq!(sqlite(code, ours).verdict(&inbox()), NotUnique, "{code}");
        assert_eq!(sqlite(code, ours).index(), None);
    }
}
