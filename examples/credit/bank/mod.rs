//! The bank: accounts, a ledger, and the two handlers, once per database.
//!
//! Read `sqlite.rs` first; the other two say the same in their dialects.

#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "postgres")]
mod postgres;
mod sqlite;

use std::collections::BTreeMap;

use inbox_sqlx::Outcome;
use serde::{Deserialize, Serialize};

#[cfg(feature = "mysql")]
pub(crate) use self::mysql::MySql;
#[cfg(feature = "postgres")]
pub(crate) use self::postgres::Postgres;
pub(crate) use self::sqlite::Sqlite;
use crate::message::Credit;

/// The two ways to handle a message that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Handler {
    CheckThenInsert,
    Idempotent,
}

impl Handler {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::CheckThenInsert => "check-then-insert",
            Self::Idempotent => "#[idempotent]",
        }
    }

    /// Counts the rows that say "this message was handled".
    fn markers(self) -> &'static str {
        match self {
            Self::CheckThenInsert => "select count(*) from credit_demo_seen",
            Self::Idempotent => "select count(*) from credit_demo_inbox",
        }
    }
}

// What is asked in the end, in words that all three databases understand.
const BALANCES: &str = "select id, balance from credit_demo_accounts";
const CREDITS: &str = "select instance, count(*) from credit_demo_ledger group by instance";
const DOUBLED: &str = "select count(*) from (select message_id from credit_demo_ledger \
                       group by message_id having count(*) > 1) as doubled";

/// What the database holds in the end.
#[derive(Debug)]
pub(crate) struct Tally {
    /// Cents by account.
    pub(crate) balances: BTreeMap<i64, i64>,
    /// Credits applied, by instance.
    pub(crate) credits: BTreeMap<i64, i64>,
    /// Messages that were credited more than once.
    pub(crate) doubled: i64,
    /// Rows that say "this message was handled".
    pub(crate) markers: i64,
}

/// The seam between the demonstration and a database.
pub(crate) trait Bank: Sized {
    const NAME: &'static str;

    async fn open(url: &str) -> anyhow::Result<Self>;

    /// Makes all tables anew, with empty accounts.
    async fn create(&self, accounts: &[i64]) -> anyhow::Result<()>;

    /// Applies one delivery.
    async fn handle(
        &self,
        handler: Handler,
        message: &Credit,
        instance: i64,
    ) -> Result<Outcome<()>, sqlx::Error>;

    async fn tally(&self, handler: Handler) -> anyhow::Result<Tally>;

    async fn drop_tables(&self) -> anyhow::Result<()>;
}
