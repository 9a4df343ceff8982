//! Methods with every receiver, whose keys and inboxes may come from `self`.

use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use inbox_sqlx::{Inbox, idempotent};
use sqlx::{Sqlite, SqliteConnection};

use crate::{Credit, CreditError, add, bank, credit, deliver_twice};

#[derive(Debug, Clone)]
struct Bank {
    inbox: Inbox<Sqlite>,
    name: String,
    amount: i64,
}

impl Bank {
    const CONSUMER: &'static str = "a constant of the type";

    #[idempotent(consumer = "by reference", key = (self.name, msg.message_id))]
    async fn by_reference(
        &self,
        tx: &mut SqliteConnection,
        msg: &Credit,
    ) -> Result<i64, CreditError> {
        Ok(add(tx, msg.amount * self.amount).await?)
    }

    #[idempotent(consumer = "by mutable reference", key = msg.message_id)]
    async fn by_mutable_reference(
        &mut self,
        tx: &mut SqliteConnection,
        msg: &Credit,
    ) -> Result<&mut i64, CreditError> {
        add(tx, msg.amount).await?;
        self.amount += msg.amount;
        Ok(&mut self.amount)
    }

    #[idempotent(consumer = "by value", key = self.name)]
    async fn by_value(mut self, tx: &mut SqliteConnection) -> Result<Self, CreditError> {
        self.amount = add(tx, 1).await?;
        Ok(self)
    }

    #[idempotent(consumer = "boxed", key = self.name)]
    async fn boxed(self: Box<Self>, tx: &mut SqliteConnection) -> Result<Box<Self>, CreditError> {
        add(tx, 1).await?;
        Ok(self)
    }

    #[idempotent(consumer = "shared", key = self.name)]
    async fn shared(self: Arc<Self>, tx: &mut SqliteConnection) -> Result<(), CreditError> {
        add(tx, 1).await?;
        drop(self);
        Ok(())
    }

    #[idempotent(consumer = "not send", key = self.name)]
    async fn shared_in_one_thread(
        self: &Rc<Self>,
        tx: &mut SqliteConnection,
    ) -> Result<Rc<Self>, CreditError> {
        add(tx, 1).await?;
        Ok(Rc::clone(self))
    }

    #[idempotent(consumer = "pinned", key = self.name)]
    async fn pinned(self: Pin<&mut Self>, tx: &mut SqliteConnection) -> Result<i64, CreditError> {
        Ok(add(tx, self.amount).await?)
    }

    #[idempotent(consumer = "own inbox", key = msg.message_id, inbox = self.inbox)]
    async fn with_its_own_inbox(
        &self,
        tx: &mut SqliteConnection,
        msg: &Credit,
    ) -> Result<(), CreditError> {
        add(tx, msg.amount).await?;
        Ok(())
    }

    #[idempotent(consumer = "own inbox, moved", key = self.name, inbox = self.inbox)]
    async fn with_its_own_inbox_by_value(
        self,
        tx: &mut SqliteConnection,
    ) -> Result<Self, CreditError> {
        add(tx, 1).await?;
        Ok(self)
    }

    #[idempotent(consumer = Self::CONSUMER, key = Self::key(msg))]
    async fn without_self(
        tx: &mut SqliteConnection,
        msg: &Credit,
    ) -> Result<Option<Self>, CreditError> {
        add(tx, msg.amount).await?;
        Ok(None)
    }

    fn key(msg: &Credit) -> &str {
        &msg.message_id
    }
}

#[tokio::test]
async fn methods_of_every_receiver_handle_each_message_once() {
    let inbox = &bank().await;
    let msg = &credit("m1");
    let bank = Bank {
        inbox: inbox.clone(),
        name: "savings".to_owned(),
        amount: 1,
    };
    let mut changed = bank.clone();
    deliver_twice(inbox, async || bank.by_reference(inbox, msg).await).await;
    deliver_twice(inbox, async || {
        changed
            .by_mutable_reference(inbox, msg)
            .await
            .map(|outcome| {
                let amount = outcome.into_value().copied();
                amount.map_or(
                    inbox_sqlx::Outcome::Duplicate,
                    inbox_sqlx::Outcome::Processed,
                )
            })
    })
    .await;
    assert_eq!(changed.amount, 2);
    deliver_twice(inbox, async || bank.clone().by_value(inbox).await).await;
    deliver_twice(inbox, async || Box::new(bank.clone()).boxed(inbox).await).await;
    deliver_twice(inbox, async || Arc::new(bank.clone()).shared(inbox).await).await;
    deliver_twice(inbox, async || {
        Rc::new(bank.clone()).shared_in_one_thread(inbox).await
    })
    .await;
    deliver_twice(inbox, async || {
        Pin::new(&mut bank.clone()).pinned(inbox).await
    })
    .await;
    deliver_twice(inbox, async || bank.with_its_own_inbox(msg).await).await;
    deliver_twice(inbox, async || {
        bank.clone().with_its_own_inbox_by_value().await
    })
    .await;
    deliver_twice(inbox, async || Bank::without_self(inbox, msg).await).await;
}
