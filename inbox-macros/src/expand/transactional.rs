//! The body of a handler whose work and marker are committed together.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::Expr;
use syn::ext::IdentExt as _;

use crate::expand::{caller, pin};
use crate::key::Key;
use crate::paths::{Paths, at};
use crate::role::{Returns, inbox_of};
use crate::tokens::{end_of, flatten, start_of};
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
///     settle(claimed, result, from_inbox, boxed).await
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

    let name = handler.function.sig.ident.unraw().to_string();
    let site = private("Site");
    let error = caller::error_type(handler.written, &handler.returns, paths);
    let error_from_inbox = paths.private("error_from_inbox", at(start_of(&error)));
    let consumer = consumer(handler.consumer);
    let key = key(&handler.key, paths);
    let inbox = inbox(handler);
    let begin = private("begin");
    let answer = private("Begin");
    let outcome = paths.public("Outcome", here);
    let body_span = private("body_span");
    let in_span = private("in_span");
    let work = work(handler);
    let unaliased = unaliased(handler);
    let boxed = boxed(&error, paths);
    let settle = private("settle");
    // Shown as the user's parameter: the compiler speaks of it when a body gives the connection away.
    let claimed = Ident::new("claimed", at(start_of(&handler.first.parameter.pat)));
    let connection = quote_spanned!(claimed.span()=> #claimed.connection());

    let statements = quote_spanned! {here=>
        #inbox
        let site = {
            static SITE: #site = #site::new(
                ::core::module_path!(),
                #name,
                ::core::file!(),
                ::core::line!(),
            );
            &SITE
        };
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
        #settle(#claimed, result, from_inbox, boxed).await
    };
    let mut body = Group::new(Delimiter::Brace, statements);
    // The user's braces: where a function ends in generated code, rustc does not say that nobody calls it.
    body.set_span(handler.braces.join());
    TokenTree::Group(body).into()
}

/// `let consumer = ..;`
fn consumer(expr: &Expr) -> TokenStream {
    quote_spanned!(at(start_of(expr))=> let consumer: &'static str = #expr;)
}

/// `let key = ..;`. The closure can be called again, which is what forbids the expression to consume its operands.
fn key(key: &Key<'_>, paths: &Paths) -> TokenStream {
    let here = Span::mixed_site();
    let encoded = match key {
        Key::Single(expr) => {
            let encode = paths.private("encode", at(start_of(expr)));
            let borrowed = borrowed(expr);
            quote_spanned!(here=> #encode(#borrowed))
        }
        Key::Tuple(parts) => {
            let parts = parts.iter().map(|expr| {
                let at = at(start_of(expr));
                let (part, borrowed) = (paths.private("part", at), borrowed(expr));
                quote_spanned!(at=> #part(&#borrowed))
            });
            let encode = paths.private("encode", here);
            quote_spanned!(here=> #encode(&(#(#parts),*)))
        }
    };
    let key = paths.private("key", here);
    quote_spanned!(here=> let key = #key(|| #encoded);)
}

/// `&(EXPR)`, of which rustc underlines all of EXPR if its type is wrong.
fn borrowed(expr: &Expr) -> TokenStream {
    let mut parenthesized = Group::new(Delimiter::Parenthesis, expr.to_token_stream());
    parenthesized.set_span(at(end_of(expr)));
    quote_spanned!(at(start_of(expr))=> &#parenthesized)
}

/// `let inbox: &InboxOf<C> = ..;`, which tells rustc the database, and the user if theirs is another. It comes first: the
/// parameter may have any name, also that of another variable of ours.
fn inbox(handler: &Handler<'_>) -> TokenStream {
    let here = Span::mixed_site();
    let begins = at(start_of(&handler.connection));
    let ty = inbox_of(&handler.connection, begins, &handler.paths);
    let inbox = match handler.inbox {
        Some(expr) => quote_spanned!(at(start_of(expr))=> &(#expr)),
        None => caller::inbox_name(&handler.first).to_token_stream(),
    };
    quote_spanned!(here=> let inbox: #ty = #inbox;)
}

/// The user's statements, with the connection under the name they gave it.
fn work(handler: &Handler<'_>) -> TokenStream {
    let here = Span::mixed_site();
    let parameter = handler.first.parameter;
    let (attrs, pat, ty) = (&parameter.attrs, &parameter.pat, &parameter.ty);
    // The call does nothing, but `let _tx = connection` alone is a lint: a binding without effect.
    let bind = quote_spanned! {at(start_of(pat))=>
        #(#attrs)*
        let #pat: #ty = ::core::convert::identity(connection);
    };
    let pin = pin(handler.written, &handler.paths);
    let statements = handler.statements;
    let mut block = Group::new(Delimiter::Brace, quote!(#bind #pin #statements));
    // Where an expression is missing at the end, rustc says so on the user's closing brace.
    block.set_span(handler.braces.close());
    let block = TokenTree::Group(block);
    quote_spanned!(here=> async move #block)
}

/// `let result: Result<T, E> = ..;`, where an alias hides it. If it turns out to be something else, rustc has said so by
/// then, and does not say once more that it is no `Result`.
fn unaliased(handler: &Handler<'_>) -> Option<TokenStream> {
    let alias = matches!(handler.returns, Returns::Alias);
    alias.then(|| {
        let written = handler.written;
        let at = at(start_of(written));
        let (returned, result_type) = (
            handler.paths.private("Returned", at),
            handler.paths.private("ResultType", at),
        );
        quote_spanned!(at=> let result = <#returned<#written> as #result_type>::into_result(result);)
    })
}

/// `let boxed = ..;`, the way to make the body's error the source of another. An error type that borrows cannot take
/// it, and rustc would say so only after it had chosen.
fn boxed(error: &TokenStream, paths: &Paths) -> TokenStream {
    let span = at(start_of(error));
    let (body_error, opaque) = (
        paths.private("BodyError", span),
        paths.private("Opaque", span),
    );
    let borrows = flatten(error.clone())
        .iter()
        .any(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '\''));
    if borrows {
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
