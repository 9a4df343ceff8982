//! Different messages do not wait for each other. (SQLite has one writer, there they do.)

use std::time::{Duration, Instant};

use inbox_sqlx::{Begin, Inbox};

use crate::{
    Db,
    contract::{
        bench::{Bench, HandlerError},
        delivery::instance,
    },
};

/// At MariaDB's own isolation level, gap locks of one claim block claims of the keys next to it.
#[tokio::test]
async fn claims_of_neighbours_do_not_wait() {
    let bench = Bench::new().await;
    let builder = Inbox::builder().claim_timeout(Duration::from_secs(5));
    let other = instance(&bench, builder).await;
    // Some are there already, and some of those are delivered again.
    for key in ["a", "m3", "m7", "z"] {
        assert!(claimed(&bench.inbox, "credit", key).await);
    }
    for key in ["m3", "m7", "z"] {
        assert!(!claimed(&bench.inbox, "credit", key).await);
    }

    let Begin::Fresh(first) = bench.inbox.begin("credit", "m5").await.unwrap() else {
        panic!("m5 is fresh");
    };
    let Begin::Fresh(second) = bench.inbox.begin("credit", "m9").await.unwrap() else {
        panic!("m9 is fresh");
    };
    let start = Instant::now();
    for (consumer, key, fresh) in [
        ("credit", "m4", true),
        ("credit", "m50", true),
        ("credit", "m6", true),
        ("credit", "m8", true),
        ("credit", "m7", false),
        ("credit", "m3", false),
        ("credit", "zz", true),
        ("credit", "0", true),
        ("credi", "m5", true),
        ("credits", "m5", true),
        ("email", "m9", true),
    ] {
        assert_eq!(
            claimed(&other, consumer, key).await,
            fresh,
            "{consumer} {key}"
        );
    }
    assert!(
        start.elapsed() < Duration::from_secs(1),
        "{:?}",
        start.elapsed()
    );
    for claim in [first, second] {
        claim.settle(Ok::<_, HandlerError>(())).await.unwrap();
    }
    bench.expect_sane_pool().await;
}

/// Claims and commits, without a body that would wait for a business row; says whether the message was fresh.
async fn claimed(inbox: &Inbox<Db>, consumer: &'static str, key: &str) -> bool {
    match inbox.begin(consumer, key).await.unwrap() {
        Begin::Duplicate => false,
        Begin::Fresh(claim) => {
            claim.settle(Ok::<_, HandlerError>(())).await.unwrap();
            true
        }
    }
}
