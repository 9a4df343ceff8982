/// Adds the amount.
#[must_use]
pub(crate) async fn credit(
    tx: &::inbox_sqlx::InboxOf<PgConnection>,
    msg: &CreditRequested,
) -> Result<::inbox_sqlx::Outcome<Balance>, CreditError> {
    let inbox: &::inbox_sqlx::InboxOf<PgConnection> = tx;
    let site = {
        static SITE: ::inbox_sqlx::__private::Site = ::inbox_sqlx::__private::Site::new(
            ::core::module_path!(),
            "credit",
            ::core::file!(),
            ::core::line!(),
        );
        &SITE
    };
    let from_inbox = ::inbox_sqlx::__private::error_from_inbox::<CreditError>();
    let consumer: &'static ::core::primitive::str = "credit";
    let key = ::inbox_sqlx::__private::key(|| ::inbox_sqlx::__private::encode(
        &(msg.message_id),
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
                let tx: &mut PgConnection = ::core::convert::identity(connection);
                if false {
                    return ::inbox_sqlx::__private::typed::<
                        Result<Balance, CreditError>,
                    >();
                }
                let balance = add(&mut *tx, msg).await?;
                Ok(balance)
            },
        )
        .await;
    let boxed = {
        use ::inbox_sqlx::__private::Opaque as _;
        ::inbox_sqlx::__private::BodyError::<CreditError>::boxed()
    };
    return ::inbox_sqlx::__private::settle(claimed, result, from_inbox, boxed).await;
}
