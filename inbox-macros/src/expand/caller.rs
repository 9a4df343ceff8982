//! The signature that callers see: the inbox in place of the connection, `Outcome<T>` in place of `T`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::ext::IdentExt as _;
use syn::{FnArg, Pat, PatIdent, ReturnType, Signature, Type};

use crate::paths::{Paths, at};
use crate::role::{First, Returns, replace_argument};
use crate::signature::Function;
use crate::tokens::start_of;

/// ```text
/// Input:  async fn credit(tx: &mut PgConnection, msg: &Credit) -> Result<Balance, CreditError>
/// Output: async fn credit(tx: &InboxOf<PgConnection>, msg: &Credit) -> Result<Outcome<Balance>, CreditError>
/// or, with `inbox = ..`:
///         async fn credit(msg: &Credit) -> Result<Outcome<Balance>, CreditError>
/// ```
pub(crate) fn signature(
    function: &Function,
    first: Option<&First<'_>>,
    returns: &Returns,
    callers_pass_no_inbox: bool,
    paths: &Paths,
) -> Signature {
    let mut sig = function.sig.clone();
    if let Some(first) = first
        && let Some(ty) = first.callers_type(paths)
    {
        if callers_pass_no_inbox {
            let inputs = std::mem::take(&mut sig.inputs).into_iter().enumerate();
            let kept = inputs.filter(|(index, _)| *index != first.index);
            sig.inputs = kept.map(|(_, input)| input).collect();
        } else if let Some(FnArg::Typed(parameter)) = sig.inputs.get_mut(first.index) {
            // Attributes go with the connection, to the `let` that binds it.
            parameter.attrs.clear();
            *parameter.pat = plain(inbox_name(first));
            *parameter.ty = Type::Verbatim(ty);
        }
    }
    if let ReturnType::Type(_, written) = &mut sig.output {
        let returned = returned(written, returns, paths);
        **written = returned;
    }
    sig
}

/// The name of the first parameter as callers see it. It reads like the user's, but only generated code can use it:
/// the body, and the key, know the connection or nothing under that name.
pub(crate) fn inbox_name(first: &First<'_>) -> Ident {
    match &*first.parameter.pat {
        Pat::Ident(PatIdent { ident, .. }) => {
            // A leading underscore says "not used", and this one is.
            let text = ident.unraw().to_string();
            let text = text.trim_start_matches('_');
            match syn::parse_str::<Ident>(text) {
                Ok(name) => Ident::new(&name.to_string(), at(ident.span())),
                Err(_) => Ident::new("inbox", at(ident.span())),
            }
        }
        _ => Ident::new("inbox", Span::mixed_site()),
    }
}

fn plain(ident: Ident) -> Pat {
    Pat::Ident(PatIdent {
        attrs: Vec::new(),
        by_ref: None,
        mutability: None,
        ident,
        subpat: None,
    })
}

fn returned(written: &Type, returns: &Returns, paths: &Paths) -> Type {
    let span = at(start_of(written));
    let outcome = paths.public("Outcome", span);
    match returns {
        Returns::Literal { ok, .. } => {
            // The path stays the user's: it may well be `std::result::Result`.
            let mut ty = written.clone();
            let ok = quote_spanned!(span=> #outcome<#ok>);
            replace_argument(&mut ty, ok);
            ty
        }
        Returns::Alias => {
            let guarded = paths.private("Guarded", span);
            Type::Verbatim(quote_spanned!(span=> #guarded<#written>))
        }
        Returns::Other => written.clone(),
    }
}

/// The type that the body's errors have, as generated code can write it.
pub(crate) fn error_type(written: &Type, returns: &Returns, paths: &Paths) -> TokenStream {
    match returns {
        Returns::Literal { error, .. } => error.to_token_stream(),
        Returns::Alias | Returns::Other => {
            let span = at(start_of(written));
            let error = paths.private("ErrorOf", span);
            quote_spanned!(span=> #error<#written>)
        }
    }
}
