//! Two bodies lock the same rows in opposite order, and the database ends one of them.

use std::sync::Arc;

use inbox_sqlx::{Begin, Disposition, Inbox, Outcome};
use tokio::sync::Barrier;

use crate::{
    Db,
    contract::{
        bench::{Bench, CONSUMER, HandlerError, Kept, run, sql},
        delivery::Answer,
    },
    dialect::faults,
};

const ONE: &str = "update accounts set balance = balance + 1 where id = 1";
const TWO: &str = "update accounts set balance = balance + 1 where id = 2";

/// What a body does with the deadlock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    PassesOn,
    Swallows,
}

#[tokio::test]
async fn a_victim_that_passes_the_deadlock_on_leaves_nothing_and_is_redelivered() {
    let bench = Bench::new().await;
    let (victim, answer) = collide(&bench, Victim::PassesOn).await;
    let error = answer.unwrap_err();
    assert!(matches!(error, HandlerError::Database(_)), "{error:?}");
    assert_eq!(Disposition::of(&error), Disposition::Retry { after: None });
    bench.expect(victim, Kept::Nothing).await;
    assert_eq!(bench.credit(victim).await.unwrap(), Outcome::Processed(()));
    bench.expect(victim, Kept::Once).await;
}

/// MariaDB has rolled back everything by then, the marker included, and commits what follows statement by statement.
#[tokio::test]
async fn a_victim_that_swallows_the_deadlock_is_not_processed() {
    let bench = Bench::new().await;
    let (victim, answer) = collide(&bench, Victim::Swallows).await;
    let error = answer.unwrap_err();
    assert!(faults::swallowed_deadlock(error.inbox()), "{error:?}");
    bench.expect(victim, Kept::Nothing).await;
    assert_eq!(bench.credit(victim).await.unwrap(), Outcome::Processed(()));
    bench.expect(victim, Kept::Once).await;
}

/// The key and the answer of the delivery that was the victim; the other one must have been processed.
async fn collide(bench: &Bench, what: Victim) -> (&'static str, Answer) {
    let met = Arc::new(Barrier::new(2));
    let deliver = |key, rows| transfer(bench.inbox.clone(), key, rows, Arc::clone(&met), what);
    let first = tokio::spawn(deliver("m1", [ONE, TWO]));
    let second = tokio::spawn(deliver("m2", [TWO, ONE]));
    let answers = [("m1", first.await.unwrap()), ("m2", second.await.unwrap())];
    let [(one, first), (two, second)] = answers;
    let (survivor, answer, victim) = match (&first, &second) {
        (Ok(_), Err(_)) => (one, first, (two, second)),
        (Err(_), Ok(_)) => (two, second, (one, first)),
        both => panic!("one victim, not {both:?}"),
    };
    assert_eq!(answer.unwrap(), Outcome::Processed(()));
    bench.expect(survivor, Kept::Once).await;
    victim
}

async fn transfer(
    inbox: Inbox<Db>,
    key: &'static str,
    rows: [&'static str; 2],
    met: Arc<Barrier>,
    what: Victim,
) -> Answer {
    let Begin::Fresh(mut claimed) = inbox.begin(CONSUMER, key).await? else {
        return Ok(Outcome::Duplicate);
    };
    let connection = claimed.connection();
    let body = async {
        sqlx::query::<Db>(sql("insert into ledger (message, amount) values (?, 1)"))
            .bind(key)
            .execute(&mut *connection)
            .await?;
        run(connection, rows[0]).await?;
        met.wait().await;
        match run(connection, rows[1]).await {
            Err(_) if what == Victim::Swallows => Ok(()),
            other => other,
        }
    };
    let result = body.await;
    claimed.settle(result.map_err(HandlerError::from)).await
}
