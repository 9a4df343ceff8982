::core::compile_error! {
    "a handler returns a `Result`: `Ok` acknowledges the message, `Err` does not\n= help: `Result<u64, Error>`"
}
async fn credit(tx: &::inbox_sqlx::InboxOf<PgConnection>, msg: &Msg) -> u64 {
    let _ = &tx;
    let _ = || {
        let _ = &("credit");
    };
    let _ = || {
        let _ = &(msg.id);
    };
    let tx: &mut PgConnection = ::inbox_sqlx::__private::typed::<&mut PgConnection>();
    body(tx).await
}
