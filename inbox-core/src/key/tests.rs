//! Tests of keys: what is refused, what the text is for ever, and that different tuples never meet.

use std::borrow::Cow;
use std::num::NonZero;
use std::rc::Rc;
use std::sync::Arc;

use super::{Key, KeyEncoder, KeyError, MAX_KEY_BYTES, MessageKey};

mod injective;

#[track_caller]
fn text(value: &(impl MessageKey + ?Sized)) -> String {
    Key::new(value).expect("a valid key").as_str().to_owned()
}

#[track_caller]
fn refused(value: &(impl MessageKey + ?Sized)) -> KeyError {
    Key::new(value).expect_err("an invalid key")
}

/// These texts stand in databases. **Do not change an expectation here, ever**: messages that were processed under the
/// old text would be processed again. A new kind of key may add a line.
#[test]
fn the_canonical_texts_are_stable_for_ever() {
    for (canonical, key) in [
        ("m-1", text("m-1")),
        (" m-1 ", text(" m-1 ")),
        ("été", text("été")),
        (r"a,b(c)\d", text(r"a,b(c)\d")),
        ("line\nbreak", text("line\nbreak")),
        ("0", text(&0_u8)),
        ("-128", text(&i8::MIN)),
        ("-9223372036854775808", text(&i64::MIN)),
        ("18446744073709551615", text(&u64::MAX)),
        ("-170141183460469231731687303715884105728", text(&i128::MIN)),
        ("340282366920938463463374607431768211455", text(&u128::MAX)),
        ("(a,b)", text(&("a", "b"))),
        ("(orders,0,42)", text(&("orders", 0_i32, 42_i64))),
        ("(a,1,b,-2)", text(&("a", 1, "b", -2))),
        (r"(a\,b,\(c\),d\\)", text(&("a,b", "(c)", r"d\"))),
        ("((a,b),c)", text(&(("a", "b"), "c"))),
        ("(a,(b,c))", text(&("a", ("b", "c")))),
        (r"(\(a\,b\),c)", text(&("(a,b)", "c"))),
        ("( a,b )", text(&(" a", "b "))),
        (
            "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
            text(&Key::digest("hello")),
        ),
        (
            "(s,2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824)",
            text(&("s", Key::digest(b"hello"))),
        ),
    ] {
        assert_eq!(key, canonical);
    }
}

#[cfg(feature = "uuid")]
#[test]
fn a_uuid_is_hyphenated_in_lower_case_for_ever() {
    let id = uuid::Uuid::from_u128(0x0123_4567_89AB_CDEF_0123_4567_89AB_CDEF);
    let canonical = "01234567-89ab-cdef-0123-456789abcdef";
    assert_eq!(text(&id), canonical);
    assert_eq!(
        text(&uuid::NonNilUuid::new(id).expect("not nil")),
        canonical
    );
    assert_eq!(text(&("s", id)), format!("(s,{canonical})"));
}

#[cfg(feature = "uuid")]
#[test]
fn the_nil_uuid_is_the_absence_of_an_id() {
    assert_eq!(refused(&uuid::Uuid::nil()), KeyError::NilUuid);
    assert_eq!(refused(&("s", uuid::Uuid::default())), KeyError::NilUuid);
}

#[test]
fn references_and_pointers_have_the_key_of_what_they_point_to() {
    let owned = "m-1".to_owned();
    let expected = Key::new("m-1");
    assert_eq!(Key::new(&owned), expected);
    assert_eq!(Key::new(&&&owned), expected);
    assert_eq!(Key::new(&&mut owned.clone()), expected);
    assert_eq!(Key::new(&Box::<str>::from("m-1")), expected);
    assert_eq!(Key::new(&Box::new(owned.clone())), expected);
    assert_eq!(Key::new(&Rc::<str>::from("m-1")), expected);
    assert_eq!(Key::new(&Arc::<str>::from("m-1")), expected);
    assert_eq!(Key::new(&Cow::Borrowed("m-1")), expected);
    assert_eq!(Key::new(&Cow::<str>::Owned(owned)), expected);
    assert_eq!(Key::new(&Box::new(7)), Key::new(&7));
    assert_eq!(Key::new(&Arc::new(("a", 7))), Key::new(&("a", 7)));
    let erased: &dyn MessageKey = &7;
    assert_eq!(Key::new(erased), Key::new(&7));
}

#[test]
fn a_key_is_the_key_of_itself() {
    let tuple = Key::new(&("a,b", "c")).expect("a valid key");
    assert_eq!(Key::new(&tuple), Ok(tuple.clone()));
    // Inside of a tuple it is one part like any other text.
    assert_eq!(text(&(tuple, "d")), r"(\(a\\\,b\,c\),d)");
}

#[test]
fn a_number_and_its_decimal_text_are_the_same_key() {
    assert_eq!(Key::new(&42_u8), Key::new(&42_i64));
    assert_eq!(Key::new(&42_u8), Key::new("42"));
    assert_eq!(
        Key::new(&NonZero::new(42_u64).expect("not zero")),
        Key::new("42")
    );
    assert_eq!(Key::new(&("a", 42)), Key::new(&("a", "42")));
}

#[test]
fn different_ids_are_different_keys() {
    for (one, other) in [
        ("abc", "ABC"),
        ("abc", "abc "),
        ("1", "01"),
        ("\u{e9}", "e\u{301}"),
        ("\u{e9}", "e"),
        ("😀", "😁"),
    ] {
        assert_ne!(Key::new(one), Key::new(other));
    }
}

/// Joining the parts, with or without a delimiter, merges these pairs.
#[test]
fn tuples_are_not_concatenations() {
    assert_ne!(Key::new(&("doc-7", "12")), Key::new(&("doc-71", "2")));
    assert_ne!(Key::new(&("a:b", "c")), Key::new(&("a", "b:c")));
    assert_ne!(Key::new(&("a,b", "c")), Key::new(&("a", "b,c")));
    assert_ne!(Key::new(&("a,b", "c")), Key::new(&("a", "b", "c")));
    assert_ne!(Key::new(&(1, 23)), Key::new(&(12, 3)));
    assert_ne!(Key::new(&(("a", "b"), "c")), Key::new(&("a:b", "c")));
    assert_ne!(Key::new(&(("a", "b"), "c")), Key::new(&("(a,b)", "c")));
    assert_ne!(Key::new(&(("a", "b"), "c")), Key::new(&("a", ("b", "c"))));
    assert_ne!(Key::new(&(r"a\", "b")), Key::new(&("a", r"\b")));
    assert_ne!(Key::new(&(r"a\,b", "c")), Key::new(&(r"a\", "b,c")));
}

#[test]
fn nothing_is_never_a_shared_key() {
    for blank in ["", " ", "\t\r\n", "\u{a0}\u{2003}\u{3000}"] {
        assert_eq!(refused(blank), KeyError::Empty);
        assert_eq!(refused(&Key::digest(blank)), KeyError::Empty);
        assert_eq!(refused(&(blank, "b")), KeyError::EmptyPart { position: 1 });
        assert_eq!(refused(&("a", blank)), KeyError::EmptyPart { position: 2 });
        assert_eq!(
            refused(&("a", 1, Key::digest(blank))),
            KeyError::EmptyPart { position: 3 }
        );
        assert_eq!(
            refused(&(("a", "b"), (blank, "d"))),
            KeyError::EmptyPart { position: 3 }
        );
    }
    assert_eq!(refused(&("", "")), KeyError::EmptyPart { position: 1 });
}

#[test]
fn a_digest_takes_any_bytes() {
    assert_eq!(text(&Key::digest([0_u8])).len(), 64);
    assert_eq!(text(&Key::digest([0xff_u8, 0x20])).len(), 64);
    assert_ne!(Key::new(&Key::digest("a")), Key::new(&Key::digest("a ")));
}

#[test]
fn the_limit_is_255_bytes_of_the_canonical_text() {
    let too_long = |length| KeyError::TooLong { length, limit: 255 };
    assert_eq!(text(&"x".repeat(MAX_KEY_BYTES)).len(), 255);
    assert_eq!(refused(&"x".repeat(256)), too_long(256));
    assert_eq!(text(&"é".repeat(127)).len(), 254);
    assert_eq!(refused(&"é".repeat(128)), too_long(256));

    assert_eq!(text(&("a", "x".repeat(251))).len(), 255);
    assert_eq!(refused(&("a", "x".repeat(252))), too_long(256));
    // Escaping counts.
    assert_eq!(refused(&("a", ",".repeat(126))), too_long(256));

    assert_eq!(
        refused(&"x".repeat(300)).to_string(),
        "the message key has 300 bytes, the limit is 255; use `Key::digest(..)` for long ids"
    );
}

#[test]
fn a_nul_is_refused_wherever_it_stands() {
    assert_eq!(refused("a\0"), KeyError::Nul { offset: 1 });
    assert_eq!(refused("\0"), KeyError::Nul { offset: 0 });
    assert_eq!(refused(&("a", ",\0")), KeyError::Nul { offset: 5 });
    assert_eq!(
        refused(&format!("{}\0", "x".repeat(1000))),
        KeyError::Nul { offset: 1000 }
    );
}

#[test]
fn debug_shows_the_digest_only() {
    let key = Key::new("hello").expect("a valid key");
    assert_eq!(key.short_digest(), "k:2cf24dba");
    assert_eq!(format!("{key:?}"), "Key(k:2cf24dba)");
    let pretty = format!("{key:#?}");
    assert!(!pretty.contains("hello"), "{pretty}");
}

/// Implementations by hand that make mistakes.
struct ByHand(fn(&mut KeyEncoder));

impl MessageKey for ByHand {
    fn encode(&self, encoder: &mut KeyEncoder) {
        (self.0)(encoder);
    }
}

#[test]
fn an_implementation_that_writes_nothing_is_refused() {
    let nothing = ByHand(|_| {});
    assert_eq!(refused(&nothing), KeyError::Empty);
    assert_eq!(
        refused(&("a", &nothing)),
        KeyError::EmptyPart { position: 2 }
    );

    let no_parts = ByHand(|encoder| encoder.tuple(|_| {}));
    assert_eq!(refused(&no_parts), KeyError::Empty);
    assert_eq!(
        refused(&("a", &no_parts)),
        KeyError::EmptyPart { position: 2 }
    );
}

#[test]
fn an_implementation_that_writes_twice_is_refused() {
    let twice = ByHand(|encoder| {
        encoder.text("ab");
        encoder.text("c");
    });
    assert_eq!(refused(&twice), KeyError::SeveralValues);
    assert_eq!(refused(&("a", twice)), KeyError::SeveralValues);

    let text_and_tuple = ByHand(|encoder| {
        encoder.text("ab");
        encoder.tuple(|tuple| {
            tuple.part("c");
        });
    });
    assert_eq!(refused(&text_and_tuple), KeyError::SeveralValues);
}

#[test]
fn an_implementation_can_refuse() {
    let refuses = ByHand(|encoder| encoder.refuse(KeyError::Empty));
    assert_eq!(refused(&("a", &refuses)), KeyError::Empty);
    // The first mistake is the one that is reported.
    assert_eq!(refused(&("", refuses)), KeyError::EmptyPart { position: 1 });
}

#[test]
fn a_value_whose_display_fails_is_refused() {
    struct Fails;
    impl std::fmt::Display for Fails {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("half")?;
            Err(std::fmt::Error)
        }
    }
    assert_eq!(
        refused(&ByHand(|encoder| encoder.display(Fails))),
        KeyError::Empty
    );
}
