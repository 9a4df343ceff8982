//! Reads PostgreSQL's catalog and says what about the inbox table would lose or double messages.

use inbox_core::TableName;
use sqlx::{Row as _, postgres::PgConnection};

use crate::schema::{
    FoundColumn, FoundIndex, IndexFault, SchemaProblem, check_columns, check_index,
};

/// Everything is found through `to_regclass`, so an unqualified name means what the claims will see.
pub(super) async fn verify(
    conn: &mut PgConnection,
    table: &TableName,
) -> sqlx::Result<Vec<SchemaProblem>> {
    let name = super::Names::new(table, '"').inbox();
    let row = sqlx::query(
        "select c.oid::bigint, c.relkind::text, c.relpersistence::text \
         from pg_class c where c.oid = to_regclass($1)",
    )
    .bind(&name)
    .persistent(false)
    .fetch_optional(&mut *conn)
    .await?;
    let Some(row) = row else {
        return Ok(vec![SchemaProblem::TableMissing]);
    };
    let oid: i64 = row.try_get(0)?;
    let kind: String = row.try_get(1)?;
    let persistence: String = row.try_get(2)?;
    // A table, plain or partitioned; a view or a foreign table does not hold what it accepts.
    if !matches!(kind.as_str(), "r" | "p") {
        return Ok(vec![SchemaProblem::NotATable {
            found: relation(&kind),
        }]);
    }

    let mut problems = Vec::new();
    if persistence != "p" {
        let found = if persistence == "u" {
            "unlogged"
        } else {
            "temporary"
        };
        problems.push(SchemaProblem::NotDurable {
            found: found.into(),
        });
    }
    check_columns(
        &columns(conn, oid).await?,
        text_keeps_keys_apart,
        &mut problems,
    );
    check_index(&indexes(conn, oid).await?, table, &mut problems);
    for (name, kind) in interceptors(conn, oid).await? {
        problems.push(match kind.as_str() {
            "trigger" => SchemaProblem::Trigger { name },
            _ => SchemaProblem::Rule { name },
        });
    }
    Ok(problems)
}

/// <https://www.postgresql.org/docs/current/catalog-pg-class.html>
fn relation(kind: &str) -> String {
    match kind {
        "v" => "a view".into(),
        "m" => "a materialized view".into(),
        "f" => "a foreign table".into(),
        "S" => "a sequence".into(),
        "i" | "I" => "an index".into(),
        "c" => "a composite type".into(),
        other => format!("a relation of kind {other}"),
    }
}

/// Deterministic collations compare byte for byte; `character(n)` ignores trailing blanks, `citext`
/// ignores case. <https://www.postgresql.org/docs/current/collation.html#COLLATION-NONDETERMINISTIC>
fn text_keeps_keys_apart(column: &FoundColumn, bytes: u64) -> Result<(), String> {
    let wide = match column.type_name.as_str() {
        "text" => true,
        other => other
            .strip_prefix("character varying")
            .is_some_and(|rest| rest.is_empty() || limit(rest).is_some_and(|limit| limit >= bytes)),
    };
    if !wide {
        return Err(format!("is {}, not text", column.type_name));
    }
    match &column.collation {
        Some(collation) if !column.exact => {
            Err(format!("has the non-deterministic collation {collation}"))
        }
        _ => Ok(()),
    }
}

fn limit(parenthesized: &str) -> Option<u64> {
    parenthesized
        .strip_prefix('(')?
        .strip_suffix(')')?
        .parse()
        .ok()
}

async fn columns(conn: &mut PgConnection, oid: i64) -> sqlx::Result<Vec<FoundColumn>> {
    let rows = sqlx::query(
        "select a.attname::text, format_type(a.atttypid, a.atttypmod), a.attnotnull, \
                l.collname::text, coalesce(l.collisdeterministic, true) \
         from pg_attribute a left join pg_collation l on l.oid = a.attcollation \
         where a.attrelid = $1::bigint::oid and a.attnum > 0 and not a.attisdropped",
    )
    .bind(oid)
    .persistent(false)
    .fetch_all(conn)
    .await?;
    rows.iter()
        .map(|row| {
            Ok(FoundColumn {
                name: row.try_get(0)?,
                type_name: row.try_get(1)?,
                not_null: row.try_get(2)?,
                collation: row.try_get(3)?,
                exact: row.try_get(4)?,
            })
        })
        .collect()
}

async fn indexes(conn: &mut PgConnection, oid: i64) -> sqlx::Result<Vec<FoundIndex>> {
    let rows = sqlx::query(
        "select c.relname::text, i.indisunique, i.indisvalid, i.indimmediate, \
                i.indpred is not null, \
                array(select coalesce(a.attname::text, '(expression)') \
                      from unnest(i.indkey::int2[]) with ordinality k(attnum, place) \
                      left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum \
                      where k.place <= i.indnkeyatts order by k.place), \
                array(select l.collname::text \
                      from unnest(i.indcollation::oid[]) with ordinality k(collation_oid, place) \
                      join pg_collation l on l.oid = k.collation_oid and not l.collisdeterministic \
                      order by k.place) \
         from pg_index i join pg_class c on c.oid = i.indexrelid \
         where i.indrelid = $1::bigint::oid",
    )
    .bind(oid)
    .persistent(false)
    .fetch_all(conn)
    .await?;
    rows.iter()
        .map(|row| {
            let mut faults = Vec::new();
            if !row.try_get::<bool, _>(2)? {
                faults.push(IndexFault::Invalid);
            }
            if !row.try_get::<bool, _>(3)? {
                faults.push(IndexFault::Deferrable);
            }
            if row.try_get::<bool, _>(4)? {
                faults.push(IndexFault::Partial);
            }
            // An index can have another collation than its column, and the claim does not ask for one.
            for found in row.try_get::<Vec<String>, _>(6)? {
                faults.push(IndexFault::Collation { found });
            }
            Ok(FoundIndex {
                name: row.try_get(0)?,
                unique: row.try_get(1)?,
                faults,
                columns: row.try_get(5)?,
            })
        })
        .collect()
}

/// Triggers and rules can swallow or rewrite an insert.
async fn interceptors(conn: &mut PgConnection, oid: i64) -> sqlx::Result<Vec<(String, String)>> {
    let rows = sqlx::query(
        "select tgname::text, 'trigger' from pg_trigger \
         where tgrelid = $1::bigint::oid and not tgisinternal and tgenabled <> 'D' \
         union all \
         select rulename::text, 'rule' from pg_rewrite where ev_class = $1::bigint::oid \
         order by 1",
    )
    .bind(oid)
    .persistent(false)
    .fetch_all(conn)
    .await?;
    rows.iter()
        .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
        .collect()
}
