//! Constraints and triggers that speak at the commit, when the body has long returned `Ok`.

use inbox_sqlx::{Disposition, Error, Outcome, is_violation_of};

use crate::contract::{
    bench::{Bench, Kept, run},
    violations::set_up,
};

const TABLES: &[&str] = &[
    "create table seats (number bigint, constraint seats_number_key unique (number) deferrable initially deferred)",
    "insert into seats values (1)",
    "create table shares (account bigint references accounts (id) deferrable initially deferred)",
    "create schema other",
    "create table other.inbox (message_id text, consumer text, \
     constraint ix_inbox_message_id_consumer unique (message_id, consumer) deferrable initially deferred)",
    "insert into other.inbox values ('m1', 'credit')",
    "create table conflicts (code text)",
    "create function complain() returns trigger language plpgsql as \
     $$ begin raise exception using errcode = new.code; end $$",
    "create constraint trigger complain after insert on conflicts deferrable initially deferred \
     for each row execute function complain()",
];

#[tokio::test]
async fn what_fails_at_commit_keeps_nothing_and_is_no_duplicate() {
    let bench = Bench::new().await;
    // Foreign keys refer to a table of the observer's.
    for statement in TABLES {
        bench.observe(statement).await;
    }
    bench
        .observe("grant usage on schema other to public; grant all on all tables in schema public, other to public")
        .await;
    for (statement, code, index, transient) in [
        (
            "insert into seats values (1)",
            "23505",
            Some("seats_number_key"),
            false,
        ),
        ("insert into shares values (99)", "23503", None, false),
        (
            "insert into other.inbox values ('m1', 'credit')",
            "23505",
            Some("ix_inbox_message_id_consumer"),
            false,
        ),
        (
            "insert into conflicts values ('40001')",
            "40001",
            None,
            true,
        ),
        (
            "insert into conflicts values ('40P01')",
            "40P01",
            None,
            true,
        ),
        (
            "insert into conflicts values ('P0001')",
            "P0001",
            None,
            false,
        ),
    ] {
        let error = bench
            .deliver("m1", async |connection| {
                run(connection, statement).await?;
                Ok(())
            })
            .await
            .unwrap_err();
        let Error::Database(database) = error.inbox() else {
            panic!("{statement}: {error:?}");
        };
        let raised = database.as_database_error().unwrap();
        assert_eq!(raised.code().as_deref(), Some(code), "{statement}");
        if let Some(index) = index {
            assert!(is_violation_of(database, index), "{statement}");
        }
        assert_eq!(error.inbox().is_transient(), transient, "{statement}");
        assert_eq!(Disposition::of(&error), Disposition::Retry { after: None });
        bench.expect("m1", Kept::Nothing).await;
    }
    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
}

/// A restored sequence gives out ids that exist: the claim fails by the primary key, and the message is not done.
#[tokio::test]
async fn a_claim_refused_by_the_surrogate_key_is_no_duplicate() {
    let bench = Bench::new().await;
    bench.credit("m1").await.unwrap();
    set_up(&bench, &["alter table inbox alter id restart with 1"]).await;
    let error = bench.credit("m2").await.unwrap_err();
    let Error::Database(database) = error.inbox() else {
        panic!("{error:?}");
    };
    assert!(is_violation_of(database, "inbox_pkey"), "{database}");
    bench.expect("m2", Kept::Nothing).await;
    // That try has used up the id.
    assert_eq!(bench.credit("m2").await.unwrap(), Outcome::Processed(()));
    bench.expect("m2", Kept::Once).await;
}
