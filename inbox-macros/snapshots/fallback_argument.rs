::core::compile_error! {
    "unknown argument `costumer`\n= help: did you mean `consumer = \"credit\"`?"
}
::core::compile_error! {
    "`timestamp` does not identify a message: it is a time, which two messages can share and a redelivery can change\n= help: use what is the same in every redelivery and in no other message, like `msg.message_id`; if this is just that under a misleading name, say so: `trust(msg.timestamp)`"
}
async fn credit(
    tx: &::inbox_sqlx::InboxOf<PgConnection>,
    msg: &Msg,
) -> Result<::inbox_sqlx::Outcome<Balance>, CreditError> {
    let _ = &tx;
    let _ = || {
        let _ = &("credit");
    };
    let _ = || {
        let _ = &(msg.id);
    };
    let _ = || {
        let _ = &(msg.timestamp);
    };
    let result = async move {
        let tx: &mut PgConnection = ::inbox_sqlx::__private::typed::<
            &mut PgConnection,
        >();
        if false {
            return ::inbox_sqlx::__private::typed::<Result<Balance, CreditError>>();
        }
        body(tx).await
    }
        .await;
    match result {
        ::core::result::Result::Ok(value) => {
            ::core::result::Result::Ok(::inbox_sqlx::Outcome::Processed(value))
        }
        ::core::result::Result::Err(error) => ::core::result::Result::Err(error),
    }
}
