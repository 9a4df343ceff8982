//! Every path that generated code may mention, and the spans of what is generated.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote_spanned};

use crate::args::CratePath;

/// The crate generated code talks to: `::inbox_sqlx`, or what `crate = PATH` says.
#[derive(Clone)]
pub(crate) struct Paths(TokenStream);

impl Paths {
    pub(crate) fn new(krate: Option<&CratePath>) -> Self {
        let default = || quote_spanned!(Span::mixed_site()=> ::inbox_sqlx);
        Self(krate.map_or_else(default, |CratePath(path)| path.to_token_stream()))
    }

    /// A public item of the facade, such as `::inbox_sqlx::Outcome`.
    pub(crate) fn public(&self, item: &str, span: Span) -> TokenStream {
        let (krate, item) = (self.shown_at(span), Ident::new(item, span));
        quote_spanned!(span=> #krate::#item)
    }

    /// A hidden item that exists for generated code only, such as `::inbox_sqlx::__private::begin`.
    pub(crate) fn private(&self, item: &str, span: Span) -> TokenStream {
        let (krate, item) = (self.shown_at(span), Ident::new(item, span));
        quote_spanned!(span=> #krate::__private::#item)
    }

    /// The same for two-phase mode, such as `::inbox_sqlx::__private::two_phase::claim`.
    pub(crate) fn two_phase(&self, item: &str, span: Span) -> TokenStream {
        let (module, item) = (self.private("two_phase", span), Ident::new(item, span));
        quote_spanned!(span=> #module::#item)
    }

    /// The crate, shown where the rest of a path is. Otherwise rustc would underline everything in between.
    fn shown_at(&self, span: Span) -> TokenStream {
        let tokens = self.0.clone().into_iter();
        let shown = tokens.map(|mut token: TokenTree| {
            token.set_span(token.span().located_at(span));
            token
        });
        shown.collect()
    }
}

/// A place in the user's code, for generated tokens: rustc shows errors there, but names are resolved here and lints
/// know that nobody typed these tokens.
pub(crate) fn at(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}
