//! The statements do what the decision function says: for every row, every policy and every request, with the right and
//! the wrong fence and token.
//!
//! The row is written by hand, the library's own statement runs, and the row is read by hand. `decide` is asked for the
//! database's clock before and after, and every time that was written must lie between its two answers.

use inbox_core::{
    Consumer, Key,
    two_phase::{Answer, Change, DbTime, Decision, Request, decide},
};
use inbox_sqlx::__private::requests::{Carried, carry_out, inspect};
use sqlx::Connection as _;

use super::{
    situations::{Case, GRACE, WINDOW, cases, rows},
    stored::{self, CONSUMER, Stored},
};
use crate::{Conn, contract::bench::Bench, dialect};

/// How many rows are in the table at a time.
const BATCH: usize = 500;

#[tokio::test]
async fn every_statement_does_to_every_row_what_the_decision_function_says() {
    let bench = bench().await;
    let mut tried = Tried::default();
    for batch in cases().chunks(BATCH) {
        tried.batch(&bench, batch).await;
    }
    tried.expect_no_difference(10_000);
}

/// One statement, all rows at once: it has to find those it is about.
#[tokio::test]
async fn sweeping_and_pruning_do_to_all_rows_together_what_the_decision_function_says() {
    let bench = bench().await;
    let mut tried = Tried::default();
    for request in [
        Request::Sweep { grace: GRACE },
        Request::Prune { window: WINDOW },
    ] {
        let cases: Vec<Case> = rows()
            .into_iter()
            .flatten()
            .map(|row| Case {
                row: Some(row),
                request,
            })
            .collect();
        tried.together(&bench, &cases, &request).await;
    }
    tried.expect_no_difference(2_000);
}

async fn bench() -> Bench {
    let bench = Bench::new().await;
    for statement in dialect::ALLOW_ANY_STATE {
        bench.observe(statement).await;
    }
    bench
}

/// The database's clock before and after.
#[derive(Debug, Clone, Copy)]
struct Moments {
    before: DbTime,
    after: DbTime,
}

#[derive(Debug, Default)]
struct Tried {
    cases: usize,
    differences: Vec<String>,
}

impl Tried {
    fn expect_no_difference(&self, at_least: usize) {
        assert!(self.cases >= at_least, "only {} cases", self.cases);
        let some: Vec<&str> = self
            .differences
            .iter()
            .map(String::as_str)
            .take(5)
            .collect();
        assert!(
            some.is_empty(),
            "{} of {} cases differ, for example\n{}",
            self.differences.len(),
            self.cases,
            some.join("\n\n")
        );
    }

    /// Each case on a row of its own, in a transaction that is rolled back.
    async fn batch(&mut self, bench: &Bench, cases: &[Case]) {
        let mut connection = bench.inbox.pool().acquire().await.unwrap();
        let mut transaction = connection.begin().await.unwrap();
        let conn = &mut *transaction;

        let before = stored::clock(conn).await;
        let written = Written::new(conn, cases, before).await;
        let mut carried = Vec::new();
        for (case, (key, _)) in cases.iter().zip(&written.rows) {
            let id = written.id(key);
            carried.push(carry_out_one(bench, conn, key, id, &case.request).await);
        }
        let after = stored::clock(conn).await;
        let mut found = stored::read(conn).await;
        transaction.rollback().await.unwrap();

        let moments = Moments { before, after };
        for ((case, (key, row)), (carried, told)) in cases.iter().zip(&written.rows).zip(carried) {
            let found = found
                .iter()
                .position(|(_, at, _)| at == key)
                .map(|at| found.swap_remove(at).2);
            let expected = Expected::new(row.as_ref(), &case.request, moments);
            self.note(case, expected.difference(found.as_ref()));
            self.note(case, expected.difference_in_answer(carried, told));
            self.cases += 1;
        }
        assert!(found.is_empty(), "rows nobody wrote: {found:?}");
    }

    /// All rows by one statement.
    async fn together(&mut self, bench: &Bench, cases: &[Case], request: &Request) {
        let mut connection = bench.inbox.pool().acquire().await.unwrap();
        let mut transaction = connection.begin().await.unwrap();
        let conn = &mut *transaction;

        let before = stored::clock(conn).await;
        let mut written = Vec::new();
        for (number, batch) in cases.chunks(BATCH).enumerate() {
            let rows = Written::numbered(conn, batch, before, number * BATCH).await;
            written.extend(rows.rows);
        }
        let (carried, _) = carry_out_one(bench, conn, "m0", -1, request).await;
        let after = stored::clock(conn).await;
        let found = stored::read(conn).await;
        transaction.rollback().await.unwrap();

        let mut changes = 0;
        let moments = Moments { before, after };
        for (case, (key, row)) in cases.iter().zip(&written) {
            let found = found.iter().find(|(_, at, _)| at == key);
            let expected = Expected::new(row.as_ref(), request, moments);
            self.note(case, expected.difference(found.map(|(_, _, row)| row)));
            changes += u64::from(expected.first.change != Change::Nothing);
            self.cases += 1;
        }
        assert!(changes > 0);
        assert_eq!(carried, Carried::Changed(changes), "{request:?}");
    }

    fn note(&mut self, case: &Case, difference: Option<String>) {
        if let Some(difference) = difference {
            self.differences.push(format!("{difference}\n{case:?}"));
        }
    }
}

