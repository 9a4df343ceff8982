//! The statements that both modes have in common.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::Expr;
use syn::ext::IdentExt as _;

use crate::expand::{caller, pin};
use crate::key::Key;
use crate::paths::{Paths, at};
use crate::role::Returns;
use crate::tokens::{end_of, flatten, start_of};
use crate::validate::Handler;

/// `let consumer = ..;`
pub(crate) fn consumer(expr: &Expr) -> TokenStream {
    quote_spanned!(at(start_of(expr))=> let consumer: &'static ::core::primitive::str = #expr;)
}

/// `let key = ..;`. The closure can be called again, which is what forbids the expression to consume its operands.
pub(crate) fn key(key: &Key<'_>, paths: &Paths) -> TokenStream {
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
pub(crate) fn borrowed(expr: &Expr) -> TokenStream {
    let mut parenthesized = Group::new(Delimiter::Parenthesis, expr.to_token_stream());
    parenthesized.set_span(at(end_of(expr)));
    quote_spanned!(at(start_of(expr))=> &#parenthesized)
}

/// `let inbox: &Inbox<DB> = ..;`, which tells rustc the database, and the user if theirs is another. It comes first: the
/// parameter may have any name, also that of another variable of ours.
pub(crate) fn inbox(handler: &Handler<'_>) -> TokenStream {
    let here = Span::mixed_site();
    let ty = &handler.inbox_type;
    let inbox = match handler.inbox {
        Some(expr) => quote_spanned!(at(start_of(expr))=> &(#expr)),
        None => caller::inbox_name(&handler.first).to_token_stream(),
    };
    quote_spanned!(here=> let inbox: #ty = #inbox;)
}

/// `let site = ..;`, one for each handler.
pub(crate) fn site(handler: &Handler<'_>) -> TokenStream {
    let here = Span::mixed_site();
    let name = handler.function.sig.ident.unraw().to_string();
    let site = handler.paths.private("Site", here);
    quote_spanned! {here=>
        let site = {
            static SITE: #site = #site::new(
                ::core::module_path!(),
                #name,
                ::core::file!(),
                ::core::line!(),
            );
            &SITE
        };
    }
}

/// The user's statements, with what they are `handed` under the name they gave it.
pub(crate) fn work(handler: &Handler<'_>, handed: &Ident) -> TokenStream {
    let here = Span::mixed_site();
    let parameter = handler.first.parameter;
    let (attrs, pat, ty) = (&parameter.attrs, &parameter.pat, &parameter.ty);
    // The call does nothing, but `let _tx = connection` alone is a lint: a binding without effect.
    let bind = quote_spanned! {at(start_of(pat))=>
        #(#attrs)*
        let #pat: #ty = ::core::convert::identity(#handed);
    };
    let pin = pin(handler.written, &handler.paths);
    let statements = handler.statements;
    let mut block = Group::new(Delimiter::Brace, quote!(#bind #pin #statements));
    // Where an expression is missing at the end, rustc says so on the user's closing brace.
    block.set_span(handler.braces.close());
    let block = TokenTree::Group(block);
    quote_spanned!(here=> async move #block)
}

/// `<R as ResultType>::into_result`, where R is an alias and hides that it is a `Result`. If it turns out to be something
/// else, rustc has said so by then, and does not say once more that it is no `Result`.
pub(crate) fn into_result(handler: &Handler<'_>) -> Option<TokenStream> {
    let alias = matches!(handler.returns, Returns::Alias);
    alias.then(|| {
        let written = handler.written;
        let at = at(start_of(written));
        let (returned, result_type) = (
            handler.paths.private("Returned", at),
            handler.paths.private("ResultType", at),
        );
        quote_spanned!(at=> <#returned<#written> as #result_type>::into_result)
    })
}

/// The statements in the user's braces: where a function ends in generated code, rustc does not say that nobody calls it.
/// The last one is a `return`, which clippy would miss where users want it written.
pub(crate) fn in_braces(handler: &Handler<'_>, statements: TokenStream) -> TokenStream {
    let mut body = Group::new(Delimiter::Brace, statements);
    body.set_span(handler.braces.join());
    TokenTree::Group(body).into()
}

/// Whether an error type borrows, as far as it says so: rustc would notice only after it had chosen a way to treat it.
pub(crate) fn borrows(error: &TokenStream) -> bool {
    let is_quote =
        |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '\'');
    let tokens = flatten(error.clone());
    tokens
        .windows(2)
        .any(|pair| is_quote(&pair[0]) && pair[1].to_string() != "static")
}
