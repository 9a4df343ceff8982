//! The body of a handler whose work and marker are committed together.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;

use crate::expand::{caller, parts};
use crate::paths::{Paths, at};
use crate::tokens::start_of;
use crate::validate::Handler;

/// ```text
/// Input:  { BODY }
/// Output: {
///     let inbox: &InboxOf<C> = INBOX;
///     let site = { static SITE: Site = Site::new(MODULE, FUNCTION, FILE, LINE); &SITE };
///     let from_inbox = error_from_inbox::<E>();
///     let consumer: &'static str = CONSUMER;
///     let key = key(|| encode(&(KEY)));
///     let mut #claimed = match begin(inbox, consumer, key, site).await {
///         Ok(Begin::Fresh(claimed)) => claimed,
///         Ok(Begin::Duplicate) => return Ok(Outcome::Duplicate),
///         Err(error) => return Err(from_inbox(error)),
///     };
///     let span = body_span(&claimed);
///     let connection = claimed.connection();
///     let result = in_span(span, async move {
///         let TX: &mut C = connection;
///         if false { return typed::<R>(); }
///         BODY
///     }).await;
///     let boxed = BodyError::<E>::boxed();
///     return settle(claimed, result, from_inbox, boxed).await;
/// }
/// ```
///
/// All of it stands on names that only generated code can see, so that BODY, KEY, CONSUMER and INBOX mean what they
/// meant where the user wrote them. `move`, because that is what an `async fn` does with its parameters: the future is
/// `Send` if they are, `Sync` is not needed. The statement that never runs tells rustc the type of the block at its
/// beginning, and so keeps its errors on the user's expressions.
pub(crate) fn body(handler: &Handler<'_>) -> TokenStream {
    let paths = &handler.paths;
    let here = Span::mixed_site();
    let private = |item| paths.private(item, here);

    let site = parts::site(handler);
    let error = caller::error_type(handler.written, &handler.returns, paths);
    let error_from_inbox = paths.private("error_from_inbox", at(start_of(&error)));
    let consumer = parts::consumer(handler.consumer);
    let key = parts::key(&handler.key, paths);
    let inbox = parts::inbox(handler);
    let begin = private("begin");
    let answer = private("Begin");
    let outcome = paths.public("Outcome", here);
    let body_span = private("body_span");
    let in_span = private("in_span");
    let work = parts::work(handler, &Ident::new("connection", here));
    let unaliased = parts::into_result(handler).map(|path| {
        // All of it in one place, where rustc has complained already.
        quote_spanned!(at(start_of(handler.written))=> let result = #path(result);)
    });
    let boxed = boxed(&error, paths);
    let settle = private("settle");
    // Shown as the user's parameter: the compiler speaks of it when a body gives the connection away.
    let claimed = Ident::new("claimed", at(start_of(&handler.first.parameter.pat)));
    let connection = quote_spanned!(claimed.span()=> #claimed.connection());

    let statements = quote_spanned! {here=>
        #inbox
        #site
        let from_inbox = #error_from_inbox::<#error>();
        #consumer
        #key
        let mut #claimed = match #begin(inbox, consumer, key, site).await {
            ::core::result::Result::Ok(#answer::Fresh(claimed)) => claimed,
            ::core::result::Result::Ok(#answer::Duplicate) => {
                return ::core::result::Result::Ok(#outcome::Duplicate);
            }
            ::core::result::Result::Err(error) => {
                return ::core::result::Result::Err(from_inbox(error));
            }
        };
        let span = #body_span(&claimed);
        let connection = #connection;
        let result = #in_span(span, #work).await;
        #unaliased
        #boxed
        return #settle(#claimed, result, from_inbox, boxed).await;
    };
    parts::in_braces(handler, statements)
}

/// `let boxed = ..;`, the way to make the body's error the source of another. An error type that borrows cannot take
/// it, and rustc would say so only after it had chosen.
fn boxed(error: &TokenStream, paths: &Paths) -> TokenStream {
    let span = at(start_of(error));
    let (body_error, opaque) = (
        paths.private("BodyError", span),
        paths.private("Opaque", span),
    );
    if parts::borrows(error) {
        quote_spanned!(span=> let boxed = <#body_error<#error> as #opaque<#error>>::boxed();)
    } else {
        quote_spanned! {span=>
            let boxed = {
                use #opaque as _;
                #body_error::<#error>::boxed()
            };
        }
    }
}
