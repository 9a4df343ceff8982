//! What is in order in every case: messages, an error type, and some work to do.

use std::{collections::HashMap, time::SystemTime};

use sqlx::{SqliteConnection, SqlitePool};

/// What arrives.
#[derive(Debug, Clone)]
pub struct Credit {
    /// The same in every redelivery.
    pub message_id: String,
    /// Whose money it is.
    pub account: i64,
    /// The same as a text.
    pub account_name: String,
    /// How much there is to add.
    pub amount: i64,
    /// Shared by several messages.
    pub correlation_id: String,
    /// What some senders give.
    pub reference: Option<String>,
    /// What others give.
    pub other_reference: Option<String>,
}

impl Credit {
    /// Consumes the message.
    pub fn into_id(self) -> String {
        self.message_id
    }
}

/// What a broker says about a message.
#[derive(Debug)]
pub struct Envelope {
    /// Shared by several messages.
    pub correlation_id: String,
    /// Shared by several messages.
    pub causation_id: String,
    /// Counts.
    pub delivery_count: u32,
    /// Counts.
    pub delivery_attempt: u32,
    /// Not the first time.
    pub redelivered: bool,
    /// When this copy arrived.
    pub received_at: SystemTime,
    /// When it was sent.
    pub timestamp: u64,
    /// Shared by all that came of one request.
    pub trace_id: String,
    /// In a partition of a topic.
    pub offset: u64,
    /// Whatever else there is.
    pub headers: HashMap<String, String>,
}

impl Envelope {
    /// Reads what is inside.
    pub fn open(&self) {}
}

/// An error type as handlers have it.
#[derive(Debug, thiserror::Error)]
pub enum CreditError {
    /// The statement failed.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    /// The inbox failed.
    #[error(transparent)]
    Inbox(#[from] inbox_sqlx::Error),
}

/// The same for all messages.
pub const NEXT: u64 = 1;

/// Adds the amount; returns the balance.
///
/// # Errors
///
/// Those of the database.
pub async fn add(tx: &mut SqliteConnection, msg: &Credit) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar("update accounts set balance = balance + ? where id = ? returning balance")
        .bind(msg.amount)
        .bind(msg.account)
        .fetch_one(tx)
        .await
}

/// Writes on a connection of its own.
///
/// # Errors
///
/// Those of the database.
pub async fn log(pool: &SqlitePool, msg: &Credit) -> Result<(), CreditError> {
    let insert = sqlx::query("insert into log values (?)").bind(&msg.message_id);
    insert.execute(pool).await?;
    Ok(())
}

/// Asks somebody else.
pub async fn look_up(msg: &Credit) -> String {
    std::future::ready(msg.message_id.clone()).await
}

/// Tells the owner of the account by e-mail; `key` is the same at every attempt.
///
/// # Errors
///
/// None, this time.
pub async fn notify(key: &str, msg: &Credit) -> Result<usize, CreditError> {
    Ok(std::future::ready(key.len() + msg.account_name.len()).await)
}
