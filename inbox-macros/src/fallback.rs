//! What is emitted when something is wrong: the mistakes, and a function that callers and editors can go on with.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::{Safety, Token};

use crate::args::Args;
use crate::diag::Errors;
use crate::expand::{caller, pin};
use crate::paths::{Paths, at};
use crate::role::{First, Returns, Role};
use crate::signature::{self, Body, Function};
use crate::tokens::{flatten, start_of};

/// An item that is no function stays what it is.
pub(crate) fn item(item: &TokenStream, errors: Errors) -> TokenStream {
    let errors = errors.into_compile_errors();
    quote!(#errors #item)
}

/// The function with the signature that it will have, as far as that can be told, around the user's own body: so
/// nothing that is used there looks unused, and its own mistakes are shown as well. It is never run.
pub(crate) fn function(args: &Args, function: &Function, errors: Errors) -> TokenStream {
    let errors = errors.into_compile_errors();
    let attrs = function
        .attrs
        .iter()
        .filter(|attribute| !signature::is_ours(attribute));
    let vis = &function.vis;
    let paths = Paths::new(args.krate.value());
    let first = First::of(function);
    if function.is_boxed()
        || matches!(
            &first,
            Some(First {
                role: Role::Expanded,
                ..
            })
        )
    {
        // Another macro has written this function, and it is already what callers expect.
        let (sig, body) = (&function.sig, &function.body);
        return quote!(#errors #(#attrs)* #vis #sig #body);
    }

    let first = first.filter(First::is_replaced);
    let callers_pass_no_inbox = !args.inbox.is_absent();
    let returns = if names_no_type(function) {
        Returns::Other
    } else {
        Returns::of(function)
    };
    let mut sig = caller::signature(
        function,
        first.as_ref(),
        &returns,
        callers_pass_no_inbox,
        &paths,
    );
    sig.constness = None;
    sig.safety = Safety::Default;
    sig.abi = None;
    sig.variadic = None;
    if !matches!(returns, Returns::Other) && sig.asyncness.is_none() {
        sig.asyncness = Some(Token![async](sig.fn_token.span));
    }

    let Body::Block { statements, .. } = &function.body else {
        return quote!(#errors #(#attrs)* #vis #sig;);
    };
    let here = Span::mixed_site();
    let used = first
        .as_ref()
        .filter(|_| !callers_pass_no_inbox)
        .map(|first| {
            let inbox = caller::inbox_name(first);
            quote_spanned!(here=> let _ = &#inbox;)
        });
    let bind = first.as_ref().map(|first| {
        let (attrs, pat, ty) = (
            &first.parameter.attrs,
            &first.parameter.pat,
            &first.parameter.ty,
        );
        let at = at(start_of(pat));
        let typed = paths.private("typed", at);
        quote_spanned!(at=> #(#attrs)* let #pat: #ty = #typed::<#ty>();)
    });
    let body = if !matches!(returns, Returns::Other)
        && let Some(written) = function.return_type()
    {
        let pin = pin(written, &paths);
        let outcome = paths.public("Outcome", here);
        quote_spanned! {here=>
            let result = async move { #bind #pin #statements }.await;
            match result {
                ::core::result::Result::Ok(value) => {
                    ::core::result::Result::Ok(#outcome::Processed(value))
                }
                ::core::result::Result::Err(error) => ::core::result::Result::Err(error),
            }
        }
    } else {
        quote!(#bind #statements)
    };
    quote!(#errors #(#attrs)* #vis #sig { #used #body })
}

fn names_no_type(function: &Function) -> bool {
    let tokens = flatten(function.sig.output.to_token_stream());
    tokens.iter().any(|token| token.to_string() == "impl")
}
