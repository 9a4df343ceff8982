//! Run 10: what each driver says about a violated constraint.

use inbox_sqlx::{ViolatedIndex, is_violation_of, violated_index};

use super::{Run, UNIQUE};
use crate::{bench::Bench, lab::Lab, page};

pub(crate) const RUN: Run = Run {
    number: 10,
    title: "what the driver says about a violated constraint",
    about: "The same five mistakes on each database. Only PostgreSQL's driver names the\n\
            constraint; the others say it in their texts, each in its own way, and\n\
            `violated_index` reads all three.",
};

/// What a mistake violates.
#[derive(Debug, Clone, Copy)]
enum Violates {
    UniqueIndex,
    PrimaryKey,
    NothingUnique,
}

const MISTAKES: [(&str, Violates, &str); 5] = [
    (
        "A unique index:",
        Violates::UniqueIndex,
        "insert into experiments_seen (message_id) values ('m-1'), ('m-1')",
    ),
    (
        "A primary key:",
        Violates::PrimaryKey,
        "insert into experiments_accounts (id) values (1)",
    ),
    (
        "A foreign key:",
        Violates::NothingUnique,
        "insert into experiments_ledger values ('m-1', 2, 10)",
    ),
    (
        "A check:",
        Violates::NothingUnique,
        "update experiments_accounts set balance = balance - 10 where id = 1",
    ),
    (
        "A value that must not be null:",
        Violates::NothingUnique,
        "insert into experiments_seen (message_id) values (null)",
    ),
];

pub(crate) async fn run<DB: Lab>(bench: &mut Bench<DB>) -> anyhow::Result<()> {
    let mut a = bench.consumer("A").await?;
    bench.onlooker().run(UNIQUE).await?;
    for (what, violates, sql) in MISTAKES {
        page::part(what);
        let Err(error) = a.run(sql).await else {
            bench.claim(false, "it was refused");
            continue;
        };
        if let Some(error) = error.as_database_error() {
            page::say(format_args!(
                "   constraint()      {}",
                shown(error.constraint())
            ));
            page::say(format_args!(
                "   table()           {}",
                shown(error.table())
            ));
            page::say(format_args!(
                "   code()            {}",
                shown(error.code().as_deref())
            ));
            page::say(format_args!("   kind()            {:?}", error.kind()));
        }
        let named = error
            .as_database_error()
            .and_then(|error| error.constraint());
        let violated = violated_index(&error);
        page::say(format_args!(
            "   violated_index()  {}",
            violated.as_ref().map_or("None".to_owned(), read)
        ));
        let name = match violates {
            Violates::UniqueIndex => "experiments_seen_message_id_key",
            Violates::PrimaryKey => DB::PRIMARY_KEY,
            Violates::NothingUnique => {
                bench.claim(violated.is_none(), "nothing unique, and not taken for it");
                continue;
            }
        };
        if DB::NAMES_CONSTRAINTS {
            bench.claim(named == Some(name), "the driver names it");
        } else {
            bench.claim(named.is_none(), "the driver does not name it");
        }
        let found = format!("is_violation_of(&error, {name:?})");
        bench.claim(is_violation_of(&error, name), &found);
    }
    Ok(())
}

fn shown(text: Option<&str>) -> String {
    text.map_or_else(|| "None".to_owned(), |text| format!("{text:?}"))
}

fn read(index: &ViolatedIndex) -> String {
    let mut facts = Vec::new();
    if let Some(name) = index.name() {
        facts.push(format!("name {name:?}"));
    }
    if let Some(table) = index.table() {
        facts.push(format!("table {table:?}"));
    }
    if !index.columns().is_empty() {
        facts.push(format!("columns {:?}", index.columns()));
    }
    facts.join(", ")
}
