//! Futures that run on any thread.

use std::sync::mpsc;

use inbox_sqlx::{Outcome, idempotent};
use sqlx::SqliteConnection;

use crate::{Credit, CreditError, add, bank, credit, total};

#[idempotent(consumer = "spawned", key = msg.message_id)]
async fn owned(tx: &mut SqliteConnection, msg: Credit) -> Result<String, CreditError> {
    add(&mut *tx, msg.amount).await?;
    tokio::task::yield_now().await;
    add(tx, 0).await?;
    Ok(msg.message_id)
}

/// A parameter that may be sent, but not shared.
#[idempotent(consumer = "receiver", key = id)]
async fn receiver(
    tx: &mut SqliteConnection,
    id: u64,
    amounts: mpsc::Receiver<i64>,
) -> Result<i64, CreditError> {
    let mut sum = 0;
    while let Ok(amount) = amounts.recv() {
        sum = add(&mut *tx, amount).await?;
    }
    Ok(sum)
}

/// Borrowed by the body, and used by the caller afterwards.
#[idempotent(consumer = "out", key = msg.message_id)]
async fn out<'a>(
    tx: &mut SqliteConnection,
    msg: &Credit,
    sums: &'a mut Vec<i64>,
) -> Result<&'a i64, CreditError> {
    sums.push(add(tx, msg.amount).await?);
    Ok(&sums[0])
}

fn is_send<T: Send>(future: T) -> T {
    future
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handlers_run_in_spawned_tasks() {
    let inbox = bank().await;
    let (sender, amounts) = mpsc::channel();
    sender.send(1).unwrap();
    drop(sender);
    let there = inbox.clone();
    let spawned = tokio::spawn(async move { receiver(&there, 1, amounts).await });
    assert_eq!(spawned.await.unwrap().unwrap(), Outcome::Processed(1));

    // Eight at once: one processes, and the others wait for it and learn that it did.
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let there = inbox.clone();
            tokio::spawn(async move { owned(&there, credit("m1")).await })
        })
        .collect();
    let mut processed = 0;
    for task in tasks {
        let outcome = task.await.unwrap().unwrap();
        processed += u32::from(outcome == Outcome::Processed("m1".to_owned()));
    }
    assert_eq!(processed, 1);
    assert_eq!(total(&inbox).await, 2);

    let mut sums = Vec::new();
    let msg = credit("m1");
    let outcome = is_send(out(&inbox, &msg, &mut sums)).await.unwrap();
    assert_eq!(outcome, Outcome::Processed(&3));
    assert_eq!(sums, [3]);
}
