//! What a body violates is the body's own error, whatever its name: only the claim decides what is a duplicate.

use inbox_sqlx::{Disposition, Error, Outcome, is_violation_of, violated_index};
use sqlx::error::ErrorKind;

use super::bench::{Bench, CONSUMER, HandlerError, Kept, run, sql};
use crate::{
    Db,
    dialect::violations::{
        DROP_SECOND_INDEX, INBOX_INDEX, LOOKALIKE_TABLES, LOOKALIKES, PRIMARY_KEY, VIOLATIONS,
    },
};

/// A statement of a body that a constraint refuses.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) statement: &'static str,
    pub(crate) kind: ErrorKind,
    /// The name by which `is_violation_of` finds it; none if it is no unique violation.
    pub(crate) index: Option<&'static str>,
}

pub(crate) const fn refused(
    statement: &'static str,
    kind: ErrorKind,
    index: Option<&'static str>,
) -> Refused {
    Refused {
        statement,
        kind,
        index,
    }
}

/// Projects that asked only "is this a constraint error?" made inbound messages disappear.
#[tokio::test]
async fn a_violated_business_constraint_is_the_bodys_own_error() {
    let bench = Bench::new().await;
    expect_own_errors(&bench, VIOLATIONS, Names::Readable).await;
}

/// Looking for the index name anywhere in a text is as wrong as looking for any violation.
#[tokio::test]
async fn a_constraint_whose_name_contains_the_inbox_index_is_the_bodys_own_error() {
    let bench = Bench::new().await;
    set_up(&bench, LOOKALIKE_TABLES).await;
    expect_own_errors(&bench, LOOKALIKES, Names::Readable).await;
}

/// Servers print the refused value without escaping it.
#[tokio::test]
async fn a_value_that_looks_like_the_end_of_an_error_text_misleads_nobody() {
    let bench = Bench::new().await;
    expect_misleading_values_to_fail(&bench, Names::Readable).await;
}

/// The same from the other side: the key of the message is printed in the claim's own error.
#[tokio::test]
async fn a_key_that_looks_like_the_end_of_an_error_text_is_still_a_duplicate() {
    let bench = Bench::new().await;
    for key in [
        "x' for key 'orders_number_key",
        "x' for key 'PRIMARY'",
        "x' for key 'inbox.PRIMARY",
        "UNIQUE constraint failed: orders.number",
        "'",
        "\\",
        "$1 ? {inbox} %s",
    ] {
        assert_eq!(bench.credit(key).await.unwrap(), Outcome::Processed(()));
        assert_eq!(bench.credit(key).await.unwrap(), Outcome::Duplicate);
        bench.expect(key, Kept::Once).await;
    }
}

/// A second unique index on the inbox table refuses messages that are no duplicates.
#[tokio::test]
async fn a_claim_refused_by_another_index_of_the_inbox_table_is_no_duplicate() {
    let bench = Bench::new().await;
    set_up(
        &bench,
        &["create unique index one_message_per_consumer on inbox (consumer)"],
    )
    .await;
    bench.credit("m1").await.unwrap();

    let error = bench.credit("m2").await.unwrap_err();
    let Error::Database(database) = error.inbox() else {
        panic!("{error:?}");
    };
    assert!(
        violated_index(database)
            .is_some_and(|index| index.name() == Some("one_message_per_consumer")
                || index.columns() == ["consumer"])
    );
    assert_eq!(Disposition::of(&error), Disposition::Retry { after: None });
    bench.expect("m2", Kept::Nothing).await;

    // Where both indexes refuse, ours decides.
    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Duplicate);
    set_up(&bench, &[DROP_SECOND_INDEX]).await;
    assert_eq!(bench.credit("m2").await.unwrap(), Outcome::Processed(()));
    bench.expect("m2", Kept::Once).await;
}

/// Not even the inbox's own index: what a body raises can never be a duplicate.
#[tokio::test]
async fn a_body_that_violates_the_inbox_index_itself_fails() {
    let bench = Bench::new().await;
    for consumer in [CONSUMER, "email"] {
        // The first is the row that the claim has just written, the second a committed one.
        let key = "m1";
        if consumer == "email" {
            bench
                .observe("insert into inbox (message_id, consumer) values ('m1', 'email')")
                .await;
        }
        let error = bench
            .deliver(key, async |connection| {
                sqlx::query::<Db>(sql(
                    "insert into inbox (message_id, consumer) values (?, ?)",
                ))
                .bind(key.to_owned())
                .bind(consumer)
                .execute(connection)
                .await?;
                Ok(())
            })
            .await
            .unwrap_err();
        let HandlerError::Database(violation) = &error else {
            panic!("{error:?}");
        };
        assert!(is_violation_of(violation, INBOX_INDEX), "{violation}");
        assert!(Error::find(&error).is_none());
        bench.expect(key, Kept::Nothing).await;
    }
    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
}

