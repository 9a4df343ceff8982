//! Tables that a DBA made differently: partitions, policies.

use inbox_sqlx::{Error, Outcome};

use crate::contract::{
    bench::{Bench, Kept},
    violations::set_up,
};

#[tokio::test]
async fn a_table_partitioned_by_key_works() {
    let bench = Bench::new().await;
    set_up(
        &bench,
        &[
            "alter table inbox rename to plain_inbox",
            "alter index ix_inbox_message_id_consumer rename to ix_old",
            "create sequence inbox_ids",
            "create table inbox (like plain_inbox including defaults including constraints) \
             partition by hash (message_id)",
            "alter table inbox alter id set default nextval('inbox_ids')",
            "create table inbox_0 partition of inbox for values with (modulus 2, remainder 0)",
            "create table inbox_1 partition of inbox for values with (modulus 2, remainder 1)",
            "create unique index ix_inbox_message_id_consumer on inbox (message_id, consumer)",
        ],
    )
    .await;
    bench
        .observe("grant all on all tables in schema public to public")
        .await;
    bench.inbox.verify().await.unwrap();
    for key in ["m1", "m2", "m3", "m4"] {
        assert_eq!(bench.credit(key).await.unwrap(), Outcome::Processed(()));
        assert_eq!(bench.credit(key).await.unwrap(), Outcome::Duplicate);
        bench.expect(key, Kept::Once).await;
    }
}

/// A policy that hides markers makes a duplicate look like a swallowed claim, never like a fresh message.
#[tokio::test]
async fn a_policy_that_hides_markers_is_a_mistake_in_the_tables() {
    let bench = Bench::new().await;
    bench.credit("m1").await.unwrap();
    set_up(
        &bench,
        &[
            "alter table inbox enable row level security",
            "alter table inbox force row level security",
            "create policy anybody_may_insert on inbox for insert with check (true)",
            "create policy see_only_new_ones on inbox for select using (message_id > 'm1')",
        ],
    )
    .await;
    let error = bench.credit("m1").await.unwrap_err();
    assert!(matches!(error.inbox(), Error::Schema(_)), "{error:?}");
    assert_eq!(bench.effects("m1").await, 1);
    assert_eq!(bench.credit("m2").await.unwrap(), Outcome::Processed(()));
}
