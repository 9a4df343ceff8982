//! Which key expressions are refused, and in which words.

use expect_test::expect;

use super::mistakes_of_key;

#[test]
fn keys_that_pass() {
    for key in [
        "msg.id",
        "msg.id()",
        "&msg.id",
        "*n",
        "n",
        "(msg.source, msg.id)",
        "(msg.topic, msg.partition, msg.offset)",
        "format!(\"{}/{}/{}\", msg.topic, msg.partition, msg.offset)",
        "format!(\"order-{n}\")",
        "Key::digest(&msg.body)",
        "msg.attempt.id",
        "msg.timestamp_id",
        "id_of(msg)",
        "msg.headers[\"message-id\"]",
        "{ let id = msg.id; id }",
        "trust(msg.correlation_id)",
        "(trust(msg.created_at), msg.id)",
        "(trust(format!(\"{}\", msg.created_at)))",
    ] {
        assert_eq!(mistakes_of_key(key), "", "{key}");
    }
}

#[test]
fn keys_that_leave_the_function() {
    expect![[r#"
        `?` is not possible in a key
        = help: a message without a key has to be refused before the handler is called; what cannot fail goes into a method: `key = msg.key()`"#]].assert_eq(&mistakes_of_key("msg.id.parse::<u64>()?"));
    expect![[r#"
        `await` is not possible in a key
        = help: wait for it before calling the handler, and pass it as a parameter"#]]
    .assert_eq(&mistakes_of_key("(msg.id, lookup(msg).await)"));
    expect![[r#"
        `return` is not possible in a key
        = help: put it into a method of the message: `key = msg.key()`"#]]
    .assert_eq(&mistakes_of_key(
        "match msg.id { None => return Ok(()), Some(id) => id }",
    ));
}

#[test]
fn keys_that_are_the_same_for_all_messages() {
    expect![[r#"
        the key looks at no parameter: it is the same for all messages, and all but the first would pass for duplicates
        = help: take the key from the message: `key = msg.message_id`"#]].assert_eq(&mistakes_of_key("\"credit\""));
    expect![[r#"
        the key looks at no parameter: it is the same for all messages, and all but the first would pass for duplicates
        = help: take the key from the message: `key = msg.message_id`"#]].assert_eq(&mistakes_of_key("self_made()"));
    expect![[r#"
        the key looks at no parameter: it is the same for all messages, and all but the first would pass for duplicates
        = help: take the key from the message: `key = msg.message_id`"#]].assert_eq(&mistakes_of_key("other.msg"));
    expect![[r#"
        the key is computed before there is a connection, so that `tx` is not known yet
        = help: take the key from the message: `key = msg.message_id`"#]]
    .assert_eq(&mistakes_of_key("tx.id"));
}

#[test]
fn tuples_of_a_wrong_size() {
    expect![[r#"
        a key has 2 to 4 parts, not 1
        = help: write a single part without the tuple: `key = msg.message_id`"#]]
    .assert_eq(&mistakes_of_key("(msg.id,)"));
    expect![[r#"
        a key has 2 to 4 parts, not 5
        = help: leave out what does not identify the message, or digest it: `key = Key::digest(..)`"#]].assert_eq(&mistakes_of_key("(msg.a, msg.b, msg.c, msg.d, msg.e)"));
    expect![[r#"
        the key looks at no parameter: it is the same for all messages, and all but the first would pass for duplicates
        = help: take the key from the message: `key = msg.message_id`
        a key has 2 to 4 parts, not 0
        = help: take the key from the message: `key = msg.message_id`"#]].assert_eq(&mistakes_of_key("()"));
}

#[test]
fn names_that_do_not_identify() {
    expect![[r#"
        `correlation_id` does not identify a message: it is shared by several messages, and all but the first would pass for duplicates
        = help: use what is the same in every redelivery and in no other message, like `msg.message_id`; if this is just that under a misleading name, say so: `trust(msg.correlation_id)`"#]].assert_eq(&mistakes_of_key("msg.correlation_id"));
    expect![[r#"
        `delivery_count` does not identify a message: it belongs to one delivery, and a redelivery would pass for a new message
        = help: use what is the same in every redelivery and in no other message, like `msg.message_id`; if this is just that under a misleading name, say so: `trust(msg.delivery_count())`"#]].assert_eq(&mistakes_of_key("msg.delivery_count()"));
    expect![[r#"
        `created_at` does not identify a message: it is a time, which two messages can share and a redelivery can change
        = help: use what is the same in every redelivery and in no other message, like `msg.message_id`; if this is just that under a misleading name, say so: `trust(msg.created_at)`"#]].assert_eq(&mistakes_of_key("(msg.id, msg.created_at)"));
    expect![[r#"
        `traceId` does not identify a message: it identifies a trace, in which several messages travel
        = help: use what is the same in every redelivery and in no other message, like `msg.message_id`; if this is just that under a misleading name, say so: `trust(msg.traceId)`"#]].assert_eq(&mistakes_of_key("msg.traceId"));
    expect![[r#"
        `offset` does not identify a message: it is only a part of a position, which other messages have in common
        = help: all of it together is a key: `key = (msg.topic, msg.partition, msg.offset)`"#]].assert_eq(&mistakes_of_key("msg.offset"));
}

#[test]
fn names_behind_conversions() {
    for key in [
        "&msg.correlation_id",
        "msg.correlation_id.to_string()",
        "msg.correlation_id.0",
        "msg.correlation_id().as_ref().unwrap()",
        "msg.correlation_id.expect(\"checked\")",
        "*msg.r#correlation_id as u64",
        "Key::digest(&msg.correlation_id)",
        "String::from(msg.correlation_id)",
        "format!(\"{}\", msg.correlation_id)",
        "msg.headers[\"correlation_id\"]",
        "msg.headers.get(\"Correlation-Id\").unwrap()",
        "(msg.id, (msg.correlation_id))",
    ] {
        let mistake = mistakes_of_key(key).to_lowercase().replace('-', "_");
        assert!(
            mistake.starts_with("`correlation_id` does not identify"),
            "{key}: {mistake}"
        );
        assert_eq!(mistake.matches("help").count(), 1, "{key}: {mistake}");
    }
}
