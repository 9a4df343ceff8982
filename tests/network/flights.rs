//! A handler of ours asks the server no more often than one written by hand: network round trips decide throughput.

use inbox_sqlx::{Begin, Effect, Inbox, Outcome, Terms, TwoPhase};

use super::proxied;
use crate::{
    Db,
    contract::{
        bench::{Bench, CONSUMER, HandlerError, run},
        delivery::Answer,
    },
    dialect,
    dialect::faults,
    support::proxy::Proxy,
};

const BODY: &str = "update accounts set balance = balance + 10 where id = 1";

#[tokio::test]
async fn no_more_flights_than_by_hand() {
    let (bench, proxy) = proxied().await;
    bench.observe(faults::TABLE_BY_HAND).await;
    // Statements are prepared once per connection.
    for key in ["warm", "warm"] {
        by_hand(&bench, key).await.unwrap();
        with_inbox(&bench, key).await.unwrap();
    }

    let by_hand = Flights {
        fresh: flights(&proxy, by_hand(&bench, "m1"), Outcome::Processed(())).await,
        duplicate: flights(&proxy, by_hand(&bench, "m1"), Outcome::Duplicate).await,
    };
    let ours = Flights {
        fresh: flights(&proxy, with_inbox(&bench, "m1"), Outcome::Processed(())).await,
        duplicate: flights(&proxy, with_inbox(&bench, "m1"), Outcome::Duplicate).await,
    };
    #[expect(clippy::print_stdout, reason = "the numbers are worth reading")]
    {
        println!("by hand {by_hand:?}\nours    {ours:?}");
    }

    // Ping, begin, claim, work, commit; a duplicate: ping, begin, claim, rollback; and the pool's ping behind both.
    let expected = Flights {
        fresh: Count { awaited: 5, all: 6 },
        duplicate: Count { awaited: 4, all: 5 },
    };
    assert_eq!(by_hand, expected);
    for (ours, by_hand) in [
        (ours.fresh, by_hand.fresh),
        (ours.duplicate, by_hand.duplicate),
    ] {
        assert!(ours.awaited <= by_hand.awaited, "{ours:?}, {by_hand:?}");
        let allowed = by_hand.all + faults::FLIGHTS_BEHIND;
        assert!(ours.all <= allowed, "{ours:?}, {by_hand:?}");
    }
}

/// What a failure costs is looking whether there is still something to roll back.
#[tokio::test]
async fn a_failure_costs_no_flight_more_than_by_hand() {
    let (bench, proxy) = proxied().await;
    let mut costs = Vec::new();
    for _ in 0..2 {
        let before = proxy.quiet_flights().await;
        let failing = bench.deliver("m1", async |_| Err(HandlerError::Business));
        failing.await.unwrap_err();
        costs.push(proxy.flights() - before);
    }
    // Ping, begin, claim, two statements of work, and the probe instead of a rollback.
    assert_eq!(costs[1], 6, "{costs:?}");
}

/// Two statements that commit by themselves, on a pool that only the inbox uses; a duplicate costs its look as well.
#[tokio::test]
async fn an_effect_costs_two_statements() {
    let database = dialect::fresh_database().await;
    let proxy = Proxy::start(database.url()).await;
    let inbox = Inbox::<Db>::connect(proxy.url()).await.unwrap();
    let bench = Bench::around(inbox, database).await;
    // The pool has several connections, and each prepares a statement once: the cheapest round is what it costs.
    let (mut fresh, mut duplicate) = (Vec::new(), Vec::new());
    for round in 0..8 {
        let key = format!("m{round}");
        for counts in [&mut fresh, &mut duplicate] {
            let before = proxy.quiet_flights().await;
            match bench
                .inbox
                .claim(CONSUMER, &key, Terms::default())
                .await
                .unwrap()
            {
                TwoPhase::Duplicate => {}
                TwoPhase::Fresh(claim) => {
                    let sent = Ok::<_, HandlerError>(());
                    claim.settle(sent, |_| Effect::Unknown).await.unwrap();
                }
            }
            counts.push(proxy.quiet_flights().await - before);
        }
    }
    #[expect(clippy::print_stdout, reason = "the numbers are worth reading")]
    {
        println!("two-phase: {fresh:?} flights, a duplicate {duplicate:?}");
    }
    // Each statement with the pool's ping before it and behind it.
    assert_eq!(fresh.iter().min(), Some(&(2 * 3)), "{fresh:?}");
    let look = faults::STATEMENTS_OF_A_LOOK * 3;
    assert_eq!(duplicate.iter().min(), Some(&look), "{duplicate:?}");
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Flights {
    fresh: Count,
    duplicate: Count,
}

/// Flights of one delivery, the pool's pings included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Count {
    /// Those the caller waits for.
    awaited: usize,
    /// The same and those in the background, before the connection can be used again.
    all: usize,
}

async fn flights(
    proxy: &Proxy,
    delivery: impl Future<Output = Answer>,
    wanted: Outcome<()>,
) -> Count {
    let before = proxy.quiet_flights().await;
    assert_eq!(delivery.await.unwrap(), wanted);
    // What goes on in the background starts when this task, the only one that runs now, waits for something.
    let awaited = proxy.flights() - before;
    let all = proxy.quiet_flights().await - before;
    Count { awaited, all }
}

/// The careful handler that people write without us.
async fn by_hand(bench: &Bench, key: &str) -> Answer {
    let mut transaction = bench.inbox.pool().begin().await?;
    let claim = sqlx::query::<Db>(faults::CLAIM_BY_HAND)
        .bind(key.to_owned())
        .bind(CONSUMER)
        .execute(&mut *transaction)
        .await;
    let fresh = match claim {
        Ok(done) => done.rows_affected() == 1,
        Err(sqlx::Error::Database(error)) if error.is_unique_violation() => false,
        Err(error) => return Err(error.into()),
    };
    if !fresh {
        transaction.rollback().await?;
        return Ok(Outcome::Duplicate);
    }
    run(&mut transaction, BODY).await?;
    transaction.commit().await?;
    Ok(Outcome::Processed(()))
}

async fn with_inbox(bench: &Bench, key: &str) -> Answer {
    match bench.inbox.begin(CONSUMER, key).await? {
        Begin::Duplicate => Ok(Outcome::Duplicate),
        Begin::Fresh(mut claimed) => {
            let result = run(claimed.connection(), BODY).await;
            claimed.settle(result.map_err(Into::into)).await
        }
    }
}
