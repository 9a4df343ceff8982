/// Sends the receipt.
async fn send_receipt(
    claim: &::inbox_sqlx::Inbox<Postgres>,
    mailer: &Mailer,
    msg: &Receipt,
) -> Result<::inbox_sqlx::Outcome<()>, MailError> {
    let inbox: &::inbox_sqlx::Inbox<Postgres> = claim;
    let site = {
        static SITE: ::inbox_sqlx::__private::Site = ::inbox_sqlx::__private::Site::new(
            ::core::module_path!(),
            "send_receipt",
            ::core::file!(),
            ::core::line!(),
        );
        &SITE
    };
    let from_inbox = ::inbox_sqlx::__private::error_from_inbox::<MailError>();
    let error = ::inbox_sqlx::__private::two_phase::ErrorKind::<MailError> {
        from_inbox,
        classify: ::inbox_sqlx::__private::two_phase::unknown,
        text: {
            use ::inbox_sqlx::__private::two_phase::NoText as _;
            ::inbox_sqlx::__private::two_phase::ErrorText::<MailError>::text()
        },
        chain: {
            use ::inbox_sqlx::__private::two_phase::SharedChain as _;
            use ::inbox_sqlx::__private::two_phase::NoChain as _;
            (&::inbox_sqlx::__private::two_phase::ErrorChain::<MailError>::new()).chain()
        },
    };
    let consumer: &'static ::core::primitive::str = "email";
    let key = ::inbox_sqlx::__private::key(|| ::inbox_sqlx::__private::encode(
        &(msg.message_id),
    ));
    let terms = ::inbox_sqlx::__private::two_phase::terms(
        ::inbox_sqlx::__private::two_phase::Unknown::Park,
        ::core::option::Option::None,
        ::core::option::Option::None,
        ::core::option::Option::None,
    );
    let payload = ::core::option::Option::None;
    let claimed = match ::inbox_sqlx::__private::two_phase::claim(
            inbox,
            consumer,
            key,
            site,
            terms,
            payload,
        )
        .await
    {
        ::core::result::Result::Ok(
            ::inbox_sqlx::__private::two_phase::TwoPhase::Fresh(claimed),
        ) => claimed,
        ::core::result::Result::Ok(
            ::inbox_sqlx::__private::two_phase::TwoPhase::Duplicate,
        ) => {
            return ::core::result::Result::Ok(::inbox_sqlx::Outcome::Duplicate);
        }
        ::core::result::Result::Err(error) => {
            return ::core::result::Result::Err(from_inbox(error));
        }
    };
    let lent = &claimed;
    let ended = ::inbox_sqlx::__private::two_phase::run(
            lent,
            async move {
                let claim: &Claim<Postgres> = ::core::convert::identity(lent);
                if false {
                    return ::inbox_sqlx::__private::typed::<Result<(), MailError>>();
                }
                mailer.send(msg, claim.idempotency_key()).await
            },
        )
        .await;
    return ::inbox_sqlx::__private::two_phase::finish(claimed, ended, &error).await;
}