/// One wait for the claim of the message's own delivery, bounded, and then nothing is kept of either.
#[tokio::test]
async fn a_handler_that_delivers_its_own_message_to_itself_fails() {
    let bench = Bench::impatient(2).await;
    let error = bench
        .deliver("m1", async |_| {
            bench.credit("m1").await?;
            Ok(())
        })
        .await
        .unwrap_err();
    assert!(error.inbox().is_transient(), "{error:?}");
    bench.expect("m1", Kept::Nothing).await;

    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
}

/// Whether the server's language lets one read which index it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    Readable,
    #[allow(dead_code, reason = "only MySQL and MariaDB have such languages")]
    Unreadable,
}

pub(crate) async fn expect_own_errors(bench: &Bench, table: &[Refused], names: Names) {
    for refused in table {
        let key = refused.statement;
        let error = bench
            .deliver(key, async |connection| {
                run(connection, refused.statement).await?;
                Ok(())
            })
            .await
            .unwrap_err();
        assert!(Error::find(&error).is_none(), "{key}: {error:?}");
        let HandlerError::Database(violation) = &error else {
            panic!("{key}: {error:?}");
        };
        let kind = violation.as_database_error().unwrap().kind();
        assert!(
            std::mem::discriminant(&kind) == std::mem::discriminant(&refused.kind),
            "{key}: {violation:?}"
        );
        match (refused.index, names) {
            (Some(index), Names::Readable) => {
                assert!(is_violation_of(violation, index), "{key}: {violation:?}");
            }
            _ => assert_eq!(violated_index(violation), None, "{key}"),
        }
        assert!(!is_violation_of(violation, "another_index"), "{key}");
        bench.expect(key, Kept::Nothing).await;

        assert_eq!(bench.credit(key).await.unwrap(), Outcome::Processed(()));
        bench.expect(key, Kept::Once).await;
    }
}

pub(crate) async fn expect_misleading_values_to_fail(bench: &Bench, names: Names) {
    set_up(
        bench,
        &[
            "create table notes (id bigint not null primary key, note varchar(100) not null, \
           constraint notes_note_key unique (note))",
        ],
    )
    .await;
    for note in [
        "x' for key 'ix_inbox_message_id_consumer",
        "x' for key 'inbox.ix_inbox_message_id_consumer'",
        "x for key ix_inbox_message_id_consumer",
        "inbox.message_id, inbox.consumer",
        "ix_inbox_message_id_consumer",
    ] {
        let insert = sql("insert into notes (id, note) values (?, ?)");
        let error = bench
            .deliver(note, async |connection| {
                for id in [1_i64, 2] {
                    sqlx::query::<Db>(insert.clone())
                        .bind(id)
                        .bind(note)
                        .execute(&mut *connection)
                        .await?;
                }
                Ok(())
            })
            .await
            .unwrap_err();
        let HandlerError::Database(violation) = &error else {
            panic!("{note}: {error:?}");
        };
        assert!(!is_violation_of(violation, INBOX_INDEX), "{violation}");
        assert_eq!(
            is_violation_of(violation, "notes_note_key"),
            names == Names::Readable,
            "{violation}"
        );
        bench.expect(note, Kept::Nothing).await;
    }
}

/// Tables of a case, made by the application's own user.
pub(crate) async fn set_up(bench: &Bench, statements: &[&'static str]) {
    for statement in statements {
        run(&mut bench.inbox.pool().acquire().await.unwrap(), statement)
            .await
            .unwrap();
    }
}

/// The name under which each database reports a primary key.
#[tokio::test]
async fn a_primary_key_can_be_recognised_by_name() {
    let bench = Bench::new().await;
    let error = bench
        .deliver("m1", async |connection| {
            run(connection, "insert into orders values (1, 'A-9', null)").await?;
            Ok(())
        })
        .await
        .unwrap_err();
    let HandlerError::Database(violation) = &error else {
        panic!("{error:?}");
    };
    assert!(is_violation_of(violation, PRIMARY_KEY), "{violation:?}");
    assert!(!is_violation_of(violation, "orders_number_key"));
}
