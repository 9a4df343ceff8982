//! Collects the mistakes of one attribute, so that they are reported together.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// The mistakes found so far.
#[derive(Default)]
pub(crate) struct Errors(Option<syn::Error>);

impl Errors {
    /// Reports a mistake on the tokens the user has to change. `help` says what to type.
    pub(crate) fn on(&mut self, tokens: impl ToTokens, what: impl Display, help: impl Display) {
        self.push(syn::Error::new_spanned(tokens, with_help(&what, &help)));
    }

    /// The same, where there are no tokens: something is missing.
    pub(crate) fn at(&mut self, span: Span, what: impl Display, help: impl Display) {
        self.push(syn::Error::new(span, with_help(&what, &help)));
    }

    /// Adds a mistake that the parser found.
    pub(crate) fn push(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// One `compile_error!` for each mistake. Never nothing: whoever asks has decided not to guard the function,
    /// and a handler that compiles without its guard would apply messages twice.
    pub(crate) fn into_compile_errors(self) -> TokenStream {
        self.0
            .unwrap_or_else(|| {
                syn::Error::new(
                    Span::call_site(),
                    "`#[idempotent]` refuses this function without a reason; that is a bug in `inbox-macros`",
                )
            })
            .into_compile_error()
    }
}

/// rustc indents what follows a line break, so that this reads like a help of its own.
fn with_help(what: &dyn Display, help: &dyn Display) -> String {
    format!("{what}\n= help: {help}")
}
