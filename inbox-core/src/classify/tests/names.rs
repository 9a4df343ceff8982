//! Which names an index of the user's own tables goes by, on the three databases.

use super::{index, mysql, sqlite, unique};

#[test]
fn one_name_serves_all_three_databases() {
    for violation in [
        unique("public", "orders", "orders_number_key"),
        mysql(1062, "Duplicate entry '4711' for key 'orders_number_key'"),
        mysql(
            1062,
            "Duplicate entry '4711' for key 'orders.orders_number_key'",
        ),
        sqlite(2067, "UNIQUE constraint failed: orders.number"),
    ] {
        let index = index(violation);
        assert!(index.is_named("orders_number_key"), "{index:?}");
        for other in [
            "",
            "orders",
            "number",
            "orders_number",
            "orders_number_key2",
            "ORDERS_NUMBER_KEY",
            "orders_pkey",
        ] {
            assert!(!index.is_named(other), "{index:?} {other}");
        }
    }
}

#[test]
fn postgresql_compares_the_name_as_it_was_cut() {
    let long = "an_index_name_that_is_longer_than_postgresql_keeps_it_sixty_three_bytes";
    let index = index(unique("public", "orders", &long[..63]));
    assert!(index.is_named(long));
    assert!(index.is_named(&long[..63]));
    assert!(!index.is_named(&long[..62]));
}

#[test]
fn mysql_names_go_with_or_without_the_table() {
    let qualified = index(mysql(
        1062,
        "Duplicate entry 'x' for key 'orders.uq_number'",
    ));
    assert!(qualified.is_named("uq_number"));
    assert!(qualified.is_named("orders.uq_number"));
    assert!(!qualified.is_named("number"));
    assert_eq!(
        (qualified.table(), qualified.name()),
        (Some("orders"), Some("uq_number"))
    );

    let bare = index(mysql(1062, "Duplicate entry 'x' for key 'uq_number'"));
    assert!(bare.is_named("uq_number"));
    assert!(!bare.is_named("orders.uq_number"));
    assert_eq!((bare.table(), bare.name()), (None, Some("uq_number")));

    let primary = index(mysql(1062, "Duplicate entry '1' for key 'orders.PRIMARY'"));
    assert!(primary.is_named("PRIMARY"));
}

#[test]
fn a_value_cannot_choose_the_name() {
    let index = index(mysql(
        1062,
        "Duplicate entry 'x' for key 'orders_number_key' for key 'orders_email_key'",
    ));
    assert!(index.is_named("orders_email_key"));
    assert!(!index.is_named("orders_number_key"));
}

#[test]
fn sqlite_goes_by_columns_or_by_the_generated_name() {
    let index = index(sqlite(
        2067,
        "UNIQUE constraint failed: orders.shop, orders.number",
    ));
    for name in [
        "orders.shop, orders.number",
        "orders_shop_number_key",
        "orders_shop_number_idx",
    ] {
        assert!(index.is_named(name), "{name}");
    }
    for name in [
        "orders.number, orders.shop",
        "orders.shop,orders.number",
        "orders_number_key",
        "orders_pkey",
        "uq_orders",
    ] {
        assert!(!index.is_named(name), "{name}");
    }
    assert_eq!(index.name(), None);
    assert_eq!(index.table(), Some("orders"));
    assert_eq!(index.columns(), ["shop", "number"]);
}

#[test]
fn sqlite_knows_a_primary_key_by_its_code() {
    let primary = index(sqlite(1555, "UNIQUE constraint failed: orders.id"));
    assert!(primary.is_named("orders_pkey"));
    assert!(primary.is_named("orders.id"));
    let unique = index(sqlite(2067, "UNIQUE constraint failed: orders.id"));
    assert!(!unique.is_named("orders_pkey"));
}

#[test]
fn sqlite_names_an_index_with_an_expression() {
    let index = index(sqlite(
        2067,
        "UNIQUE constraint failed: index 'orders_lower_email'",
    ));
    assert!(index.is_named("orders_lower_email"));
    assert!(!index.is_named("index 'orders_lower_email'"));
    assert_eq!(index.name(), Some("orders_lower_email"));
    assert_eq!((index.table(), index.columns().len()), (None, 0));
}

/// SQLite does not quote names, so what looks ambiguous is compared as a whole and not taken apart.
#[test]
fn sqlite_lists_that_are_ambiguous() {
    let index = index(sqlite(2067, "UNIQUE constraint failed: we.ird, t.a, b"));
    assert!(index.is_named("we.ird, t.a, b"));
    assert!(!index.is_named("we_ird_key"));
    assert_eq!((index.table(), index.columns().len()), (None, 0));
}

#[test]
fn sqlite_shortens_a_long_name_as_postgresql_does() {
    let index = index(sqlite(
        2067,
        "UNIQUE constraint failed: a_very_long_table_name_that_goes_on_and_on.a_very_long_column_name_that_goes_on",
    ));
    assert!(index.is_named("a_very_long_table_name_that_g_a_very_long_column_name_that__key"));
}

#[test]
fn postgresql_tells_schema_and_table() {
    let index = index(unique("sales", "orders", "orders_number_key"));
    assert_eq!(index.schema(), Some("sales"));
    assert_eq!(index.table(), Some("orders"));
    assert_eq!(index.name(), Some("orders_number_key"));
}
