//! A body commits by itself, and then the connection is lost while we put that right.

use inbox_sqlx::{Error, Inbox, Outcome};

use super::proxied;
use crate::{
    contract::bench::{CONSUMER, HandlerError, Kept},
    dialect,
    support::proxy::{Ending, Fault},
};

/// The body has failed, so its early marker must not swallow the redelivery, wherever the connection is cut: losing is
/// worse than doubling.
#[tokio::test]
async fn an_early_marker_of_a_failed_body_is_deleted_on_another_connection() {
    let (mut bench, proxy) = proxied().await;
    for text in ["rollback to savepoint", "and token =", "delete from"] {
        for fault in [
            Fault::CutBefore(Ending::Reset),
            Fault::CutAfter(Ending::Reset),
            Fault::CutBefore(Ending::Close),
            Fault::CutAfter(Ending::Close),
        ] {
            let key = format!("{fault:?} at {}", text.replace(' ', "-"));
            // A connection that has nothing prepared.
            bench.inbox = Inbox::new(dialect::pool(proxy.url(), 1).await);
            proxy.arm(fault, text);
            let answer = bench
                .deliver(&key, async |connection| {
                    sqlx::raw_sql("commit").execute(connection).await?;
                    Err(HandlerError::Business)
                })
                .await;
            proxy.fired().await;

            let error = answer.unwrap_err();
            let ended = matches!(error.inbox(), Error::TransactionEnded { .. });
            assert!(ended, "{fault:?} {text:?}: {error:?}");
            let kept = (
                bench.markers(CONSUMER, &key).await,
                bench.effects(&key).await,
            );
            assert_eq!(kept, (0, 1), "{fault:?} {text:?}");
            bench.expect_sane_pool().await;

            let again = bench.credit(&key).await.unwrap();
            assert_eq!(again, Outcome::Processed(()), "{fault:?} {text:?}");
            let kept = (
                bench.markers(CONSUMER, &key).await,
                bench.effects(&key).await,
            );
            assert_eq!(kept, (1, 2), "{fault:?} {text:?}");
        }
    }
}

/// The body has succeeded, so marker and work are both there, and the redelivery finds out.
#[tokio::test]
async fn an_early_marker_of_a_whole_body_is_unknown_then_a_duplicate() {
    let (bench, proxy) = proxied().await;
    for fault in [
        Fault::CutBefore(Ending::Reset),
        Fault::CutAfter(Ending::Reset),
    ] {
        let key = format!("{fault:?}");
        proxy.arm(fault, "release savepoint");
        let answer = bench
            .deliver(&key, async |connection| {
                sqlx::raw_sql("commit").execute(connection).await?;
                Ok(())
            })
            .await;
        let error = answer.unwrap_err();
        let unknown = matches!(error.inbox(), Error::Unknown { .. });
        assert!(unknown, "{fault:?}: {error:?}");
        bench.expect(&key, Kept::Once).await;
        assert_eq!(bench.credit(&key).await.unwrap(), Outcome::Duplicate);
        bench.expect(&key, Kept::Once).await;
    }
}
