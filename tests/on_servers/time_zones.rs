//! Only the database knows what time it is, in no time zone.

use inbox_core::two_phase::State;
use inbox_sqlx::{Inbox, Outcome};

use crate::{
    contract::two_phase::post::{End, Post, retry},
    dialect::{self, leases},
};

/// Workers send durations, and only the database knows what time it is: not they, nor their sessions.
#[tokio::test]
async fn workers_in_other_time_zones_agree_about_leases_and_back_offs() {
    let mut here = Post::new().await;
    let pool = dialect::pool_with(here.bench.database.url(), 1, leases::IN_TOKYO).await;
    let in_tokyo = Inbox::new(pool);
    let in_greenwich = here.bench.inbox.clone();
    for (first, second) in [(&in_tokyo, &in_greenwich), (&in_greenwich, &in_tokyo)] {
        here.bench.inbox = first.clone();
        let worker = here.worker("m1", retry(5)).await;
        here.bench.inbox = second.clone();
        here.expect_in_progress("m1", retry(5), 50..=67).await;
        worker.end(End::Busy).await.unwrap_err();
        here.set("m1", "next_at", 30).await;
        here.expect_in_progress("m1", retry(5), 25..=34).await;
        here.set("m1", "next_at", -1).await;
        let answer = here.deliver("m1", retry(5), End::Sent).await;
        assert_eq!(answer.unwrap(), Outcome::Processed(()));
        here.expect("m1", State::Processed, 2).await;
        here = here.cleared().await;
    }
}
