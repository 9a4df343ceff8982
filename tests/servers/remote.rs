//! What `support` promises of every database that is reached over a network.

use sqlx::{Connection, Executor};

use crate::Conn;
use crate::dialect::fresh_database;
use crate::support::proxy::{Ending, Fault, Proxy};

#[tokio::test]
async fn every_test_has_a_database_of_its_own() {
    let one = fresh_database().await;
    let other = fresh_database().await;
    let mut sessions = Vec::new();
    for database in [&one, &other] {
        let mut session = Conn::connect(database.url()).await.unwrap();
        for statement in [
            "create table t (id bigint)",
            "begin",
            "insert into t values (1)",
        ] {
            session.execute(statement).await.unwrap();
        }
        sessions.push(session);
    }
    let url = one.url().to_owned();
    // With a session left in a transaction, as by a test that fails.
    drop(one);
    Conn::connect(&url).await.unwrap_err();
    sessions[0].ping().await.unwrap_err();
    sessions[1].ping().await.unwrap();
}

#[tokio::test]
async fn a_statement_without_parameters_is_one_flight() {
    let database = fresh_database().await;
    let proxy = Proxy::start(database.url()).await;
    let mut session = Conn::connect(proxy.url()).await.unwrap();
    let before = proxy.quiet_flights().await;
    for _ in 0..100 {
        session.execute("select 1").await.unwrap();
    }
    assert_eq!(proxy.quiet_flights().await - before, 100);
    assert_eq!(proxy.connections(), 1);
}

#[tokio::test]
async fn a_commit_is_lost_before_the_server_or_after_it() {
    let database = fresh_database().await;
    let mut observer = Conn::connect(database.url()).await.unwrap();
    observer
        .execute("create table t (id bigint)")
        .await
        .unwrap();
    let proxy = Proxy::start(database.url()).await;
    let mut kept = 0_i64;
    for ending in [Ending::Reset, Ending::Close] {
        for (fault, keeps) in [(Fault::CutBefore(ending), 0), (Fault::CutAfter(ending), 1)] {
            let mut session = Conn::connect(proxy.url()).await.unwrap();
            session.execute("begin").await.unwrap();
            session.execute("insert into t values (1)").await.unwrap();
            proxy.arm(fault, "commit");
            session.execute("COMMIT").await.unwrap_err();
            proxy.fired().await;
            kept += keeps;
            let found: i64 = sqlx::query_scalar("select count(*) from t")
                .fetch_one(&mut observer)
                .await
                .unwrap();
            assert_eq!(found, kept, "{fault:?}");
        }
    }
}
