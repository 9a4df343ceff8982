//! The grants that the library documents are enough for each role, and for nothing else.

use std::time::Duration;

use inbox_sqlx::{
    Backoff, Decided, Effect, Error, Inbox, OnUnknown, Outcome, Page, Policy, Retention, Sweeper,
    Terms, TwoPhase,
};
use sqlx::{AssertSqlSafe, raw_sql};

use crate::{
    Db,
    contract::{
        bench::{Bench, CONSUMER, HandlerError, deliver},
        bodies::swallow,
    },
    dialect,
    dialect::servers::{DROP_ROLE, GRANTS, NEW_ROLE, grantee},
};

/// A bench whose two roles have exactly what the library's file grants.
struct Roles {
    bench: Bench,
    runtime: Inbox<Db>,
    operator: Inbox<Db>,
}

impl Roles {
    async fn new() -> Self {
        let bench = Bench::new().await;
        let name = |role: &str| format!("{}_{role}", bench.database.name());
        let mut grants = GRANTS.replace("{inbox}", "inbox");
        for role in ["runtime", "operator"] {
            as_admin(&bench, NEW_ROLE, &name(role)).await;
            grants = grants.replace(
                &format!("to inbox_{role}"),
                &format!("to {}", grantee(&name(role))),
            );
        }
        bench.observe(&grants).await;
        let mut inboxes = Vec::new();
        for role in ["runtime", "operator"] {
            let url = dialect::unreachable::with_user(&bench.database, &name(role), None);
            inboxes.push(Inbox::<Db>::new(dialect::pool(&url, 2).await));
        }
        let operator = inboxes.pop().unwrap();
        let runtime = inboxes.pop().unwrap();
        Self {
            bench,
            runtime,
            operator,
        }
    }

    async fn end(self) {
        for (role, inbox) in [("runtime", &self.runtime), ("operator", &self.operator)] {
            inbox.pool().close().await;
            let name = format!("{}_{role}", self.bench.database.name());
            as_admin(&self.bench, DROP_ROLE, &name).await;
        }
    }
}

async fn as_admin(bench: &Bench, statements: &[&str], role: &str) {
    for statement in statements {
        bench.observe(&statement.replace("{role}", role)).await;
    }
}

fn terms() -> Terms {
    let horizon = Duration::from_hours(1);
    let policy = Policy::new(OnUnknown::Retry { horizon }, 3).unwrap();
    let backoff = Backoff::new(Duration::ZERO, Duration::ZERO);
    Terms::new(Duration::from_millis(300), policy, backoff).unwrap()
}

async fn refused(inbox: &Inbox<Db>, statements: &[&str]) {
    for statement in statements {
        let done = raw_sql(AssertSqlSafe((*statement).to_owned()))
            .execute(inbox.pool())
            .await;
        assert!(done.is_err(), "{statement}");
    }
}

/// Everything a handler's process does, in both modes.
#[tokio::test]
async fn the_runtime_role_can_do_what_handlers_do_and_no_more() {
    let roles = Roles::new().await;
    let inbox = &roles.runtime;

    // Transactional, a duplicate, and a marker that had to be deleted. The effect is not this role's business.
    for wanted in [Outcome::Processed(()), Outcome::Duplicate] {
        let outcome = transact(inbox, "m1", Ok(())).await.unwrap();
        assert_eq!(outcome, wanted);
    }
    let error = transact_and_commit(inbox, "m2").await.unwrap_err();
    assert!(
        matches!(error.inbox(), Error::TransactionEnded { .. }),
        "{error:?}"
    );
    assert_eq!(roles.bench.markers(CONSUMER, "m2").await, 0);

    // Two-phase: claim, put back, take over after the lease, record, duplicate.
    let TwoPhase::Fresh(claim) = inbox.claim(CONSUMER, "m3", terms()).await.unwrap() else {
        panic!("a duplicate");
    };
    let failed: Result<(), _> = Err(HandlerError::Business);
    claim
        .settle(failed, |_| Effect::NotHappened)
        .await
        .unwrap_err();
    drop(inbox.claim(CONSUMER, "m3", terms()).await.unwrap());
    tokio::time::sleep(Duration::from_millis(400)).await;
    let TwoPhase::Fresh(claim) = inbox.claim(CONSUMER, "m3", terms()).await.unwrap() else {
        panic!("a duplicate");
    };
    assert_eq!(claim.attempt(), 3);
    claim
        .settle(Ok::<_, HandlerError>(()), |_| Effect::Unknown)
        .await
        .unwrap();
    let again = inbox.claim(CONSUMER, "m3", terms()).await.unwrap();
    assert!(matches!(again, TwoPhase::Duplicate));
    inbox.status(CONSUMER, "m3").await.unwrap();

    refused(
        inbox,
        &[
            "update inbox set message_id = 'other'",
            "update inbox set consumer = 'other'",
            "drop table inbox",
            "truncate table inbox",
            "create index forbidden on inbox (attempts)",
        ],
    )
    .await;
    roles.end().await;
}

