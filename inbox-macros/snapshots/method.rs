async fn handle<'a, R: Repo>(
    self: Arc<Self>,
    msg: &'a Msg,
    repo: R,
) -> std::result::Result<::inbox_sqlx::Outcome<Receipt<'a>>, Rejected<'a>>
where
    R: Sync,
{
    let inbox: &::inbox_sqlx::InboxOf<SqliteConnection> = &(self.inbox);
    let site = {
        static SITE: ::inbox_sqlx::__private::Site = ::inbox_sqlx::__private::Site::new(
            ::core::module_path!(),
            "handle",
            ::core::file!(),
            ::core::line!(),
        );
        &SITE
    };
    let from_inbox = ::inbox_sqlx::__private::error_from_inbox::<Rejected<'a>>();
    let consumer: &'static ::core::primitive::str = NAME;
    let key = ::inbox_sqlx::__private::key(|| ::inbox_sqlx::__private::encode(
        &(
            ::inbox_sqlx::__private::part(&&(msg.source)),
            ::inbox_sqlx::__private::part(&&(msg.correlation_id)),
        ),
    ));
    let mut claimed = match ::inbox_sqlx::__private::begin(inbox, consumer, key, site)
        .await
    {
        ::core::result::Result::Ok(::inbox_sqlx::__private::Begin::Fresh(claimed)) => {
            claimed
        }
        ::core::result::Result::Ok(::inbox_sqlx::__private::Begin::Duplicate) => {
            return ::core::result::Result::Ok(::inbox_sqlx::Outcome::Duplicate);
        }
        ::core::result::Result::Err(error) => {
            return ::core::result::Result::Err(from_inbox(error));
        }
    };
    let span = ::inbox_sqlx::__private::body_span(&claimed);
    let connection = claimed.connection();
    let result = ::inbox_sqlx::__private::in_span(
            span,
            async move {
                let _tx: &mut SqliteConnection = ::core::convert::identity(connection);
                if false {
                    return ::inbox_sqlx::__private::typed::<
                        std::result::Result<Receipt<'a>, Rejected<'a>>,
                    >();
                }
                repo.receipt(msg).await
            },
        )
        .await;
    let boxed = <::inbox_sqlx::__private::BodyError<
        Rejected<'a>,
    > as ::inbox_sqlx::__private::Opaque<Rejected<'a>>>::boxed();
    return ::inbox_sqlx::__private::settle(claimed, result, from_inbox, boxed).await;
}
