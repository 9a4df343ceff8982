//! Bodies that meet other transactions: deadlocks and lock waits, passed on or swallowed.
//!
//! On MariaDB and MySQL a deadlock rolls the whole transaction back, and what follows commits by itself.

use std::time::Duration;

use inbox_sqlx::{Error, Outcome};
use sqlx::{Connection as _, pool::PoolConnection};
use tokio::{sync::oneshot, task::JoinHandle, time::sleep};

use crate::{
    Conn, Db,
    contract::{
        bench::{Bench, HandlerError, run},
        bodies::{
            Ending, LATE, Said, Said::Own, Verdict, expect_redelivery, found, swallow, verdict,
        },
    },
    dialect::servers::{
        DEADLOCK, GOES_FIRST, GROW, LOCK_WAIT, SHORT_LOCK_WAIT, SWALLOWED_DEADLOCK,
        SWALLOWED_LOCK_WAIT,
    },
};

const UPDATE_1: &str = "update accounts set balance = balance + 1 where id = 1";
const UPDATE_2: &str = "update accounts set balance = balance + 1 where id = 2";

/// Two transactions that update the accounts 1, 2 and 2, 1; ours is the victim.
#[tokio::test]
async fn a_swallowed_deadlock_is_never_processed() {
    expect(Meeting::Deadlock, Ending::Ok, SWALLOWED_DEADLOCK).await;
}

/// What it wrote after the deadlock stays on MariaDB, which the inbox cannot take back; no marker does.
#[tokio::test]
async fn a_swallowed_deadlock_and_an_error_of_its_own_leaves_no_marker() {
    let wanted = Verdict {
        said: Own,
        ..SWALLOWED_DEADLOCK
    };
    expect(Meeting::Deadlock, Ending::Err, wanted).await;
}

#[tokio::test]
async fn a_deadlock_passed_on_stays_the_bodys_own_error() {
    pass_on(Meeting::Deadlock, DEADLOCK).await;
}

#[tokio::test]
async fn a_swallowed_lock_wait_is_judged_by_what_was_committed() {
    expect(Meeting::LockWait, Ending::Ok, SWALLOWED_LOCK_WAIT).await;
    expect(Meeting::LockWait, Ending::Err, verdict(Own, 0, 0, 0)).await;
}

#[tokio::test]
async fn a_lock_wait_passed_on_stays_the_bodys_own_error() {
    pass_on(Meeting::LockWait, LOCK_WAIT).await;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meeting {
    Deadlock,
    LockWait,
}

async fn expect(meeting: Meeting, ending: Ending, wanted: Verdict) {
    let bench = Bench::new().await;
    let opponent = Opponent::new(&bench).await;
    let mut waits = None;
    let result = bench
        .deliver("m1", async |connection| {
            let (error, opponent) = opponent.meet(meeting, connection).await;
            waits = opponent;
            assert!(Error::Database(error).is_transient());
            swallow(connection, LATE).await;
            ending.result()
        })
        .await;
    let found = found(&bench, "m1", Said::of(&result)).await;
    assert_eq!(found, wanted);
    if let Some(waits) = waits {
        waits.await.unwrap();
    }
    bench.expect_sane_pool().await;
    expect_redelivery(&bench, "m1", found).await;
}

async fn pass_on(meeting: Meeting, code: &str) {
    let bench = Bench::new().await;
    let opponent = Opponent::new(&bench).await;
    let mut waits = None;
    let error = bench
        .deliver("m1", async |connection| {
            let (error, opponent) = opponent.meet(meeting, connection).await;
            waits = opponent;
            Err(error.into())
        })
        .await
        .unwrap_err();
    let HandlerError::Database(database) = error else {
        panic!("{error:?}");
    };
    assert_eq!(crate::dialect::servers::code(&database), code);
    if let Some(waits) = waits {
        waits.await.unwrap();
    }
    bench
        .expect("m1", crate::contract::bench::Kept::Nothing)
        .await;
    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
}

/// Another transaction, which holds account 2 and then wants account 1.
struct Opponent(PoolConnection<Db>);

impl Opponent {
    async fn new(bench: &Bench) -> Self {
        Self(bench.observer.acquire().await.unwrap())
    }

    /// What the body's statement gets. The opponent of a deadlock ends by itself once it has what it wants.
    async fn meet(
        mut self,
        meeting: Meeting,
        connection: &mut Conn,
    ) -> (sqlx::Error, Option<JoinHandle<()>>) {
        for statement in GOES_FIRST {
            run(&mut self.0, statement).await.unwrap();
        }
        if meeting == Meeting::LockWait {
            let mut transaction = self.0.begin().await.unwrap();
            run(&mut transaction, UPDATE_2).await.unwrap();
            run(connection, SHORT_LOCK_WAIT).await.unwrap();
            let error = run(connection, UPDATE_2).await.unwrap_err();
            transaction.rollback().await.unwrap();
            return (error, None);
        }
        let (holds, held) = oneshot::channel();
        let opponent = tokio::spawn(async move {
            let mut transaction = self.0.begin().await.unwrap();
            for statement in GROW {
                run(&mut transaction, statement).await.unwrap();
            }
            run(&mut transaction, UPDATE_2).await.unwrap();
            holds.send(()).unwrap();
            run(&mut transaction, UPDATE_1).await.unwrap();
            transaction.rollback().await.unwrap();
        });
        held.await.unwrap();
        // Long enough for the opponent to wait for us; if it does not yet, ours waits first, and nothing changes.
        sleep(Duration::from_millis(100)).await;
        let error = run(connection, UPDATE_2).await.unwrap_err();
        (error, Some(opponent))
    }
}
