//! An ordinary day leaves no trace in the server's log: operators read it, and it has a price per line.

use inbox_sqlx::{Inbox, Outcome};

use crate::{
    contract::{
        bench::{Bench, HandlerError, run},
        delivery::{End, Holder, instance, spawn_credit},
    },
    support::postgres::server_log,
};

#[tokio::test]
async fn duplicates_and_failures_write_nothing_to_the_server_s_log() {
    let bench = Bench::new().await;
    let other = instance(&bench, Inbox::builder()).await;
    for round in 0..5 {
        let key = format!("m{round}");
        let refused = bench.deliver(&key, async |_| Err(HandlerError::Business));
        refused.await.unwrap_err();
        bench.credit(&key).await.unwrap();
        assert_eq!(bench.credit(&key).await.unwrap(), Outcome::Duplicate);
    }
    // The loser of a race, too.
    let winner = Holder::claim(&bench.inbox, "race").await;
    let loser = spawn_credit(&other, "race");
    winner.end(End::Ok).await.unwrap().unwrap();
    assert_eq!(loser.await.unwrap().unwrap(), Outcome::Duplicate);
    other.install().await.unwrap();

    let sessions: Vec<i32> =
        sqlx::query_scalar("select pid from pg_stat_activity where usename = current_database()")
            .fetch_all(&bench.observer)
            .await
            .unwrap();
    assert!(sessions.len() >= 2, "one per instance: {sessions:?}");
    // To see that we read the right log, one of the sessions does complain.
    let mut connection = bench.inbox.pool().acquire().await.unwrap();
    run(&mut connection, "select 1 / 0").await.unwrap_err();

    let Some(log) = server_log() else {
        return; // The log of a server that was given is out of our reach.
    };
    let complaints: Vec<_> = log
        .lines()
        .filter(|line| {
            sessions
                .iter()
                .any(|pid| line.contains(&format!("[{pid}]")))
        })
        .filter(|line| !line.contains("select 1 / 0"))
        .collect();
    assert_eq!(complaints.len(), 1, "{complaints:#?}");
    assert!(complaints[0].contains("division by zero"), "{complaints:?}");
}
