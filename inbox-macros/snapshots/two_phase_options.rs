async fn send<DB: Backend>(
    &self,
    pool: PgPool,
    msg: &Receipt,
) -> Result<crate::reexported::Outcome<Sent>, MailError<'static>> {
    let inbox: &crate::reexported::Inbox<DB> = &(self.inbox);
    let site = {
        static SITE: crate::reexported::__private::Site = crate::reexported::__private::Site::new(
            ::core::module_path!(),
            "send",
            ::core::file!(),
            ::core::line!(),
        );
        &SITE
    };
    let from_inbox = crate::reexported::__private::error_from_inbox::<
        MailError<'static>,
    >();
    let error = crate::reexported::__private::two_phase::ErrorKind::<
        MailError<'static>,
    > {
        from_inbox,
        classify: MailError::effect,
        text: {
            use crate::reexported::__private::two_phase::NoText as _;
            crate::reexported::__private::two_phase::ErrorText::<
                MailError<'static>,
            >::text()
        },
        chain: {
            use crate::reexported::__private::two_phase::SharedChain as _;
            use crate::reexported::__private::two_phase::NoChain as _;
            (&crate::reexported::__private::two_phase::ErrorChain::<
                MailError<'static>,
            >::new())
                .chain()
        },
    };
    let consumer: &'static ::core::primitive::str = NAME;
    let key = crate::reexported::__private::key(|| crate::reexported::__private::encode(
        &(
            crate::reexported::__private::part(&&(msg.source)),
            crate::reexported::__private::part(&&(msg.id)),
        ),
    ));
    let max_attempts: ::core::primitive::u32 = self.attempts;
    let horizon: ::core::time::Duration = Duration::from_hours(msg.hours);
    let terms = crate::reexported::__private::two_phase::terms(
        crate::reexported::__private::two_phase::Unknown::Retry,
        ::core::option::Option::Some(::core::time::Duration::new(90u64, 0u32)),
        ::core::option::Option::Some(max_attempts),
        ::core::option::Option::Some(horizon),
    );
    let payload = ::core::option::Option::Some(
        crate::reexported::__private::two_phase::payload(&(msg)),
    );
    let claimed = match crate::reexported::__private::two_phase::claim(
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
            crate::reexported::__private::two_phase::TwoPhase::Fresh(claimed),
        ) => claimed,
        ::core::result::Result::Ok(
            crate::reexported::__private::two_phase::TwoPhase::Duplicate,
        ) => {
            return ::core::result::Result::Ok(crate::reexported::Outcome::Duplicate);
        }
        ::core::result::Result::Err(error) => {
            return ::core::result::Result::Err(from_inbox(error));
        }
    };
    let lent = &claimed;
    let ended = crate::reexported::__private::two_phase::run(
            lent,
            async move {
                let _: &inbox_sqlx::Claim<DB> = ::core::convert::identity(lent);
                if false {
                    return crate::reexported::__private::typed::<
                        Result<Sent, MailError<'static>>,
                    >();
                }
                self.mailer.send(msg).await
            },
        )
        .await;
    let mut recorder = crate::reexported::__private::two_phase::Recorder::new(
            claimed,
            ended,
            error,
        )
        .await;
    while let ::core::option::Option::Some((span, connection, value)) = recorder
        .begin()
        .await
    {
        let saved = crate::reexported::__private::two_phase::hook::<
            MailError<'static>,
            _,
        >(span, Self::save(connection, value))
            .await;
        recorder.end(saved).await;
    }
    return recorder.finish();
}
