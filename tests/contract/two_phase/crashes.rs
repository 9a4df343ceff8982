//! Workers in processes of their own: killed with -9 before and after the call, or stopped for longer than the lease.
//!
//! A call is a row in `ledger` under its idempotency key, written on another connection, so that it stays when the
//! worker dies.

use std::{
    process::{Command, Stdio},
    time::Duration,
};

use inbox_core::{Consumer, Key, idempotency_key, two_phase::State};
use inbox_sqlx::{Effect, Error, Inbox, Outcome, Terms, TwoPhase};
use tokio::time::sleep;

use super::{
    post::{End, MailError, Post, leased, park, retry},
    stored::CONSUMER,
};
use crate::{
    Db,
    contract::bench::apply,
    dialect,
    support::process::{Child, Role},
};

/// Where a child stands still, for its parent to kill or stop it.
const CLAIMED: &str = "claimed";
const CALLED: &str = "called";

/// Nobody waits for it unless the case says so.
const LONG: Duration = Duration::from_mins(1);

/// A process that delivers the message and has come this far.
async fn child(post: &Post, key: &str, terms: Terms, stop: &str) -> Child {
    let policy = terms.policy();
    let on_unknown = if policy.horizon().is_some() {
        "retry"
    } else {
        "park"
    };
    let variables = [
        ("url", post.bench.database.url()),
        ("key", key),
        ("stop", stop),
        ("on_unknown", on_unknown),
        ("max_attempts", &policy.max_attempts().to_string()),
        ("lease", &terms.lease().as_millis().to_string()),
    ];
    let mut child = Child::spawn("send", &variables);
    child.expect(stop).await;
    child
}

/// The child: delivers one message, and tells what became of it.
pub(crate) async fn send(mut role: Role) {
    let (url, key, stop) = (role.var("url"), role.var("key"), role.var("stop"));
    let lease = Duration::from_millis(role.var("lease").parse().unwrap());
    let policy = match role.var("on_unknown").as_str() {
        "retry" => retry,
        _ => park,
    };
    let terms = leased(policy, role.var("max_attempts").parse().unwrap(), lease);
    let inbox = Inbox::<Db>::connect(&url).await.unwrap();
    let service = dialect::pool(&url, 1).await;

    let TwoPhase::Fresh(claim) = inbox.claim(CONSUMER, &key, terms).await.unwrap() else {
        panic!("the parent delivers what is not processed");
    };
    if stop == CLAIMED {
        role.say(CLAIMED);
        role.hear().await;
        role.say(if claim.is_held() { "held" } else { "not held" });
    }
    let mut connection = service.acquire().await.unwrap();
    apply(&mut connection, claim.idempotency_key())
        .await
        .unwrap();
    drop(connection);
    if stop == CALLED {
        role.say(CALLED);
        role.hear().await;
    }
    let result: Result<(), MailError> = Ok(());
    role.say(match claim.settle(result, |_| Effect::Unknown).await {
        Ok(Outcome::Duplicate) => "duplicate",
        Ok(_) => "processed",
        Err(MailError::Inbox(Error::LeaseLost { .. })) => "lease lost",
        Err(error) => panic!("{error:?}"),
    });
}

/// How often the other side was called for a message by children.
async fn calls_of_children(post: &Post, key: &str) -> i64 {
    let consumer = Consumer::new(CONSUMER).unwrap();
    let calls = idempotency_key(&consumer, &Key::new(key).unwrap());
    post.bench.effects(&calls).await
}

/// The two cannot be told apart by the row: what follows is the same.
#[tokio::test]
async fn killed_before_or_after_the_call_is_never_acknowledged_and_runs_again_under_retry() {
    let mut post = Post::new().await;
    for (stop, calls) in [(CLAIMED, 0), (CALLED, 1)] {
        // This one really waits for the lease.
        let lease = Duration::from_secs(2);
        let terms = leased(retry, 5, lease);
        child(&post, "m1", terms, stop).await.kill().await;
        assert_eq!(calls_of_children(&post, "m1").await, calls, "{stop}");
        post.expect_in_progress("m1", terms, 0..=2).await;
        post.expect_in_progress("m1", terms, 0..=2).await;

        sleep(lease).await;
        let answer = post.deliver("m1", terms, End::Sent).await;
        assert_eq!(answer.unwrap(), Outcome::Processed(()));
        post.expect("m1", State::Processed, 2).await;
        let again = &post.service.calls()[0].idempotency_key;
        assert_eq!(post.bench.effects(again).await, calls, "the same key");
        post = post.cleared().await;
    }
}

