//! A deferred foreign key fails at the commit, when the body has long returned `Ok`.

use inbox_sqlx::{Disposition, Error, Outcome};

use crate::contract::bench::{Bench, Kept, run};

#[tokio::test]
async fn a_deferred_constraint_that_fails_at_commit_keeps_nothing() {
    let bench = Bench::new().await;
    bench
        .observe(
            "create table shares (account integer references accounts (id) \
             deferrable initially deferred)",
        )
        .await;
    for _ in 0..2 {
        let error = bench
            .deliver("m1", async |connection| {
                run(connection, "insert into shares values (99)").await?;
                Ok(())
            })
            .await
            .unwrap_err();
        let Error::Database(database) = error.inbox() else {
            panic!("{error:?}");
        };
        let violated = database.as_database_error().unwrap();
        assert!(violated.is_foreign_key_violation(), "{violated}");
        assert!(!error.inbox().is_transient());
        assert_eq!(Disposition::of(&error), Disposition::Retry { after: None });
        bench.expect("m1", Kept::Nothing).await;
    }

    // Mended before the end, nothing is wrong.
    let outcome = bench
        .deliver("m1", async |connection| {
            run(connection, "insert into shares values (99)").await?;
            run(connection, "insert into accounts values (99, 0)").await?;
            Ok(())
        })
        .await;
    assert_eq!(outcome.unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
}
