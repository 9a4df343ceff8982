#[expect(clippy::too_many_arguments)]
async fn r#move(
    tx: &::inbox_sqlx::InboxOf<PgConnection>,
    mut count: u64,
    Msg { id, amount }: Msg,
    (a, b): (i64, String),
    _: Ctx,
    #[cfg(feature = "extra")]
    extra: Extra,
    r#type: u8,
    tag: impl Into<String>,
) -> Result<::inbox_sqlx::Outcome<()>, E> {
    let inbox: &::inbox_sqlx::InboxOf<PgConnection> = tx;
    let site = {
        static SITE: ::inbox_sqlx::__private::Site = ::inbox_sqlx::__private::Site::new(
            ::core::module_path!(),
            "move",
            ::core::file!(),
            ::core::line!(),
        );
        &SITE
    };
    let from_inbox = ::inbox_sqlx::__private::error_from_inbox::<E>();
    let consumer: &'static ::core::primitive::str = "credit";
    let key = ::inbox_sqlx::__private::key(|| ::inbox_sqlx::__private::encode(
        &(
            ::inbox_sqlx::__private::part(&&(r#type)),
            ::inbox_sqlx::__private::part(&&(id)),
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
                #[allow(unused)]
                let mut tx: &mut PgConnection = ::core::convert::identity(connection);
                if false {
                    return ::inbox_sqlx::__private::typed::<Result<(), E>>();
                }
                Ok(())
            },
        )
        .await;
    let boxed = {
        use ::inbox_sqlx::__private::Opaque as _;
        ::inbox_sqlx::__private::BodyError::<E>::boxed()
    };
    return ::inbox_sqlx::__private::settle(claimed, result, from_inbox, boxed).await;
}
