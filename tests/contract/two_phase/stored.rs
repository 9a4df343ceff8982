//! A row of the inbox as it stands in the table, written and read without the library.

use inbox_core::two_phase::{DbTime, Policy, Row, State, Token};
use sqlx::Row as _;

use crate::{Conn, Db, contract::bench::text, dialect::leases};

/// The consumer of all rows here.
pub(crate) const CONSUMER: &str = "email";

/// The columns `on_unknown`, `max_attempts` and `horizon_ms`.
pub(crate) type PolicyColumns = (Option<i64>, Option<i64>, Option<i64>);

/// See the module. Times are milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) state: i64,
    pub(crate) fence: i64,
    pub(crate) token: Option<Token>,
    pub(crate) attempts: i64,
    pub(crate) lost_leases: i64,
    pub(crate) lease_until: Option<i64>,
    pub(crate) next_at: Option<i64>,
    pub(crate) first_call_at: Option<i64>,
    pub(crate) processed_at: Option<i64>,
    pub(crate) parked_at: Option<i64>,
    pub(crate) policy: PolicyColumns,
    pub(crate) last_error: Option<String>,
    pub(crate) payload: Option<String>,
}

const COLUMNS: &str = "message_id, consumer, state, fence, token, attempts, lost_leases, lease_until, next_at, \
                       first_call_at, processed_at, parked_at, on_unknown, max_attempts, horizon_ms, last_error, \
                       payload";

impl Stored {
    /// A row that was not there before.
    pub(crate) fn new(row: &Row) -> Self {
        let empty = Self {
            state: 0,
            fence: 0,
            token: None,
            attempts: 0,
            lost_leases: 0,
            lease_until: None,
            next_at: None,
            first_call_at: None,
            processed_at: None,
            parked_at: None,
            policy: (None, None, None),
            last_error: None,
            payload: None,
        };
        empty.changed_to(row)
    }

    /// The same with times that were relative to `now`.
    pub(crate) fn from(&self, now: DbTime) -> Self {
        let at = |time: Option<i64>| time.map(|time| now.as_millis() + time);
        Self {
            lease_until: at(self.lease_until),
            next_at: at(self.next_at),
            first_call_at: at(self.first_call_at),
            processed_at: at(self.processed_at),
            parked_at: at(self.parked_at),
            ..self.clone()
        }
    }

    /// Whether a newer version wrote its state.
    pub(crate) fn is_unknown(&self) -> bool {
        State::from_column(self.state).is_none()
    }

    /// Whether it is both of these, each of its times lying between theirs. Texts are not compared.
    pub(crate) fn is_between(&self, first: &Self, last: &Self) -> bool {
        let times = |row: &Self| {
            [
                row.lease_until,
                row.next_at,
                row.first_call_at,
                row.processed_at,
                row.parked_at,
            ]
        };
        let within = |time: Option<i64>, first: Option<i64>, last: Option<i64>| match time {
            Some(time) => {
                first.is_some_and(|first| first <= time) && last.is_some_and(|last| time <= last)
            }
            None => first.is_none() && last.is_none(),
        };
        let times_agree = times(self)
            .into_iter()
            .zip(times(first))
            .zip(times(last))
            .all(|((time, first), last)| within(time, first, last));
        let timeless = |row: &Self| Self {
            lease_until: None,
            next_at: None,
            first_call_at: None,
            processed_at: None,
            parked_at: None,
            last_error: None,
            payload: None,
            ..row.clone()
        };
        times_agree && timeless(self) == timeless(first) && timeless(self) == timeless(last)
    }

    /// What the decision function is told. A state of a newer version is claimed for ever.
    pub(crate) fn row(&self) -> Row {
        let time = |millis: Option<i64>| millis.map(DbTime::from_millis);
        let known = State::from_column(self.state);
        Row {
            state: known.unwrap_or(State::Claimed),
            fence: self.fence,
            token: self.token,
            attempts: u32::try_from(self.attempts).unwrap(),
            lost_leases: u32::try_from(self.lost_leases).unwrap(),
            lease_until: match known {
                Some(_) => time(self.lease_until),
                None => time(Some(i64::MAX)),
            },
            next_at: time(self.next_at),
            first_call_at: time(self.first_call_at),
            processed_at: time(self.processed_at),
            parked_at: time(self.parked_at),
            policy: Policy::from_columns(self.policy.0, self.policy.1, self.policy.2),
        }
    }

