//! The observer itself: does it see what it is to warn of?

use sqlx::Connection as _;

use super::bench::{Bench, apply};
use crate::dialect;

#[tokio::test]
async fn the_observer_sees_a_transaction_that_is_left_open() {
    let bench = Bench::new().await;
    let mut connection = bench.inbox.pool().acquire().await.unwrap();
    let mut left_open = connection.begin().await.unwrap();
    apply(&mut left_open, "m1").await.unwrap();
    assert_eq!(dialect::open_transactions(&bench.observer).await, 1);

    left_open.rollback().await.unwrap();
    assert_eq!(dialect::open_transactions(&bench.observer).await, 0);
}