/// The rows of a batch, each with its key, and their ids.
struct Written {
    rows: Vec<(String, Option<Stored>)>,
    ids: Vec<(i64, String)>,
}

impl Written {
    async fn new(conn: &mut Conn, cases: &[Case], now: DbTime) -> Self {
        Self::numbered(conn, cases, now, 0).await
    }

    async fn numbered(conn: &mut Conn, cases: &[Case], now: DbTime, first: usize) -> Self {
        let rows: Vec<(String, Option<Stored>)> = cases
            .iter()
            .enumerate()
            .map(|(number, case)| {
                let row = case.row.as_ref().map(|row| row.from(now));
                (format!("m{}", first + number), row)
            })
            .collect();
        let some = rows
            .iter()
            .filter_map(|(key, row)| Some((key.as_str(), row.as_ref()?)));
        stored::write(conn, some).await;

        let found = stored::read(conn).await;
        for (key, row) in &rows {
            let found = found.iter().find(|(_, at, _)| at == key);
            assert_eq!(found.map(|(_, _, row)| row), row.as_ref(), "{key}");
        }
        let ids = found.into_iter().map(|(id, key, _)| (id, key)).collect();
        Self { rows, ids }
    }

    /// The id of a row; one that no row has, if there is none.
    fn id(&self, key: &str) -> i64 {
        let found = self.ids.iter().find(|(_, at)| at == key);
        found.map_or(-1, |(id, _)| *id)
    }
}

/// Runs the statement. What a claim that was refused comes to, the library decides on what it reads then.
async fn carry_out_one(
    bench: &Bench,
    conn: &mut Conn,
    key: &str,
    id: i64,
    request: &Request,
) -> (Carried, Option<Decision>) {
    let (consumer, key) = (Consumer::new(CONSUMER).unwrap(), Key::new(key).unwrap());
    let message = (&consumer, &key);
    let carried = carry_out(&bench.inbox, conn, message, id, request)
        .await
        .unwrap_or_else(|error| panic!("{request:?}: {error}"));
    let (Carried::Nothing, Request::Claim { policy, .. }) = (carried, *request) else {
        return (carried, None);
    };
    let (row, now) = inspect(&bench.inbox, conn, message)
        .await
        .unwrap()
        .expect("a claim that is refused leaves a row");
    let decision = decide(Some(&row), now, request);
    if decision.answer != Answer::Parked || decision.change == Change::Nothing {
        return (carried, Some(decision));
    }
    let fence = row.fence;
    let park = Request::ParkUnresolved { fence, policy };
    let carried = carry_out(&bench.inbox, conn, message, id, &park).await;
    (carried.unwrap(), Some(decision))
}

/// What must have happened to a row.
struct Expected<'a> {
    row: Option<&'a Stored>,
    first: Decision,
    last: Decision,
}

impl<'a> Expected<'a> {
    fn new(row: Option<&'a Stored>, request: &Request, moments: Moments) -> Self {
        let before = row.map(Stored::row);
        let decided = |now| {
            let decision = decide(before.as_ref(), now, request);
            match row {
                // Nobody but a newer version changes what it wrote.
                Some(row) if row.is_unknown() => Decision {
                    change: Change::Nothing,
                    ..decision
                },
                _ => decision,
            }
        };
        Self {
            row,
            first: decided(moments.before),
            last: decided(moments.after),
        }
    }

    /// In the row.
    fn difference(&self, found: Option<&Stored>) -> Option<String> {
        let after = |decision: &Decision| match decision.change {
            Change::Nothing => self.row.cloned(),
            Change::Delete => None,
            Change::Write(row) => Some(match self.row {
                Some(before) => before.changed_to(&row),
                None => Stored::new(&row),
            }),
        };
        let (first, last) = (after(&self.first), after(&self.last));
        let equal = match (&first, &last, found) {
            _ if self.first.change == Change::Nothing => found == self.row,
            (None, None, None) => true,
            (Some(first), Some(last), Some(found)) => found.is_between(first, last),
            _ => false,
        };
        (!equal).then(|| format!("decided {first:?}\nfound   {found:?}"))
    }

    /// In what the caller is told.
    fn difference_in_answer(&self, carried: Carried, told: Option<Decision>) -> Option<String> {
        let expected = match (self.first.change, self.first.answer) {
            (Change::Nothing, _) => Carried::Nothing,
            (_, Answer::Run { fence, attempt }) => Carried::Granted { fence, attempt },
            _ => Carried::Changed(1),
        };
        let told_right = told.is_none_or(|told| {
            let claimable = matches!(told.answer, Answer::Run { .. });
            (!claimable || told.change == Change::Nothing)
                && is_between(told.answer, self.first.answer, self.last.answer)
        });
        (carried != expected || !told_right).then(|| {
            format!(
                "decided {:?}\ncarried out {carried:?}, told {told:?}",
                self.first.answer
            )
        })
    }
}

/// Whether an answer is both of these, its waiting time included.
fn is_between(answer: Answer, first: Answer, last: Answer) -> bool {
    match (answer, first, last) {
        (
            Answer::InProgress { retry_after },
            Answer::InProgress {
                retry_after: longest,
            },
            Answer::InProgress {
                retry_after: shortest,
            },
        ) => (shortest..=longest).contains(&retry_after),
        _ => answer == first && answer == last,
    }
}
