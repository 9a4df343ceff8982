//! Reads SQLite's catalog and says what about the inbox table would lose or double messages.

use inbox_core::TableName;
use sqlx::{Row as _, sqlite::SqliteConnection};

use crate::schema::{
    FoundColumn, FoundIndex, IndexFault, SchemaProblem, check_columns, check_index,
};

/// The table-valued pragmas take the schema as their second argument; `main` when none is named.
/// <https://www.sqlite.org/pragma.html#pragfunc>
pub(super) async fn verify(
    conn: &mut SqliteConnection,
    table: &TableName,
) -> sqlx::Result<Vec<SchemaProblem>> {
    let schema = table.schema().unwrap_or("main");
    let name = table.table();
    let kind: Option<String> =
        sqlx::query_scalar("select type from pragma_table_list where schema = ?1 and name = ?2")
            .bind(schema)
            .bind(name)
            .persistent(false)
            .fetch_optional(&mut *conn)
            .await?;
    match kind.as_deref() {
        None => return Ok(vec![SchemaProblem::TableMissing]),
        Some("table") => {}
        Some("view") => {
            return Ok(vec![SchemaProblem::NotATable {
                found: "a view".into(),
            }]);
        }
        // virtual, or the shadow of a virtual one
        Some(other) => {
            return Ok(vec![SchemaProblem::NotATable {
                found: format!("a {other} table"),
            }]);
        }
    }

    let mut problems = Vec::new();
    check_columns(
        &columns(conn, schema, name).await?,
        text_keeps_keys_apart,
        &mut problems,
    );
    check_index(&indexes(conn, schema, name).await?, table, &mut problems);
    for name in triggers(conn, table).await? {
        problems.push(SchemaProblem::Trigger { name });
    }
    Ok(problems)
}

/// Only TEXT affinity keeps `'1'`, `'01'` and `'1.0'` apart; NOCASE and RTRIM are found at the index.
/// <https://www.sqlite.org/datatype3.html#determination_of_column_affinity>
fn text_keeps_keys_apart(column: &FoundColumn, _bytes: u64) -> Result<(), String> {
    let declared = column.type_name.to_uppercase();
    let text = ["CHAR", "CLOB", "TEXT"]
        .iter()
        .any(|kind| declared.contains(kind));
    if text && !declared.contains("INT") {
        Ok(())
    } else {
        Err(format!("is declared {:?}, not text", column.type_name))
    }
}

async fn columns(
    conn: &mut SqliteConnection,
    schema: &str,
    table: &str,
) -> sqlx::Result<Vec<FoundColumn>> {
    let rows = sqlx::query("select name, type, \"notnull\" from pragma_table_xinfo(?1, ?2)")
        .bind(table)
        .bind(schema)
        .persistent(false)
        .fetch_all(conn)
        .await?;
    rows.iter()
        .map(|row| {
            Ok(FoundColumn {
                name: row.try_get(0)?,
                type_name: row.try_get(1)?,
                not_null: row.try_get(2)?,
                collation: None,
                exact: true,
            })
        })
        .collect()
}

async fn indexes(
    conn: &mut SqliteConnection,
    schema: &str,
    table: &str,
) -> sqlx::Result<Vec<FoundIndex>> {
    let rows = sqlx::query(
        "select name, \"unique\", partial from pragma_index_list(?1, ?2) order by name",
    )
    .bind(table)
    .bind(schema)
    .persistent(false)
    .fetch_all(&mut *conn)
    .await?;
    let mut found = Vec::new();
    for row in rows {
        let name: String = row.try_get(0)?;
        let keys = sqlx::query(
            "select coalesce(name, '(expression)'), coll from pragma_index_xinfo(?1, ?2) \
             where key order by seqno",
        )
        .bind(&name)
        .bind(schema)
        .persistent(false)
        .fetch_all(&mut *conn)
        .await?;
        let mut faults = Vec::new();
        if row.try_get::<bool, _>(2)? {
            faults.push(IndexFault::Partial);
        }
        let mut columns = Vec::new();
        for key in keys {
            let collation: String = key.try_get(1)?;
            columns.push(key.try_get(0)?);
            if !collation.eq_ignore_ascii_case("binary") {
                faults.push(IndexFault::Collation { found: collation });
            }
        }
        found.push(FoundIndex {
            name,
            unique: row.try_get(1)?,
            faults,
            columns,
        });
    }
    Ok(found)
}

async fn triggers(conn: &mut SqliteConnection, table: &TableName) -> sqlx::Result<Vec<String>> {
    // Temporary triggers of this connection live in their own catalog.
    let catalog = match table.schema() {
        None | Some("main") => {
            "select name from sqlite_master where type = 'trigger' and tbl_name = ?1 \
             union all select name from sqlite_temp_master where type = 'trigger' and tbl_name = ?1"
        }
        // An attached database's catalog cannot be named by a bound value; its triggers still fire,
        // and a claim they swallow is reported when it happens.
        Some(_) => "select name from sqlite_temp_master where type = 'trigger' and tbl_name = ?1",
    };
    sqlx::query_scalar(catalog)
        .bind(table.table())
        .persistent(false)
        .fetch_all(conn)
        .await
}
