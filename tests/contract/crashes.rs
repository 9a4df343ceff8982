//! A process killed with -9 at every stage of a delivery; another process gets the message again.

use std::time::Duration;

use inbox_sqlx::{Begin, Inbox, Outcome};

use super::bench::{Bench, CONSUMER, HandlerError, Kept, apply};
use crate::{
    Db,
    support::process::{Child, Role},
};

#[tokio::test]
async fn killed_after_the_claim_leaves_nothing() {
    killed_at(Stop::Claimed, Kept::Nothing).await;
}

#[tokio::test]
async fn killed_in_the_body_leaves_nothing() {
    killed_at(Stop::InBody, Kept::Nothing).await;
}

#[tokio::test]
async fn killed_after_the_commit_before_it_told_anybody_keeps_the_effect_once() {
    killed_at(Stop::Committed, Kept::Once).await;
}

/// Whatever the moment: marker and effect agree, and the redelivery ends in exactly one effect.
#[tokio::test]
async fn killed_at_random_moments_never_loses_and_never_doubles() {
    let bench = Bench::new().await;
    let mut random = fastrand::Rng::with_seed(20_24);
    for round in 0..12 {
        let key = format!("m{round}");
        let mut child = Stop::Start.reached(bench.database.url(), &key).await;
        child.say("go").await;
        tokio::time::sleep(Duration::from_micros(random.u64(0..6_000))).await;
        child.kill_or_finish().await;

        let again = deliver_in_another_process(&bench, &key).await;
        assert!(
            ["processed", "duplicate"].contains(&again.as_str()),
            "{again}"
        );
        bench.expect(&key, Kept::Once).await;
    }
}

async fn killed_at(stop: Stop, kept: Kept) {
    let bench = Bench::new().await;
    let child = stop.reached(bench.database.url(), "m1").await;
    child.kill().await;
    bench.expect("m1", kept).await;

    let again = deliver_in_another_process(&bench, "m1").await;
    let wanted = match kept {
        Kept::Nothing => "processed",
        Kept::Once => "duplicate",
    };
    assert_eq!(again, wanted);
    bench.expect("m1", Kept::Once).await;
    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Duplicate);
}

async fn deliver_in_another_process(bench: &Bench, key: &str) -> String {
    let mut child = Stop::Told.reached(bench.database.url(), key).await;
    let outcome = child.hear().await;
    child.finish().await;
    outcome
}

/// Where a child that delivers a message stands still, for its parent to kill it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Connected, before the claim.
    Start,
    /// The claim is made, the body has not begun.
    Claimed,
    /// The body has done its work.
    InBody,
    /// The handler has returned; nothing is acknowledged.
    Committed,
    /// Nowhere: it tells the outcome and ends.
    Told,
}

impl Stop {
    fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Claimed => "claimed",
            Self::InBody => "in body",
            Self::Committed => "committed",
            Self::Told => "told",
        }
    }

    /// A process that delivers the message and has come this far.
    pub(crate) async fn reached(self, url: &str, key: &str) -> Child {
        let variables = [("url", url), ("key", key), ("stop", self.name())];
        let mut child = Child::spawn("deliver", &variables);
        child.expect(self.name()).await;
        child
    }
}

/// The child: delivers one message.
pub(crate) async fn deliver(mut role: Role) {
    let (url, key) = (role.var("url"), role.var("key"));
    let inbox = Inbox::<Db>::connect(&url).await.unwrap();

    stand_still(&mut role, Stop::Start).await;
    let outcome = match inbox.begin(CONSUMER, &key).await.unwrap() {
        Begin::Duplicate => Outcome::Duplicate,
        Begin::Fresh(mut claimed) => {
            stand_still(&mut role, Stop::Claimed).await;
            let result = apply(claimed.connection(), &key).await;
            stand_still(&mut role, Stop::InBody).await;
            claimed
                .settle(result.map_err(HandlerError::from))
                .await
                .unwrap()
        }
    };
    stand_still(&mut role, Stop::Committed).await;
    if role.var("stop") == Stop::Told.name() {
        role.say(Stop::Told.name());
        role.say(match outcome {
            Outcome::Duplicate => "duplicate",
            _ => "processed",
        });
    }
}

async fn stand_still(role: &mut Role, here: Stop) {
    if role.var("stop") == here.name() {
        role.say(here.name());
        role.hear().await;
    }
}
