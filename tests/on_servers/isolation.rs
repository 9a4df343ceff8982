//! READ COMMITTED is pinned, whatever level the application's sessions begin with.

use std::time::Duration;

use inbox_sqlx::{Error, Inbox, Outcome};
use tokio::time::sleep;

use crate::{
    Db,
    contract::bench::{Bench, HandlerError, Kept, run},
    dialect,
    dialect::servers::{HIGHER_LEVELS, RAISED, code},
};

async fn bench(session: &'static [&'static str]) -> Bench {
    let database = dialect::fresh_database().await;
    let pool = dialect::pool_with(database.url(), 4, session).await;
    Bench::around(Inbox::<Db>::new(pool), database).await
}

/// At a higher level the second look would not see what was committed after the first.
#[tokio::test]
async fn a_body_runs_at_read_committed() {
    for session in HIGHER_LEVELS {
        let bench = bench(session).await;
        bench
            .deliver("m1", async |connection| {
                for expected in 0..3_i64 {
                    let seen: i64 = sqlx::query_scalar("select count(*) from plain")
                        .fetch_one(&mut *connection)
                        .await?;
                    assert_eq!(seen, expected, "{session:?}");
                    bench.observe("insert into plain values ('x')").await;
                }
                Ok(())
            })
            .await
            .unwrap();
        bench.expect("m1", Kept::Once).await;
    }
}

/// On PostgreSQL a claim at a higher level gets a serialization failure where this one gets its answer.
#[tokio::test]
async fn the_loser_of_a_race_is_a_duplicate_under_any_default_level() {
    for session in HIGHER_LEVELS {
        let bench = bench(session).await;
        let mut loser = None;
        let winner = bench
            .deliver("m1", async |_| {
                // It claims the same message now, and waits for us.
                let inbox = bench.inbox.clone();
                loser = Some(tokio::spawn(async move {
                    crate::contract::bench::deliver(
                        &inbox,
                        crate::contract::bench::CONSUMER,
                        "m1",
                        async |_| Ok(()),
                    )
                    .await
                }));
                sleep(Duration::from_millis(100)).await;
                Ok(())
            })
            .await;
        assert_eq!(winner.unwrap(), Outcome::Processed(()));
        assert_eq!(
            loser.unwrap().await.unwrap().unwrap(),
            Outcome::Duplicate,
            "{session:?}"
        );
        bench.expect("m1", Kept::Once).await;
        assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Duplicate);
    }
}

/// What else the application does keeps the level it chose.
#[tokio::test]
async fn the_session_keeps_its_own_level_for_everything_else() {
    for session in HIGHER_LEVELS {
        let bench = bench(session).await;
        bench.credit("m1").await.unwrap();
        bench.credit("m1").await.unwrap();
        let mut connection = bench.inbox.pool().acquire().await.unwrap();
        let mut own = sqlx::Connection::begin(&mut *connection).await.unwrap();
        let mut seen = Vec::new();
        for _ in 0..2 {
            let count: i64 = sqlx::query_scalar("select count(*) from ledger")
                .fetch_one(&mut *own)
                .await
                .unwrap();
            seen.push(count);
            if seen.len() == 1 && !session.iter().any(|text| text.contains("serializable")) {
                bench
                    .observe("insert into ledger (message, amount) values ('other', 1)")
                    .await;
            }
        }
        assert_eq!(seen, [1, 1], "{session:?}");
        own.rollback().await.unwrap();
    }
}

/// Nothing of this may land in a dead-letter queue after one try.
#[tokio::test]
async fn conflicts_and_outages_are_transient_and_mistakes_are_not() {
    let bench = Bench::new().await;
    for (number, statement, transient) in RAISED {
        let error = bench
            .deliver("m1", async |connection| {
                sqlx::raw_sql(*statement).execute(connection).await?;
                Ok(())
            })
            .await
            .unwrap_err();
        let HandlerError::Database(error) = error else {
            panic!("{error:?}");
        };
        assert_eq!(code(&error), *number);
        let error = Error::Database(error);
        assert_eq!(error.is_transient(), *transient, "{number}");
        assert!(!error.is_permanent(), "{number}");
    }
    bench.expect("m1", Kept::Nothing).await;
    bench
        .deliver("m1", async |connection| {
            run(connection, "update accounts set balance = balance").await?;
            Ok(())
        })
        .await
        .unwrap();
    bench.expect("m1", Kept::Once).await;
}
