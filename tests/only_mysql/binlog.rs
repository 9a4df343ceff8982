//! A binary log in STATEMENT format refuses writes at READ COMMITTED.

use inbox_sqlx::{Error, Inbox, Outcome, SchemaProblem};
use sqlx::MySql;

use crate::{
    contract::bench::{Bench, CONSUMER, Kept},
    dialect,
};

#[tokio::test]
async fn a_binlog_format_that_refuses_claims_is_named_at_start_up_and_by_the_claim() {
    let bench = Bench::new().await;
    let logs = bench.number("select cast(@@log_bin as signed)", &[]).await;
    assert_eq!(logs, 1, "this test needs a server with log_bin");
    // Only a superuser may choose it for a session; for the server it is a setting.
    let pool = dialect::pool_with(
        bench.database.admin_url(),
        1,
        &["set session binlog_format = 'STATEMENT'"],
    )
    .await;
    let inbox = Inbox::<MySql>::new(pool);
    for error in [
        inbox.verify().await.unwrap_err(),
        inbox.begin(CONSUMER, "m1").await.map(drop).unwrap_err(),
    ] {
        let Error::Schema(error) = error else {
            panic!("{error:?}");
        };
        assert_eq!(
            error.problems(),
            [SchemaProblem::BinlogFormat {
                found: "STATEMENT".into()
            }]
        );
        assert!(error.to_string().contains("ROW or MIXED"), "{error}");
    }
    bench.expect("m1", Kept::Nothing).await;
    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
}
