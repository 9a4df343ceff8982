//! Different tuples never have the same text: the text can be taken apart again.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::{Key, KeyEncoder, KeyError, MessageKey};

/// Any key: a single value, or a tuple of keys.
#[derive(Debug, Clone, PartialEq)]
enum Tree {
    Leaf(String),
    Tuple(Vec<Tree>),
}

impl MessageKey for Tree {
    fn encode(&self, encoder: &mut KeyEncoder) {
        match self {
            Self::Leaf(text) => encoder.text(text),
            Self::Tuple(parts) => encoder.tuple(|tuple| {
                for part in parts {
                    tuple.part(part);
                }
            }),
        }
    }
}

impl Tree {
    /// Reads one value and leaves the rest. The opposite of `encode`, written from the documentation of `Key`.
    fn decode(text: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Self {
        if text.next_if_eq(&'(').is_some() {
            let mut parts = vec![Self::decode(text)];
            while text.next_if_eq(&',').is_some() {
                parts.push(Self::decode(text));
            }
            assert_eq!(text.next(), Some(')'), "a tuple ends with a parenthesis");
            return Self::Tuple(parts);
        }
        let mut leaf = String::new();
        while let Some(character) = text.next_if(|character| !"(),".contains(*character)) {
            leaf.push(match character {
                '\\' => text.next().expect("a backslash precedes something"),
                plain => plain,
            });
        }
        Self::Leaf(leaf)
    }
}

/// Short texts, rich in the characters that have a meaning in the canonical text.
fn leaf() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => r"[ab,()\\ ]{0,4}[ab,()\\]",
        1 => any::<String>().prop_map(|text| text.chars().take(8).collect()),
    ]
    .prop_filter("valid", |text: &String| {
        !text.trim().is_empty() && !text.contains('\0')
    })
}

fn tuple() -> impl Strategy<Value = Tree> {
    let tree = leaf()
        .prop_map(Tree::Leaf)
        .prop_recursive(3, 12, 4, |inner| vec(inner, 2..=4).prop_map(Tree::Tuple));
    vec(tree, 2..=4).prop_map(Tree::Tuple)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_tuple_can_be_read_back_from_its_text(tree in tuple()) {
        match Key::new(&tree) {
            Ok(key) => {
                let mut text = key.as_str().chars().peekable();
                prop_assert_eq!(Tree::decode(&mut text), tree);
                prop_assert_eq!(text.next(), None);
            }
            Err(error) => prop_assert!(matches!(error, KeyError::TooLong { .. }), "{error:?}"),
        }
    }

    #[test]
    fn different_tuples_have_different_texts(one in tuple(), other in tuple()) {
        if let (Ok(one_key), Ok(other_key)) = (Key::new(&one), Key::new(&other)) {
            prop_assert_eq!(one == other, one_key == other_key);
        }
    }

    #[test]
    fn the_tuples_of_rust_have_the_text_of_the_tree(a in leaf(), b in leaf(), c in any::<i64>(), d in leaf()) {
        let leaf = |text: &str| Tree::Leaf(text.to_owned());
        let tree = Tree::Tuple(vec![
            Tree::Tuple(vec![leaf(&a), leaf(&b)]),
            leaf(&c.to_string()),
            leaf(&d),
        ]);
        prop_assert_eq!(Key::new(&((&a, &b), c, &d)), Key::new(&tree));
    }

    #[test]
    fn a_single_text_is_its_own_canonical_text(text in leaf()) {
        let key = Key::new(text.as_str());
        prop_assert_eq!(key.as_ref().map(Key::as_str), Ok(text.as_str()));
    }
}
