//! Servers and sessions configured carelessly: nothing of it may reach our keys and times.

use inbox_sqlx::{Effect, Inbox, Outcome, Terms, TwoPhase};

use crate::{
    Conn,
    contract::{
        bench::{Bench, CONSUMER, HandlerError, run},
        keys::{expect_consumers_apart, expect_keys_apart},
    },
    dialect,
};

/// Without strict mode values are cut to fit; these collations take different texts for the same.
const COLLATIONS: &[&str] = &[
    "character set utf8mb4 collate utf8mb4_general_ci",
    "character set utf8mb4 collate utf8mb4_unicode_ci",
    "character set utf8mb4 collate utf8mb4_bin",
    "character set latin1 collate latin1_swedish_ci",
];

#[tokio::test]
async fn different_keys_stay_different_under_any_default_collation() {
    for collation in COLLATIONS {
        let database = dialect::fresh_database().await;
        let admin = dialect::pool(database.admin_url(), 1).await;
        sqlx::raw_sql(sqlx::AssertSqlSafe(format!(
            "alter database {} {collation}",
            database.name()
        )))
        .execute(&admin)
        .await
        .unwrap();
        let pool = dialect::pool_with(
            database.url(),
            2,
            &[
                "set sql_mode = ''",
                "set collation_connection = utf8mb4_general_ci",
            ],
        )
        .await;
        let bench = Bench::around(Inbox::new(pool), database).await;
        bench.inbox.verify().await.unwrap();
        expect_keys_apart(&bench).await;
        bench.observe("delete from inbox").await;
        expect_consumers_apart(&bench).await;
    }
}

/// Times are UTC by the server's clock, whatever a session calls local.
#[tokio::test]
async fn times_do_not_depend_on_the_time_zone_of_a_session() {
    let database = dialect::fresh_database().await;
    let far_east = dialect::pool_with(database.url(), 2, &["set time_zone = '+13:00'"]).await;
    let bench = Bench::around(Inbox::new(far_east), database).await;
    let far_west = dialect::pool_with(bench.database.url(), 2, &["set time_zone = '-12:00'"]).await;
    let far_west = Inbox::new(far_west);

    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
    let status = far_west.status(CONSUMER, "m1").await.unwrap().unwrap();
    assert!(status.received_ago.as_secs() < 60, "{status:?}");
    assert!(status.processed_ago.unwrap().as_secs() < 60, "{status:?}");

    let lease = dialect::in_seconds(60);
    bench
        .observe(&format!(
            "insert into inbox (message_id, consumer, state, processed_at, lease_until) \
             values ('m2', '{CONSUMER}', 0, null, {lease})"
        ))
        .await;
    for inbox in [&bench.inbox, &far_west] {
        let error = inbox.begin(CONSUMER, "m2").await.map(drop).unwrap_err();
        let after = error.retry_after().unwrap().as_secs();
        assert!((55..=60).contains(&after), "{after}");
    }
}

/// `autocommit` belongs to the session and not to the transaction: what the next user of the connection wrote by a bare
/// statement was answered with "one row" and seen by nobody, the `processed_at` of an effect included.
#[tokio::test]
async fn a_body_that_switches_autocommit_off_does_not_cost_the_next_one_its_work() {
    let bench = Bench::new().await;
    let body = async |connection: &mut Conn| {
        run(connection, "set autocommit = 0").await?;
        Ok(())
    };
    for round in 0..4 {
        let key = format!("m{round}");
        bench.deliver(&key, body).await.unwrap();

        let effect = format!("e{round}");
        match bench
            .inbox
            .claim(CONSUMER, &effect, Terms::default())
            .await
            .unwrap()
        {
            TwoPhase::Duplicate => panic!("{effect} is new"),
            TwoPhase::Fresh(claim) => {
                let sent = Ok::<_, HandlerError>(());
                claim.settle(sent, |_| Effect::Unknown).await.unwrap();
            }
        }
        assert_eq!(bench.markers(CONSUMER, &effect).await, 1);
    }
    bench.expect_sane_pool().await;
}
