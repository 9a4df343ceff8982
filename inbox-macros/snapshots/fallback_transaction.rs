::core::compile_error! {
    "the key is computed before there is a connection, so that `tx` is not known yet\n= help: take the key from the message: `key = msg.message_id`"
}
::core::compile_error! {
    "a handler is `async`\n= help: `async fn credit`"
}
::core::compile_error! {
    "a handler cannot be `unsafe`\n= help: `async fn credit`"
}
::core::compile_error! {
    "a handler does not own the transaction: the inbox commits it, together with the marker of the message\n= help: `tx: &mut SqliteConnection`, on which `begin()` still opens a nested one"
}
async fn credit(
    &self,
    tx: &::inbox_sqlx::Inbox<Sqlite>,
    msg: &Msg,
) -> Result<::inbox_sqlx::Outcome<Balance>, CreditError> {
    let _ = &tx;
    let _ = || {
        let _ = &("credit");
    };
    let result = async move {
        let tx: &mut Transaction<'_, Sqlite> = ::inbox_sqlx::__private::typed::<
            &mut Transaction<'_, Sqlite>,
        >();
        if false {
            return ::inbox_sqlx::__private::typed::<Result<Balance, CreditError>>();
        }
        body(tx)
    }
        .await;
    match result {
        ::core::result::Result::Ok(value) => {
            ::core::result::Result::Ok(::inbox_sqlx::Outcome::Processed(value))
        }
        ::core::result::Result::Err(error) => ::core::result::Result::Err(error),
    }
}
