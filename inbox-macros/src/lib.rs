//! Implementation detail of `inbox-sqlx`: the attribute `#[idempotent]` and the derive `MessageKey`.
//!
//! Parse (`args`, `signature`, `key`), validate (`validate`), expand (`expand`). Nothing here knows a database;
//! generated code names what it needs from `inbox_sqlx::__private`, listed in `paths`.

mod args;
mod derive;
mod diag;
mod expand;
mod fallback;
mod identity;
mod key;
mod list;
mod options;
mod paths;
mod role;
mod signature;
mod terms;
#[cfg(test)]
#[expect(
    clippy::needless_raw_string_hashes,
    reason = "expect-test writes the texts, and always like this"
)]
mod tests;
mod tokens;
mod validate;

use proc_macro2::TokenStream;

use crate::args::Args;
use crate::diag::Errors;
use crate::signature::Function;

/// Makes an `async fn` run at most once per message and consumer; see `inbox_sqlx::idempotent`.
#[proc_macro_attribute]
pub fn idempotent(
    attribute: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    expand_idempotent(attribute.into(), &item.into()).into()
}

/// Makes a newtype a message key, encoded exactly like the value it holds; see `inbox_sqlx::MessageKey`.
#[proc_macro_derive(MessageKey, attributes(message_key))]
pub fn message_key(item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    derive::message_key(item.into()).into()
}

fn expand_idempotent(attribute: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let args = Args::parse(attribute, &mut errors);
    let Some(function) = Function::parse(item.clone(), &mut errors) else {
        return fallback::item(item, errors);
    };
    match validate::handler(&args, &function, &mut errors) {
        Some(handler) => expand::handler(&handler),
        None => fallback::function(&args, &function, errors),
    }
}
