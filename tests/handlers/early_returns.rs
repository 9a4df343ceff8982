//! Bodies that end early: a wrapper that pastes code around a body loses what comes after it, and with it the commit.

use inbox_sqlx::{Outcome, idempotent};
use sqlx::SqliteConnection;

use crate::{Credit, CreditError, add, bank, credit, total};

/// The way a body ends.
#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    Tail,
    InIf,
    InLoop,
    InMatch,
    InLabelledBlock,
    InLetElse,
    LastStatement,
    QuestionMarkInFor,
    ErrorInLoop,
    ErrorAtTheTail,
}

const OK: [End; 7] = [
    End::Tail,
    End::InIf,
    End::InLoop,
    End::InMatch,
    End::InLabelledBlock,
    End::InLetElse,
    End::LastStatement,
];

const ERR: [End; 3] = [
    End::QuestionMarkInFor,
    End::ErrorInLoop,
    End::ErrorAtTheTail,
];

fn refuse() -> Result<(), CreditError> {
    Err(CreditError::Refused)
}

#[idempotent(consumer = "early", key = msg.message_id)]
async fn early(tx: &mut SqliteConnection, msg: &Credit, end: End) -> Result<End, CreditError> {
    add(&mut *tx, msg.amount).await?;
    if end == End::InIf {
        if msg.amount == 0 {
            return Err(CreditError::Refused);
        }
        return Ok(End::InIf);
    }
    for round in 0.. {
        if end == End::InLoop && round == 2 {
            return Ok(End::InLoop);
        }
        if end == End::ErrorInLoop && round == 2 {
            return Err(CreditError::Refused);
        }
        if round > 3 {
            break;
        }
    }
    match end {
        End::InMatch => return Ok(End::InMatch),
        End::QuestionMarkInFor => {
            for _ in 0..3 {
                refuse()?;
            }
        }
        _ => {}
    }
    'block: {
        if end != End::InLabelledBlock {
            break 'block;
        }
        return Ok(End::InLabelledBlock);
    }
    let Some(end) = Some(end).filter(|end| *end != End::InLetElse) else {
        return Ok(End::InLetElse);
    };
    // These end themselves, and not the handler.
    let closure = |end| {
        if end == End::Tail {
            return Err(CreditError::Refused);
        }
        Ok(end)
    };
    let future = async {
        if end == End::Tail {
            return Err(CreditError::Refused);
        }
        Ok(end)
    };
    assert_eq!(closure(end).is_err(), future.await.is_err());
    if end == End::ErrorAtTheTail {
        refuse()?;
    }
    last(tx, end).await
}

#[idempotent(consumer = "last", key = msg.message_id)]
async fn last_statement(tx: &mut SqliteConnection, msg: &Credit) -> Result<End, CreditError> {
    add(tx, msg.amount).await?;
    return Ok(End::LastStatement);
}

async fn last(tx: &mut SqliteConnection, end: End) -> Result<End, CreditError> {
    add(tx, 0).await?;
    Ok(end)
}

#[tokio::test]
async fn every_way_out_with_ok_commits() {
    let inbox = bank().await;
    for (done, end) in (0..).zip(OK) {
        let msg = credit(&format!("{end:?}"));
        let outcome = match end {
            End::LastStatement => last_statement(&inbox, &msg).await,
            _ => early(&inbox, &msg, end).await,
        };
        assert_eq!(outcome.unwrap(), Outcome::Processed(end));
        assert_eq!(total(&inbox).await, done + 1, "{end:?}");

        let outcome = match end {
            End::LastStatement => last_statement(&inbox, &msg).await,
            _ => early(&inbox, &msg, end).await,
        };
        assert_eq!(outcome.unwrap(), Outcome::Duplicate, "{end:?}");
        assert_eq!(total(&inbox).await, done + 1, "{end:?}");
    }
}

#[tokio::test]
async fn every_way_out_with_an_error_leaves_nothing() {
    let inbox = bank().await;
    for end in ERR {
        for _ in 0..2 {
            let result = early(&inbox, &credit("m1"), end).await;
            assert!(matches!(result, Err(CreditError::Refused)), "{end:?}");
            assert_eq!(total(&inbox).await, 0, "{end:?}");
        }
    }
    let outcome = early(&inbox, &credit("m1"), End::Tail).await.unwrap();
    assert_eq!(outcome, Outcome::Processed(End::Tail));
}

/// It never ends by itself; nothing after it can be reached.
#[idempotent(consumer = "endless", key = msg.message_id)]
async fn endless(tx: &mut SqliteConnection, msg: &Credit) -> Result<i64, CreditError> {
    loop {
        let sum = add(&mut *tx, msg.amount).await?;
        if sum >= 3 {
            return Ok(sum);
        }
    }
}

/// It promises nothing but an error.
#[idempotent(consumer = "refusing", key = msg.message_id)]
async fn refusing(tx: &mut SqliteConnection, msg: &Credit) -> Result<(), CreditError> {
    add(tx, msg.amount).await?;
    Err(CreditError::Refused)
}

#[tokio::test]
async fn bodies_without_an_end_or_without_an_ok_compile() {
    let inbox = bank().await;
    assert!(refusing(&inbox, &credit("m1")).await.is_err());
    let outcome = endless(&inbox, &credit("m1")).await.unwrap();
    assert_eq!(outcome, Outcome::Processed(3));
}