    /// What is to stand there after a change of the row to `row`. Policies that cannot be read stay as they are.
    pub(crate) fn changed_to(&self, row: &Row) -> Self {
        let millis = |time: Option<DbTime>| time.map(DbTime::as_millis);
        let before = self.row();
        let policy = match row.policy {
            Some(policy) if row.policy != before.policy => {
                let (on_unknown, max_attempts, horizon_ms) = policy.columns();
                (Some(on_unknown), Some(max_attempts), horizon_ms)
            }
            _ => self.policy,
        };
        Self {
            state: row.state.column(),
            fence: row.fence,
            token: row.token,
            attempts: row.attempts.into(),
            lost_leases: row.lost_leases.into(),
            lease_until: millis(row.lease_until),
            next_at: millis(row.next_at),
            first_call_at: millis(row.first_call_at),
            processed_at: millis(row.processed_at),
            parked_at: millis(row.parked_at),
            policy,
            last_error: self.last_error.clone(),
            payload: self.payload.clone(),
        }
    }

    fn values(&self, key: &str) -> String {
        let or_null = |value: Option<String>| value.unwrap_or_else(|| "null".into());
        let number = |number: Option<i64>| or_null(number.map(|number| number.to_string()));
        let time = |millis: Option<i64>| or_null(millis.map(leases::from_millis));
        let quoted = |text: &Option<String>| or_null(text.as_ref().map(|text| format!("'{text}'")));
        [
            format!("'{key}'"),
            format!("'{CONSUMER}'"),
            self.state.to_string(),
            self.fence.to_string(),
            or_null(self.token.map(|token| leases::from_hex(&hex(token)))),
            self.attempts.to_string(),
            self.lost_leases.to_string(),
            time(self.lease_until),
            time(self.next_at),
            time(self.first_call_at),
            time(self.processed_at),
            time(self.parked_at),
            number(self.policy.0),
            number(self.policy.1),
            number(self.policy.2),
            quoted(&self.last_error),
            quoted(&self.payload),
        ]
        .join(", ")
    }
}

/// A token as hexadecimal digits.
pub(crate) fn hex(token: Token) -> String {
    format!("{:032x}", u128::from_be_bytes(token.0))
}

fn from_hex(digits: &str) -> Token {
    let number = u128::from_str_radix(digits, 16).unwrap();
    Token(number.to_be_bytes())
}

/// Writes rows, each under its key.
pub(crate) async fn write<'a>(
    conn: &mut Conn,
    rows: impl IntoIterator<Item = (&'a str, &'a Stored)>,
) {
    let values: Vec<String> = rows
        .into_iter()
        .map(|(key, row)| format!("({})", row.values(key)))
        .collect();
    if values.is_empty() {
        return;
    }
    let insert = format!("insert into inbox ({COLUMNS}) values {}", values.join(", "));
    sqlx::query::<Db>(text(insert)).execute(conn).await.unwrap();
}

/// Reads all rows: id, key and row.
pub(crate) async fn read(conn: &mut Conn) -> Vec<(i64, String, Stored)> {
    let (integer, millis) = (leases::integer, leases::to_millis);
    let columns = [
        "id".to_owned(),
        leases::as_text("message_id"),
        integer("state"),
        integer("fence"),
        leases::to_hex("token"),
        integer("attempts"),
        integer("lost_leases"),
        millis("lease_until"),
        millis("next_at"),
        millis("first_call_at"),
        millis("processed_at"),
        millis("parked_at"),
        integer("on_unknown"),
        integer("max_attempts"),
        integer("horizon_ms"),
        leases::as_text("last_error"),
        leases::as_text("payload"),
    ];
    let select = format!("select {} from inbox order by id", columns.join(", "));
    let rows = sqlx::query::<Db>(text(select)).fetch_all(conn).await;
    let rows = rows.unwrap();
    let read = rows.iter().map(|row| {
        let stored = Stored {
            state: row.get(2),
            fence: row.get(3),
            token: row.get::<Option<String>, _>(4).as_deref().map(from_hex),
            attempts: row.get(5),
            lost_leases: row.get(6),
            lease_until: row.get(7),
            next_at: row.get(8),
            first_call_at: row.get(9),
            processed_at: row.get(10),
            parked_at: row.get(11),
            policy: (row.get(12), row.get(13), row.get(14)),
            last_error: row.get(15),
            payload: row.get(16),
        };
        (row.get(0), row.get(1), stored)
    });
    read.collect()
}

/// The database's clock.
pub(crate) async fn clock(conn: &mut Conn) -> DbTime {
    let now = text(format!("select {}", leases::NOW));
    let millis = sqlx::query_scalar::<Db, i64>(now).fetch_one(conn).await;
    DbTime::from_millis(millis.unwrap())
}