#[tokio::test]
async fn killed_before_or_after_the_call_is_parked_under_park() {
    let mut post = Post::new().await;
    for (stop, calls) in [(CLAIMED, 0), (CALLED, 1)] {
        let terms = leased(park, 5, LONG);
        child(&post, "m1", terms, stop).await.kill().await;
        post.expect_in_progress("m1", terms, 50..=67).await;
        post.expire("m1").await;
        post.expect_parked("m1", terms).await;
        assert_eq!(calls_of_children(&post, "m1").await, calls, "{stop}");
        assert!(post.service.calls().is_empty(), "at most once");
        post = post.cleared().await;
    }
}

/// Whatever it does to its workers, it ends with a person, and the others pass.
#[tokio::test]
async fn a_message_that_kills_every_worker_is_parked_and_healthy_ones_pass() {
    let post = Post::new().await;
    let terms = leased(retry, 3, LONG);
    for attempt in 1..=3 {
        child(&post, "poison", terms, CLAIMED).await.kill().await;
        post.expect("poison", State::Claimed, attempt).await;
        let healthy = format!("m{attempt}");
        let answer = post.deliver(&healthy, terms, End::Sent).await;
        assert_eq!(answer.unwrap(), Outcome::Processed(()));
        post.expire("poison").await;
    }
    post.expect_parked("poison", terms).await;
    post.expect("poison", State::Parked, 3).await;
    for healthy in ["m1", "m2", "m3"] {
        post.expect_duplicate(healthy, terms).await;
    }
    post.close().await;
}

/// Stops a process as a virtual machine is stopped: nothing in it notices.
///
/// Not even that its parent was killed in the meantime. Then it would stay for ever, and keep whoever reads the output
/// of these tests waiting; so it goes on by itself some time.
fn stop(child: &Child) {
    signal(child, "-STOP");
    let go_on = format!("(sleep 60; kill -CONT {}) &", child.id());
    let status = Command::new("sh")
        .args(["-c", &go_on])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(status.expect("`sh` runs").success());
}

fn signal(child: &Child, signal: &str) {
    let id = child.id().to_string();
    let status = Command::new("kill").args([signal, &id]).status();
    assert!(status.expect("`kill` runs").success());
}

/// It wakes up, sees by its own clock that it is late, calls all the same, and changes nothing.
#[tokio::test]
async fn stopped_for_longer_than_its_lease_a_worker_changes_nothing() {
    let mut post = Post::new().await;
    for (done, told) in [(true, "duplicate"), (false, "lease lost")] {
        let lease = Duration::from_secs(1);
        let mut stopped = child(&post, "m1", leased(retry, 5, lease), CLAIMED).await;
        stop(&stopped);
        // Renewals of its last moments may be on their way.
        sleep(2 * lease).await;

        let other = post.worker("m1", retry(5)).await;
        post.expect("m1", State::Claimed, 2).await;
        let other = if done {
            other.end(End::Sent).await.unwrap();
            None
        } else {
            Some(other)
        };
        let before = post.row("m1").await;
        signal(&stopped, "-CONT");
        stopped.say("go on").await;
        stopped.expect("not held").await;
        stopped.expect(told).await;
        stopped.finish().await;
        assert_eq!(post.row("m1").await, before);

        if let Some(other) = other {
            assert_eq!(other.end(End::Sent).await.unwrap(), Outcome::Processed(()));
        }
        post.expect("m1", State::Processed, 2).await;
        assert_eq!(calls_of_children(&post, "m1").await, 1);
        post = post.cleared().await;
    }
}

/// Nobody took over, so it is late and still the only one.
#[tokio::test]
async fn stopped_for_longer_than_its_lease_a_worker_nobody_replaced_records() {
    let post = Post::new().await;
    let lease = Duration::from_millis(500);
    let mut stopped = child(&post, "m1", leased(park, 5, lease), CALLED).await;
    stop(&stopped);
    sleep(2 * lease).await;
    signal(&stopped, "-CONT");
    stopped.say("go on").await;
    stopped.expect("processed").await;
    stopped.finish().await;
    post.expect("m1", State::Processed, 1).await;
    post.expect_duplicate("m1", park(5)).await;
    post.close().await;
}