async fn transact(
    inbox: &Inbox<Db>,
    key: &str,
    result: Result<(), HandlerError>,
) -> Result<Outcome<()>, HandlerError> {
    match inbox.begin(CONSUMER, key).await? {
        inbox_sqlx::Begin::Duplicate => Ok(Outcome::Duplicate),
        inbox_sqlx::Begin::Fresh(claimed) => claimed.settle(result).await,
    }
}

async fn transact_and_commit(inbox: &Inbox<Db>, key: &str) -> Result<Outcome<()>, HandlerError> {
    let inbox_sqlx::Begin::Fresh(mut claimed) = inbox.begin(CONSUMER, key).await? else {
        return Ok(Outcome::Duplicate);
    };
    swallow(claimed.connection(), "commit").await;
    claimed.settle(Err(HandlerError::Business)).await
}

/// Everything a sweeper, a pruner and a person at the command line do.
#[tokio::test]
async fn the_operator_role_can_sweep_decide_and_prune_and_no_more() {
    let roles = Roles::new().await;
    let inbox = &roles.operator;
    for key in ["m1", "m2", "m3"] {
        drop(roles.runtime.claim(CONSUMER, key, terms()).await.unwrap());
    }
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert_eq!(inbox.stale(Page::first(10)).await.unwrap().len(), 3);
    let rows: Vec<_> = inbox.stale(Page::first(2)).await.unwrap();
    assert_eq!(inbox.resolve(rows[0].row).await.unwrap(), Decided::Done);
    assert_eq!(inbox.release(rows[1].row).await.unwrap(), Decided::Done);
    let sweep = Sweeper::new(inbox)
        .grace(Duration::ZERO)
        .sweep_once()
        .await
        .unwrap();
    assert_eq!((sweep.released, sweep.parked), (1, 0));
    assert_eq!(inbox.parked(Page::first(10)).await.unwrap(), []);
    assert_eq!(inbox.unfinished().await.unwrap().len(), 1);

    let retention = Retention::builder()
        .lock_timeout(Duration::from_mins(1))
        .max_deliveries(1)
        .message_ttl(Duration::from_mins(1))
        .parked_payloads(Duration::from_hours(48))
        .build()
        .unwrap();
    roles
        .bench
        .observe(&format!(
            "update inbox set processed_at = {} where state = 2",
            dialect::in_seconds(-3 * 24 * 60 * 60)
        ))
        .await;
    assert_eq!(inbox.prune(&retention).await.unwrap().deleted, 1);
    inbox.verify().await.unwrap();

    let error = inbox.claim(CONSUMER, "m9", terms()).await.unwrap_err();
    assert!(matches!(error, Error::Schema(_)), "{error:?}");
    let error = deliver(inbox, CONSUMER, "m9", async |_| Ok(()))
        .await
        .unwrap_err();
    assert!(matches!(error.inbox(), Error::Schema(_)), "{error:?}");
    refused(
        inbox,
        &[
            "insert into inbox (message_id, consumer) values ('forged', 'credit')",
            "update inbox set message_id = 'other'",
            "update inbox set token = null",
            "truncate table inbox",
        ],
    )
    .await;
    roles.end().await;
}
