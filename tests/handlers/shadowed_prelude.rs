//! A module where no name means what it usually does.

use crate::{bank, credit, deliver_twice};

mod shadowed {
    #![no_implicit_prelude]

    use ::inbox_sqlx::idempotent;

    use crate::{Credit, CreditError, add};

    #[expect(dead_code, reason = "they are only in the way")]
    mod in_the_way {
        pub(super) struct Ok;
        pub(super) struct Err;
        pub(super) struct Some;
        pub(super) struct None;
        pub(super) struct Box;
        pub(super) struct String;
        pub(super) struct Send;
        pub(super) struct From;
        pub(super) struct Into;
        pub(super) struct Fn;
        pub(super) mod std {}
        pub(super) mod core {}
        pub(super) mod alloc {}
        pub(super) mod sqlx {}
        pub(super) mod inbox_sqlx {}
        pub(super) mod tracing {}
    }
    #[expect(unused_imports, reason = "they are only in the way")]
    use self::in_the_way::*;

    /// One parameter, as many crates have it.
    type Result<T> = ::core::result::Result<T, CreditError>;

    /// A primitive that is something else.
    #[expect(non_camel_case_types, dead_code, reason = "it is only in the way")]
    struct str;

    #[idempotent(consumer = "alias", key = msg.message_id)]
    pub(super) async fn alias(tx: &mut ::sqlx::SqliteConnection, msg: &Credit) -> Result<i64> {
        let sum = add(tx, msg.amount).await?;
        Result::Ok(sum)
    }

    #[idempotent(consumer = "path", key = msg.message_id)]
    pub(super) async fn path(
        tx: &mut ::sqlx::SqliteConnection,
        msg: &Credit,
    ) -> ::core::result::Result<i64, CreditError> {
        let sum = add(tx, msg.amount).await?;
        ::core::result::Result::Ok(sum)
    }
}

#[tokio::test]
async fn nothing_means_what_it_usually_does() {
    let inbox = &bank().await;
    let msg = &credit("m1");
    deliver_twice(inbox, async || shadowed::alias(inbox, msg).await).await;
    deliver_twice(inbox, async || shadowed::path(inbox, msg).await).await;
}
