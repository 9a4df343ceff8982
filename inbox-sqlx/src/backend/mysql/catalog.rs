//! Reads the information schema and says what about the inbox table would lose or double messages.

use inbox_core::TableName;
use sqlx::{Row as _, mysql::MySqlConnection};

use crate::schema::{
    FoundColumn, FoundIndex, IndexFault, SchemaProblem, check_columns, check_index,
};

/// An unqualified name means the connection's own database. Every text is cast, because servers
/// differ in the types of their information schema.
pub(super) async fn verify(
    conn: &mut MySqlConnection,
    table: &TableName,
) -> sqlx::Result<Vec<SchemaProblem>> {
    let row = sqlx::query(
        "select cast(table_type as char), cast(coalesce(engine, '') as char) \
         from information_schema.tables \
         where table_schema = coalesce(?, database()) and table_name = ?",
    )
    .bind(table.schema())
    .bind(table.table())
    .persistent(false)
    .fetch_optional(&mut *conn)
    .await?;
    let Some(row) = row else {
        return Ok(vec![SchemaProblem::TableMissing]);
    };
    let kind: String = row.try_get(0)?;
    let engine: String = row.try_get(1)?;
    if kind != "BASE TABLE" {
        return Ok(vec![SchemaProblem::NotATable {
            found: format!("a {}", kind.to_lowercase()),
        }]);
    }

    let mut problems = Vec::new();
    if !engine.eq_ignore_ascii_case("innodb") {
        problems.push(SchemaProblem::NotTransactional { engine });
    }
    check_columns(
        &columns(conn, table).await?,
        bytes_keep_keys_apart,
        &mut problems,
    );
    check_index(&indexes(conn, table).await?, table, &mut problems);
    for name in triggers(conn, table).await? {
        problems.push(SchemaProblem::Trigger { name });
    }
    if let Some(found) = refusing_binlog(conn).await? {
        problems.push(SchemaProblem::BinlogFormat { found });
    }
    Ok(problems)
}

/// Only VARBINARY compares exactly under every server setting: `_ci` collations fold case, accents and
/// emoji, `_bin` ones ignore trailing spaces, BINARY ignores trailing zeros.
fn bytes_keep_keys_apart(column: &FoundColumn, bytes: u64) -> Result<(), String> {
    let limit = column
        .type_name
        .strip_prefix("varbinary(")
        .and_then(|rest| rest.strip_suffix(')'))
        .and_then(|limit| limit.parse::<u64>().ok());
    match limit {
        Some(limit) if limit >= bytes => Ok(()),
        Some(limit) => Err(format!("holds {limit} bytes, not {bytes}")),
        None => Err(match &column.collation {
            Some(collation) => format!("is {} with the collation {collation}", column.type_name),
            None => format!("is {}, not varbinary", column.type_name),
        }),
    }
}

async fn columns(conn: &mut MySqlConnection, table: &TableName) -> sqlx::Result<Vec<FoundColumn>> {
    let rows = sqlx::query(
        "select cast(column_name as char), cast(column_type as char), is_nullable = 'NO', \
                cast(collation_name as char) \
         from information_schema.columns \
         where table_schema = coalesce(?, database()) and table_name = ?",
    )
    .bind(table.schema())
    .bind(table.table())
    .persistent(false)
    .fetch_all(conn)
    .await?;
    rows.iter()
        .map(|row| {
            let collation: Option<String> = row.try_get(3)?;
            Ok(FoundColumn {
                name: row.try_get(0)?,
                type_name: row.try_get::<String, _>(1)?.to_lowercase(),
                not_null: row.try_get(2)?,
                exact: collation.is_none(),
                collation,
            })
        })
        .collect()
}

async fn indexes(conn: &mut MySqlConnection, table: &TableName) -> sqlx::Result<Vec<FoundIndex>> {
    let rows = sqlx::query(
        "select cast(index_name as char), non_unique = 0, cast(coalesce(column_name, '(expression)') as char), \
                sub_part is not null \
         from information_schema.statistics \
         where table_schema = coalesce(?, database()) and table_name = ? \
         order by index_name, seq_in_index",
    )
    .bind(table.schema())
    .bind(table.table())
    .persistent(false)
    .fetch_all(conn)
    .await?;
    let mut found: Vec<FoundIndex> = Vec::new();
    for row in rows {
        let name: String = row.try_get(0)?;
        if found.last().is_none_or(|index| index.name != name) {
            found.push(FoundIndex {
                name,
                unique: row.try_get(1)?,
                faults: Vec::new(),
                columns: Vec::new(),
            });
        }
        if let Some(index) = found.last_mut() {
            index.columns.push(row.try_get(2)?);
            if row.try_get(3)? {
                index.faults.push(IndexFault::Prefix);
            }
        }
    }
    Ok(found)
}

async fn triggers(conn: &mut MySqlConnection, table: &TableName) -> sqlx::Result<Vec<String>> {
    sqlx::query_scalar(
        "select cast(trigger_name as char) from information_schema.triggers \
         where event_object_schema = coalesce(?, database()) and event_object_table = ? \
         order by trigger_name",
    )
    .bind(table.schema())
    .bind(table.table())
    .persistent(false)
    .fetch_all(conn)
    .await
}

/// With the binary log on in STATEMENT format InnoDB refuses writes at READ COMMITTED (error 1665).
/// <https://mariadb.com/kb/en/set-transaction/#read-committed>
async fn refusing_binlog(conn: &mut MySqlConnection) -> sqlx::Result<Option<String>> {
    let row = sqlx::query("select cast(@@log_bin as signed), cast(@@binlog_format as char)")
        .persistent(false)
        .fetch_one(conn)
        .await?;
    let logging: i64 = row.try_get(0)?;
    let format: String = row.try_get(1)?;
    Ok((logging != 0 && format.eq_ignore_ascii_case("statement")).then_some(format))
}
