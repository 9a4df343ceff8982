::core::compile_error! {
    "a lease of less than a millisecond is over before the body starts\n= help: `lease = \"30s\"`"
}
async fn send(
    claim: &::inbox_sqlx::Inbox<Postgres>,
    msg: &Msg,
) -> Result<::inbox_sqlx::Outcome<()>, E> {
    let _ = &claim;
    let _ = || {
        let _ = &("email");
    };
    let _ = || {
        let _ = &("0s");
    };
    let _ = || {
        let _ = &(msg.body);
    };
    let _ = || {
        let _ = &(msg.id);
    };
    let result = async move {
        let claim: &Claim<Postgres> = ::inbox_sqlx::__private::typed::<
            &Claim<Postgres>,
        >();
        if false {
            return ::inbox_sqlx::__private::typed::<Result<(), E>>();
        }
        body(claim).await
    }
        .await;
    match result {
        ::core::result::Result::Ok(value) => {
            ::core::result::Result::Ok(::inbox_sqlx::Outcome::Processed(value))
        }
        ::core::result::Result::Err(error) => ::core::result::Result::Err(error),
    }
}
