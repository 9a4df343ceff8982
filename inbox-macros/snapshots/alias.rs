async fn credit(
    inbox: &crate::reexported::inbox::InboxOf<MySqlConnection>,
    id: u64,
) -> crate::reexported::inbox::__private::Guarded<anyhow::Result<()>> {
    let inbox: &crate::reexported::inbox::InboxOf<MySqlConnection> = inbox;
    let site = {
        static SITE: crate::reexported::inbox::__private::Site = crate::reexported::inbox::__private::Site::new(
            ::core::module_path!(),
            "credit",
            ::core::file!(),
            ::core::line!(),
        );
        &SITE
    };
    let from_inbox = crate::reexported::inbox::__private::error_from_inbox::<
        crate::reexported::inbox::__private::ErrorOf<anyhow::Result<()>>,
    >();
    let consumer: &'static ::core::primitive::str = "credit";
    let key = crate::reexported::inbox::__private::key(|| crate::reexported::inbox::__private::encode(
        &(id),
    ));
    let mut claimed = match crate::reexported::inbox::__private::begin(
            inbox,
            consumer,
            key,
            site,
        )
        .await
    {
        ::core::result::Result::Ok(
            crate::reexported::inbox::__private::Begin::Fresh(claimed),
        ) => claimed,
        ::core::result::Result::Ok(
            crate::reexported::inbox::__private::Begin::Duplicate,
        ) => {
            return ::core::result::Result::Ok(
                crate::reexported::inbox::Outcome::Duplicate,
            );
        }
        ::core::result::Result::Err(error) => {
            return ::core::result::Result::Err(from_inbox(error));
        }
    };
    let span = crate::reexported::inbox::__private::body_span(&claimed);
    let connection = claimed.connection();
    let result = crate::reexported::inbox::__private::in_span(
            span,
            async move {
                let _: &mut MySqlConnection = ::core::convert::identity(connection);
                if false {
                    return crate::reexported::inbox::__private::typed::<
                        anyhow::Result<()>,
                    >();
                }
                Ok(())
            },
        )
        .await;
    let result = <crate::reexported::inbox::__private::Returned<
        anyhow::Result<()>,
    > as crate::reexported::inbox::__private::ResultType>::into_result(result);
    let boxed = {
        use crate::reexported::inbox::__private::Opaque as _;
        crate::reexported::inbox::__private::BodyError::<
            crate::reexported::inbox::__private::ErrorOf<anyhow::Result<()>>,
        >::boxed()
    };
    return crate::reexported::inbox::__private::settle(
            claimed,
            result,
            from_inbox,
            boxed,
        )
        .await;
}
