//! `install` makes what `verify` wants, and `verify` finds everything that would lose or double messages.

use inbox_sqlx::{Begin, Disposition, Error, Inbox, Outcome, SchemaProblem, TableName};
use sqlx::{AssertSqlSafe, Connection as _, raw_sql};

use super::bench::{Bench, CONSUMER, Kept};
use crate::{
    Conn, Db, dialect,
    dialect::schema::{BREAK, BROKEN},
};

/// What somebody did to the tables, and what must be found.
#[derive(Debug)]
pub(crate) struct Broken {
    pub(crate) name: &'static str,
    /// Run by a superuser, one after the other on one connection.
    pub(crate) statements: &'static [&'static str],
    pub(crate) problems: fn() -> Vec<SchemaProblem>,
    pub(crate) claim: Claim,
}

/// Whether a claim notices by itself, for applications that never call `verify`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    /// `Error::Schema`, and the body does not run.
    Refused,
    /// Only `verify` can know.
    Unaware,
}

#[tokio::test]
async fn verify_finds_whatever_is_broken_and_says_what_mends_it() {
    let bench = Bench::new().await;
    let mut wrong = Vec::new();
    for broken in BROKEN {
        reinstall(&bench).await;
        bench.inbox.verify().await.unwrap();
        break_it(&bench, broken.statements).await;

        let error = match bench.inbox.verify().await {
            Err(Error::Schema(error)) => error,
            other => {
                wrong.push(format!("{}: verify says {other:?}", broken.name));
                continue;
            }
        };
        let problems = (broken.problems)();
        if error.problems() != problems {
            wrong.push(format!(
                "{}: wanted {problems:?}\nfound {:?}",
                broken.name,
                error.problems()
            ));
        }
        assert_eq!(error.table().to_string(), "inbox");
        let text = error.to_string();
        for problem in error.problems() {
            assert!(
                text.contains(&problem.to_string()) && text.contains(problem.remedy()),
                "{text}"
            );
        }

        let claimed = bench.inbox.begin(CONSUMER, "m1").await;
        match (broken.claim, claimed) {
            (Claim::Refused, Err(error @ Error::Schema(_))) => {
                assert!(!error.is_permanent() && !error.is_transient());
                assert_eq!(Disposition::of(&error), Disposition::Retry { after: None });
            }
            (Claim::Unaware, Ok(Begin::Fresh(_))) => {}
            (claim, begun) => wrong.push(format!("{}: {claim:?}, got {begun:?}", broken.name)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    // And when all is mended, all is well.
    reinstall(&bench).await;
    bench.inbox.verify().await.unwrap();
    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Processed(()));
    bench.expect("m1", Kept::Once).await;
}

#[tokio::test]
async fn eight_instances_may_install_at_once() {
    let database = dialect::fresh_database().await;
    // Connected at once as well: on SQLite the first to come switches the file to WAL.
    let mut instances = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let url = database.url().to_owned();
        instances.spawn(async move {
            let inbox = Inbox::<Db>::connect(&url).await.unwrap();
            inbox.install().await.unwrap();
            inbox.verify().await.unwrap();
        });
    }
    while let Some(instance) = instances.join_next().await {
        instance.unwrap();
    }
    let inbox = Inbox::connect(database.url()).await.unwrap();
    let bench = Bench::around(inbox, database).await;
    let versions = "select count(*) from inbox_schema_version";
    assert_eq!(bench.number(versions, &[]).await, 1);
    bench.credit("m1").await.unwrap();
    bench.expect("m1", Kept::Once).await;
}

/// At every start, that is, with messages in the table.
#[tokio::test]
async fn installing_again_changes_nothing() {
    let bench = Bench::new().await;
    bench.credit("m1").await.unwrap();
    bench.inbox.install().await.unwrap();
    bench.inbox.verify().await.unwrap();
    assert_eq!(bench.credit("m1").await.unwrap(), Outcome::Duplicate);
    bench.expect("m1", Kept::Once).await;
}

/// A DBA who runs the printed statements has the same tables.
#[tokio::test]
async fn the_printed_ddl_is_all_there_is_to_install() {
    let bench = Bench::new().await;
    break_it(
        &bench,
        &["drop table inbox", "drop table inbox_schema_version"],
    )
    .await;
    raw_sql(AssertSqlSafe(bench.inbox.ddl()))
        .execute(bench.inbox.pool())
        .await
        .unwrap();
    bench.inbox.verify().await.unwrap();
    bench.inbox.install().await.unwrap();
    bench.inbox.verify().await.unwrap();
    bench.credit("m1").await.unwrap();
    bench.expect("m1", Kept::Once).await;
}

#[tokio::test]
async fn inboxes_of_several_names_live_side_by_side() {
    let bench = Bench::new().await;
    let longest = "x".repeat(40);
    let qualified = dialect::schema::qualified_table(&bench.database);
    for name in [longest.as_str(), "messages_2", qualified.as_str()] {
        let inbox = Inbox::<Db>::builder()
            .table(name)
            .build(bench.inbox.pool().clone())
            .unwrap();
        if name == qualified {
            for statement in dialect::schema::MAKE_SCHEMA {
                run(&inbox, statement).await;
            }
        }
        let missing = inbox.verify().await.unwrap_err();
        assert!(
            matches!(&missing, Error::Schema(error) if error.problems() == [SchemaProblem::TableMissing]),
            "{missing:?}"
        );
        let missing = inbox.begin(CONSUMER, "m1").await.map(drop).unwrap_err();
        assert!(
            matches!(&missing, Error::Schema(error) if error.problems() == [SchemaProblem::TableMissing]
                && error.to_string().contains(name)),
            "{missing:?}"
        );

        inbox.install().await.unwrap();
        inbox.install().await.unwrap();
        inbox.verify().await.unwrap();
        for outcome in [Outcome::Processed(()), Outcome::Duplicate] {
            let delivered = super::bench::deliver(&inbox, CONSUMER, name, async |_| Ok(())).await;
            assert_eq!(delivered.unwrap(), outcome, "{name}");
        }
        let table = TableName::new(name).unwrap();
        assert_eq!(inbox.table(), &table);
        let status = inbox.status(CONSUMER, name).await.unwrap();
        assert!(status.is_some(), "{name}");
    }
    // Nobody took the others' messages for its own.
    assert_eq!(bench.number("select count(*) from inbox", &[]).await, 0);
    assert_eq!(bench.number("select count(*) from ledger", &[]).await, 3);
    bench.expect_sane_pool().await;
}

/// A prefix of a schema must not be lost half-way: the broken table is the qualified one.
#[tokio::test]
async fn verify_looks_at_the_table_of_its_own_schema() {
    let bench = Bench::new().await;
    let name = dialect::schema::qualified_table(&bench.database);
    for statement in dialect::schema::MAKE_SCHEMA {
        run(&bench.inbox, statement).await;
    }
    let inbox = Inbox::<Db>::builder()
        .table(&name)
        .build(bench.inbox.pool().clone())
        .unwrap();
    inbox.install().await.unwrap();
    run(&inbox, &BREAK.replace("{inbox}", &name)).await;
    let error = inbox.verify().await.unwrap_err();
    let Error::Schema(error) = error else {
        panic!("{error:?}");
    };
    assert_eq!(
        error.problems(),
        [SchemaProblem::ColumnMissing {
            column: "last_error".into()
        }]
    );
    assert_eq!(error.table().to_string(), name);
}

/// It is not ours to make, and "run install" would be no help to somebody who just did.
#[tokio::test]
async fn a_schema_that_does_not_exist_is_named() {
    let bench = Bench::new().await;
    let inbox = Inbox::<Db>::builder()
        .table("nowhere.inbox")
        .build(bench.observer.clone())
        .unwrap();
    let error = inbox.install().await.unwrap_err();
    let Error::Schema(schema) = &error else {
        panic!("{error:?}");
    };
    assert_eq!(schema.problems(), [SchemaProblem::SchemaMissing]);
    let text = schema.to_string();
    assert!(
        text.contains("nowhere.inbox") && text.contains("create it first"),
        "{text}"
    );
    for error in [
        inbox.verify().await.unwrap_err(),
        inbox.begin(CONSUMER, "m1").await.map(drop).unwrap_err(),
    ] {
        assert!(matches!(&error, Error::Schema(_)), "{error:?}");
    }
}

#[tokio::test]
async fn names_of_tables_are_checked_before_anything_is_connected() {
    for name in [
        "",
        "Inbox",
        "inbox; drop",
        "a.b.c",
        "ünbox",
        "1inbox",
        &"x".repeat(41),
    ] {
        let error = Inbox::<Db>::builder()
            .table(name)
            .build(dialect::unreachable_pool())
            .map(drop)
            .unwrap_err();
        assert!(
            matches!(error, Error::Config(inbox_sqlx::ConfigError::Table(_))),
            "{name:?}: {error:?}"
        );
    }
}

async fn reinstall(bench: &Bench) {
    break_it(bench, dialect::schema::REMOVE).await;
    bench.inbox.install().await.unwrap();
}

/// On a connection of a superuser's own: one that has seen the table before may complain by what it remembers.
async fn break_it(bench: &Bench, statements: &[&'static str]) {
    let mut connection = Conn::connect(bench.database.admin_url()).await.unwrap();
    for statement in statements {
        // `!` must fail: a failed `create index concurrently` leaves an invalid index. `?` may fail.
        let may_fail = statement.starts_with('?');
        let fails = statement.starts_with('!');
        let statement = statement.trim_start_matches(['!', '?']);
        let done = raw_sql(AssertSqlSafe(statement.to_owned()))
            .execute(&mut connection)
            .await;
        assert!(may_fail || done.is_err() == fails, "{statement}: {done:?}");
    }
    connection.close().await.unwrap();
}

async fn run(inbox: &Inbox<Db>, statement: &str) {
    raw_sql(AssertSqlSafe(statement.to_owned()))
        .execute(inbox.pool())
        .await
        .unwrap();
}
