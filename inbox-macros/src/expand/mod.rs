//! Writes the function that callers see around the body of the user.

pub(crate) mod caller;
mod parts;
mod transactional;
mod two_phase;

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Type;

use crate::paths::Paths;
use crate::validate::Handler;

/// The guarded function, with the user's attributes and visibility.
pub(crate) fn handler(handler: &Handler<'_>) -> TokenStream {
    let attrs = &handler.function.attrs;
    let vis = &handler.function.vis;
    let sig = caller::signature(
        handler.function,
        Some(&handler.first),
        &handler.returns,
        handler.inbox.is_some(),
        &handler.paths,
    );
    let body = match &handler.two_phase {
        None => transactional::body(handler),
        Some(two_phase) => two_phase::body(handler, two_phase),
    };
    quote! { #(#attrs)* #vis #sig #body }
}

/// A first statement that never runs, and gives the block around it its type.
pub(crate) fn pin(written: &Type, paths: &Paths) -> TokenStream {
    let here = Span::mixed_site();
    let typed = paths.private("typed", here);
    quote_spanned! {here=>
        if false {
            return #typed::<#written>();
        }
    }
}
