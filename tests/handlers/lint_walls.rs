//! A crate that allows nothing: generated code shows no lint, and allows none where that is forbidden.

use crate::{bank, credit, deliver_twice};

/// Clippy is the test of it.
mod wall {
    #![forbid(unsafe_code, unused_variables, unused_mut, unused_must_use)]
    #![deny(
        warnings,
        missing_docs,
        dead_code,
        let_underscore_drop,
        rust_2018_idioms,
        single_use_lifetimes,
        unreachable_pub,
        unused_qualifications,
        clippy::all,
        clippy::pedantic,
        clippy::nursery,
        clippy::blocks_in_conditions,
        clippy::implicit_return,
        clippy::items_after_statements,
        clippy::let_unit_value,
        clippy::missing_docs_in_private_items,
        clippy::pattern_type_mismatch,
        clippy::question_mark_used,
        clippy::shadow_reuse,
        clippy::shadow_same,
        clippy::shadow_unrelated,
        clippy::unwrap_used,
        clippy::used_underscore_binding
    )]
    #![expect(clippy::question_mark_used, reason = "it is what handlers are made of")]

    use inbox_sqlx::{MessageKey, idempotent};
    use sqlx::SqliteConnection;

    use crate::{Credit, CreditError, add};

    /// The id of an order.
    #[derive(MessageKey)]
    pub(super) struct OrderId(pub(super) u64);

    /// The same with a name.
    #[derive(MessageKey)]
    pub(super) struct Reference<'a> {
        /// As the sender wrote it.
        pub(super) text: &'a str,
    }

    /// As in the documentation.
    ///
    /// # Errors
    ///
    /// Those of the database.
    #[idempotent(consumer = "credit", key = msg.message_id)]
    pub(super) async fn plain(tx: &mut SqliteConnection, msg: &Credit) -> Result<i64, CreditError> {
        return Ok(add(tx, msg.amount).await?);
    }

    /// The connection is not used.
    #[idempotent(consumer = "unused", key = (*order, text.text))]
    pub(super) async fn unused(
        _tx: &mut SqliteConnection,
        order: &u64,
        text: &Reference<'_>,
    ) -> Result<(), CreditError> {
        return Ok(());
    }

    /// An alias, a tuple, a newtype.
    #[idempotent(consumer = "alias", key = (order, msg.message_id))]
    pub(super) async fn alias(
        tx: &mut SqliteConnection,
        order: OrderId,
        msg: &Credit,
    ) -> sqlx::Result<OrderId> {
        if order.0 == 0 {
            return Err(sqlx::Error::RowNotFound);
        }
        add(tx, msg.amount).await?;
        return Ok(order);
    }

    /// A service.
    pub(super) struct Service {
        /// What it adds.
        pub(super) amount: i64,
    }

    impl Service {
        /// A method.
        #[idempotent(consumer = "method", key = msg.message_id)]
        pub(super) async fn handle(
            &mut self,
            tx: &mut SqliteConnection,
            msg: Credit,
        ) -> Result<(), CreditError> {
            self.amount = add(tx, msg.amount).await?;
            return Ok(());
        }
    }
}

#[tokio::test]
async fn no_lint_is_shown_for_generated_code() {
    let inbox = &bank().await;
    let msg = &credit("m1");
    deliver_twice(inbox, async || wall::plain(inbox, msg).await).await;
    deliver_twice(inbox, async || {
        wall::alias(inbox, wall::OrderId(1), msg).await
    })
    .await;
    assert!(
        wall::unused(inbox, &1, &wall::Reference { text: "a" })
            .await
            .is_ok()
    );
    let mut service = wall::Service { amount: 0 };
    deliver_twice(inbox, async || service.handle(inbox, msg.clone()).await).await;
    assert_eq!(service.amount, 3);
}
