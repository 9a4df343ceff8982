//! The body of a handler whose effect is outside of the database: claim and commit, run, record.

use std::time::Duration;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Expr;

use crate::expand::{caller, parts};
use crate::options::OnUnknown;
use crate::paths::{Paths, at};
use crate::terms::Number;
use crate::tokens::start_of;
use crate::validate::{Handler, TwoPhase};

/// ```text
/// Input:  { BODY }
/// Output: {
///     let inbox: &Inbox<DB> = INBOX;
///     let site = { static SITE: Site = Site::new(MODULE, FUNCTION, FILE, LINE); &SITE };
///     let from_inbox = error_from_inbox::<E>();
///     let error = ErrorKind::<E> { from_inbox, classify: CLASSIFY, text: .., chain: .. };
///     let consumer: &'static str = CONSUMER;
///     let key = key(|| encode(&(KEY)));
///     let lease: Duration = LEASE; ..
///     let terms = terms(Unknown::Park, Some(lease), None, None);
///     let payload = Some(payload(&(PAYLOAD)));
///     let #claimed = match claim(inbox, consumer, key, site, terms, payload).await {
///         Ok(TwoPhase::Fresh(claimed)) => claimed,
///         Ok(TwoPhase::Duplicate) => return Ok(Outcome::Duplicate),
///         Err(error) => return Err(from_inbox(error)),
///     };
///     let lent = &claimed;
///     let ended = run(lent, async move {
///         let CLAIM: &Claim<DB> = lent;
///         if false { return typed::<R>(); }
///         BODY
///     }).await;
///     return finish(claimed, ended, &error).await;
///
///     // or, with `record = SAVE`:
///     let mut recorder = Recorder::new(claimed, ended, error).await;
///     while let Some((span, connection, value)) = recorder.begin().await {
///         let saved = hook::<E, _>(span, SAVE(connection, value)).await;
///         recorder.end(saved).await;
///     }
///     return recorder.finish();
/// }
/// ```
///
/// For names, `move` and the statement that never runs see the transactional mode. `SAVE` is called here and not handed
/// over, because only so rustc sees that its future is `Send`.
pub(crate) fn body(handler: &Handler<'_>, two_phase: &TwoPhase<'_>) -> TokenStream {
    let paths = &handler.paths;
    let here = Span::mixed_site();
    let ours = |item| paths.two_phase(item, here);

    let inbox = parts::inbox(handler);
    let site = parts::site(handler);
    let error = caller::error_type(handler.written, &handler.returns, paths);
    let error_from_inbox = paths.private("error_from_inbox", at(start_of(&error)));
    let error_kind = error_kind(&error, two_phase.classify, paths);
    let consumer = parts::consumer(handler.consumer);
    let key = parts::key(&handler.key, paths);
    let terms = terms(two_phase, paths);
    let payload = payload(two_phase.payload, paths);
    let claim = ours("claim");
    let answer = ours("TwoPhase");
    let outcome = paths.public("Outcome", here);
    let run = ours("run");
    let work = parts::work(handler, &Ident::new("lent", here));
    // Shown as the user's parameter: the compiler speaks of it when a body gives the claim away.
    let claimed = Ident::new("claimed", at(start_of(&handler.first.parameter.pat)));
    let lent = quote_spanned!(claimed.span()=> &#claimed);
    let unaliased = parts::into_result(handler).map(|path| {
        let returned = ours("returned");
        quote_spanned!(here=> let ended = #returned(ended, #path);)
    });
    let settle = match two_phase.record {
        None => {
            let finish = ours("finish");
            quote_spanned!(here=> return #finish(#claimed, ended, &error).await;)
        }
        Some(save) => record(save, &error, &claimed, paths),
    };

    let statements = quote_spanned! {here=>
        #inbox
        #site
        let from_inbox = #error_from_inbox::<#error>();
        #error_kind
        #consumer
        #key
        #terms
        #payload
        let #claimed = match #claim(inbox, consumer, key, site, terms, payload).await {
            ::core::result::Result::Ok(#answer::Fresh(claimed)) => claimed,
            ::core::result::Result::Ok(#answer::Duplicate) => {
                return ::core::result::Result::Ok(#outcome::Duplicate);
            }
            ::core::result::Result::Err(error) => {
                return ::core::result::Result::Err(from_inbox(error));
            }
        };
        let lent = #lent;
        let ended = #run(lent, #work).await;
        #unaliased
        #settle
    };
    parts::in_braces(handler, statements)
}

/// `let error = ErrorKind { .. };`: what is known of the body's errors.
fn error_kind(error: &TokenStream, classify: Option<&Expr>, paths: &Paths) -> TokenStream {
    let here = Span::mixed_site();
    let span = at(start_of(error));
    let error_kind = paths.two_phase("ErrorKind", here);
    let classify = classify.map_or_else(|| paths.two_phase("unknown", here), |path| quote!(#path));
    let text = {
        let (text, no_text) = (
            paths.two_phase("ErrorText", span),
            paths.two_phase("NoText", span),
        );
        quote_spanned!(span=> { use #no_text as _; #text::<#error>::text() })
    };
    let chain = {
        let chain = paths.two_phase("ErrorChain", span);
        let shared = paths.two_phase("SharedChain", span);
        let none = paths.two_phase("NoChain", span);
        if parts::borrows(error) {
            quote_spanned!(span=> #none::chain(&&#chain::<#error>::new()))
        } else {
            quote_spanned! {span=> {
                use #shared as _;
                use #none as _;
                (&#chain::<#error>::new()).chain()
            }}
        }
    };
    quote_spanned! {here=>
        let error = #error_kind::<#error> {
            from_inbox,
            classify: #classify,
            text: #text,
            chain: #chain,
        };
    }
}

/// `let terms = ..;`, with a variable for each number that is computed.
fn terms(two_phase: &TwoPhase<'_>, paths: &Paths) -> TokenStream {
    let here = Span::mixed_site();
    let duration = quote_spanned!(here=> ::core::time::Duration);
    let of_literal = |value: &Duration| {
        let (seconds, nanos) = (value.as_secs(), value.subsec_nanos());
        quote_spanned!(here=> #duration::new(#seconds, #nanos))
    };
    let (lease, lease_value) = number("lease", &duration, two_phase.lease.as_ref(), of_literal);
    let (attempts, attempts_value) = number(
        "max_attempts",
        &quote_spanned!(here=> ::core::primitive::u32),
        two_phase.max_attempts.as_ref(),
        |value: &u32| quote_spanned!(here=> #value),
    );
    let (horizon, horizon_value) =
        number("horizon", &duration, two_phase.horizon.as_ref(), of_literal);
    let unknown = paths.two_phase("Unknown", here);
    let on_unknown = match two_phase.on_unknown {
        OnUnknown::Park => quote_spanned!(here=> #unknown::Park),
        OnUnknown::Retry => quote_spanned!(here=> #unknown::Retry),
    };
    let terms = paths.two_phase("terms", here);
    quote_spanned! {here=>
        #lease
        #attempts
        #horizon
        let terms = #terms(#on_unknown, #lease_value, #attempts_value, #horizon_value);
    }
}

/// The statement that computes a number, if one is needed, and the argument that stands for it.
fn number<T>(
    name: &str,
    ty: &TokenStream,
    number: Option<&Number<'_, T>>,
    of_literal: impl FnOnce(&T) -> TokenStream,
) -> (TokenStream, TokenStream) {
    let here = Span::mixed_site();
    let some = |value| quote_spanned!(here=> ::core::option::Option::Some(#value));
    match number {
        None => (
            TokenStream::new(),
            quote_spanned!(here=> ::core::option::Option::None),
        ),
        Some(Number::Literal(value)) => (TokenStream::new(), some(of_literal(value))),
        Some(Number::Computed(expr)) => {
            let name = Ident::new(name, here);
            let compute = quote_spanned!(at(start_of(expr))=> let #name: #ty = #expr;);
            (compute, some(quote_spanned!(here=> #name)))
        }
    }
}

/// `let payload = ..;`
fn payload(expr: Option<&Expr>, paths: &Paths) -> TokenStream {
    let here = Span::mixed_site();
    let payload = expr.map_or_else(
        || quote_spanned!(here=> ::core::option::Option::None),
        |expr| {
            let payload = paths.two_phase("payload", at(start_of(expr)));
            let borrowed = parts::borrowed(expr);
            quote_spanned!(here=> ::core::option::Option::Some(#payload(#borrowed)))
        },
    );
    quote_spanned!(here=> let payload = #payload;)
}

/// The user's hook, in as many transactions as it takes.
fn record(save: &Expr, error: &TokenStream, claimed: &Ident, paths: &Paths) -> TokenStream {
    let here = Span::mixed_site();
    let there = at(start_of(save));
    let recorder = paths.two_phase("Recorder", here);
    let hook = paths.two_phase("hook", there);
    // Shown as the user's path: what is wrong with the hook's signature is wrong there.
    let saved = quote_spanned!(there=> #hook::<#error, _>(span, #save(connection, value)).await);
    let end = quote_spanned!(there=> recorder.end(saved).await);
    quote_spanned! {here=>
        let mut recorder = #recorder::new(#claimed, ended, error).await;
        while let ::core::option::Option::Some((span, connection, value)) = recorder.begin().await {
            let saved = #saved;
            #end;
        }
        return recorder.finish();
    }
}
