::core::compile_error! {
    "what runs on a pool commits on its own, even if the message is rolled back\n= help: `tx: &mut PgConnection`, and run the statements on `&mut *tx`"
}
async fn credit(
    pool: impl ::core::marker::Sized,
    msg: &Msg,
) -> ::inbox_sqlx::__private::Guarded<anyhow::Result<()>> {
    let _ = &pool;
    let _ = || {
        let _ = &("credit");
    };
    let _ = || {
        let _ = &(msg.id);
    };
    let result = async move {
        let pool: &PgPool = ::inbox_sqlx::__private::typed::<&PgPool>();
        if false {
            return ::inbox_sqlx::__private::typed::<anyhow::Result<()>>();
        }
        body(pool).await
    }
        .await;
    match result {
        ::core::result::Result::Ok(value) => {
            ::core::result::Result::Ok(::inbox_sqlx::Outcome::Processed(value))
        }
        ::core::result::Result::Err(error) => ::core::result::Result::Err(error),
    }
}
