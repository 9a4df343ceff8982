//! Several writers in two processes, every message delivered to each of them.

use inbox_sqlx::Inbox;
use tokio::task::JoinSet;

use super::{
    bench::{Bench, CONSUMER},
    delivery::credit,
};
use crate::{
    Db, dialect,
    support::process::{Child, Role},
};

const WRITERS: u32 = 4;
const MESSAGES: usize = 100;

#[tokio::test]
async fn eight_writers_in_two_processes_apply_every_message_once() {
    // Connecting once makes a SQLite file a WAL file, for everybody and for ever.
    let bench = Bench::new().await;
    let mut children: Vec<_> = ["1", "2"]
        .map(|seed| Child::spawn("drain", &[("url", bench.database.url()), ("seed", seed)]))
        .into();
    for child in &mut children {
        child.expect("ready").await;
    }
    for child in &mut children {
        child.say("go").await;
    }
    let mut processed = 0;
    for mut child in children {
        let said = child.hear().await;
        processed += said.parse::<usize>().unwrap_or_else(|_| panic!("{said}"));
        child.finish().await;
    }

    assert_eq!(processed, MESSAGES);
    for count in [
        "select count(*) from inbox where state = 2",
        "select count(*) from ledger",
        "select count(distinct message) from ledger",
    ] {
        assert_eq!(bench.number(count, &[]).await, 100, "{count}");
    }
    let balance = "select balance from accounts where id = 1";
    assert_eq!(bench.number(balance, &[]).await, 1000);
    bench.expect_sane_pool().await;
}

/// The child: delivers every message to each of its writers, and tells how many it has processed.
pub(crate) async fn drain(mut role: Role) {
    let pool = dialect::pool(&role.var("url"), WRITERS).await;
    let inbox = Inbox::<Db>::new(pool);
    let mut random = fastrand::Rng::with_seed(role.var("seed").parse().unwrap());
    role.say("ready");
    role.hear().await;

    let mut writers = JoinSet::new();
    for _ in 0..WRITERS {
        let mut messages: Vec<_> = (0..MESSAGES).map(|number| format!("m{number}")).collect();
        random.shuffle(&mut messages);
        let inbox = inbox.clone();
        writers.spawn(async move {
            let mut processed = 0;
            for key in messages {
                let outcome = credit(inbox.clone(), CONSUMER, key).await?;
                processed += usize::from(!outcome.is_duplicate());
            }
            Ok(processed)
        });
    }
    let mut processed = 0;
    for writer in writers.join_all().await {
        match writer {
            Ok(count) => processed += count,
            Err::<_, super::bench::HandlerError>(error) => {
                role.say(&format!("failed: {error:?}"));
                return;
            }
        }
    }
    role.say(&processed.to_string());
}
