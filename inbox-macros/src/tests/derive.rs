//! `#[derive(MessageKey)]`.

use expect_test::{Expect, expect, expect_file};

use super::{pretty, reported, tokens};

fn expand(item: &str) -> String {
    pretty(&crate::derive::message_key(tokens(item)))
}

fn misuse(item: &str, expected: &Expect) {
    let expansion = crate::derive::message_key(tokens(item));
    expected.assert_eq(&reported(expansion.clone()).join("\n"));
    assert!(
        pretty(&expansion).contains("MessageKey for"),
        "one mistake shall not become many"
    );
}

#[test]
fn newtypes() {
    let expansions = [
        "struct OrderId(Uuid);",
        "pub struct Id<'a> { pub id: &'a str }",
        "struct Id<T>(T) where T: Clone;",
        "struct Typed<T: ?Sized> { of: PhantomData<fn() -> T>, r#type: u64 }",
        "#[message_key(crate = crate::inbox)] struct Renamed<const N: usize>(Text<N>);",
    ]
    .map(expand);
    expect_file!["../../snapshots/derive.rs"].assert_eq(&expansions.join("\n"));
}

#[test]
fn what_is_no_newtype() {
    misuse(
        "enum Id { A(u64) }",
        &expect![[r#"
        an enum is not a message key
        = help: a newtype holds one value: `struct OrderId(Uuid);`"#]],
    );
    misuse(
        "union Id { a: u64 }",
        &expect![[r#"
        a union is not a message key
        = help: a newtype holds one value: `struct OrderId(Uuid);`"#]],
    );
    misuse(
        "struct Id;",
        &expect![[r#"
        `Id` holds nothing, so that all messages would have the same key
        = help: a newtype holds one value: `struct OrderId(Uuid);`"#]],
    );
    misuse(
        "struct Id<T>(PhantomData<T>);",
        &expect![[r#"
        `Id` holds nothing, so that all messages would have the same key
        = help: a newtype holds one value: `struct OrderId(Uuid);`"#]],
    );
    misuse(
        "struct Id { source: String, r#type: u64 }",
        &expect![[r#"
        `Id` has more than one field, and no order of them is safe to guess
        = help: make the key a tuple where it is used: `key = (id.source, id.type)`"#]],
    );
    misuse(
        "struct Id(u64, u64);",
        &expect![[r#"
        `Id` has more than one field, and no order of them is safe to guess
        = help: make the key a tuple where it is used: `key = (id.0, id.1)`"#]],
    );
}

#[test]
fn arguments() {
    misuse(
        "#[message_key(krate = x)] struct Id(u64);",
        &expect![[r#"
        unknown argument
        = help: the one argument is `crate`: `#[message_key(crate = my_crate::inbox_sqlx)]`"#]],
    );
    misuse(
        "#[message_key(crate = \"x\")] struct Id(u64);",
        &expect![[r#"
            the path is written without quotes
            = help: `crate = x`"#]],
    );
    misuse(
        "#[message_key(crate = x, crate = y)] struct Id(u64);",
        &expect![[r#"
            `crate` is given twice
            = help: keep the one you mean"#]],
    );
    misuse(
        "struct Id(#[message_key(crate = x)] u64);",
        &expect![[r#"
        `#[message_key]` belongs on the struct
        = help: the one argument is `crate`: `#[message_key(crate = my_crate::inbox_sqlx)]`"#]],
    );
}
