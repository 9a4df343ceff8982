//! Handlers behind traits, which declare what callers see.

use async_trait::async_trait;
use inbox_sqlx::{Inbox, Outcome, idempotent};
use sqlx::{Sqlite, SqliteConnection};

use crate::{Credit, CreditError, add, bank, credit, deliver_twice};

/// With native `async fn`, the attribute stands on the method of the `impl`.
trait Handle {
    async fn handle(
        &self,
        inbox: &Inbox<Sqlite>,
        msg: &Credit,
    ) -> Result<Outcome<i64>, CreditError>;
}

struct Bank;

impl Handle for Bank {
    #[idempotent(consumer = "native", key = msg.message_id)]
    async fn handle(&self, tx: &mut SqliteConnection, msg: &Credit) -> Result<i64, CreditError> {
        Ok(add(tx, msg.amount).await?)
    }
}

/// A trait that promises futures for other threads.
trait HandleAnywhere {
    fn handle_anywhere(
        &self,
        inbox: &Inbox<Sqlite>,
        msg: &Credit,
    ) -> impl Future<Output = Result<Outcome<i64>, CreditError>> + Send;
}

impl HandleAnywhere for Bank {
    #[idempotent(consumer = "send", key = msg.message_id)]
    async fn handle_anywhere(
        &self,
        tx: &mut SqliteConnection,
        msg: &Credit,
    ) -> Result<i64, CreditError> {
        Ok(add(tx, msg.amount).await?)
    }
}

/// A default method is as good as any.
trait HandleByDefault {
    fn amount(&self) -> i64;

    #[idempotent(consumer = "default", key = msg.message_id)]
    async fn handle_by_default(
        &self,
        tx: &mut SqliteConnection,
        msg: &Credit,
    ) -> Result<i64, CreditError> {
        Ok(add(tx, self.amount()).await?)
    }
}

impl HandleByDefault for Bank {
    fn amount(&self) -> i64 {
        1
    }
}

/// With `#[async_trait]` the method delegates, as our message about it says.
#[async_trait]
trait HandleBoxed {
    async fn handle_boxed(
        &self,
        inbox: &Inbox<Sqlite>,
        msg: &Credit,
    ) -> Result<Outcome<i64>, CreditError>;
}

#[async_trait]
impl HandleBoxed for Bank {
    async fn handle_boxed(
        &self,
        inbox: &Inbox<Sqlite>,
        msg: &Credit,
    ) -> Result<Outcome<i64>, CreditError> {
        self.handle_inherently(inbox, msg).await
    }
}

impl Bank {
    #[idempotent(consumer = "boxed", key = msg.message_id)]
    async fn handle_inherently(
        &self,
        tx: &mut SqliteConnection,
        msg: &Credit,
    ) -> Result<i64, CreditError> {
        Ok(add(tx, msg.amount).await?)
    }
}

#[tokio::test]
async fn traits_declare_what_callers_see() {
    let inbox = &bank().await;
    let msg = &credit("m1");
    deliver_twice(inbox, async || Bank.handle(inbox, msg).await).await;
    deliver_twice(inbox, async || Bank.handle_anywhere(inbox, msg).await).await;
    deliver_twice(inbox, async || Bank.handle_by_default(inbox, msg).await).await;
    let boxed: Box<dyn HandleBoxed> = Box::new(Bank);
    deliver_twice(inbox, async || boxed.handle_boxed(inbox, msg).await).await;
}
