//! Expansions as readable code, and the words of every mistake.
//!
//! `UPDATE_EXPECT=1 cargo test -p inbox-macros` writes what is; review it like code.

mod derive;
mod fallback;
mod keys;
mod misuse;
mod transactional;
mod two_phase;

use proc_macro2::{TokenStream, TokenTree};

/// What the attribute makes of a function, as rustfmt would print it.
fn expand(attribute: &str, item: &str) -> String {
    pretty(&expand_tokens(attribute, item))
}

fn expand_tokens(attribute: &str, item: &str) -> TokenStream {
    crate::expand_idempotent(tokens(attribute), &tokens(item))
}

fn pretty(expansion: &TokenStream) -> String {
    match syn::parse2(expansion.clone()) {
        Ok(file) => prettyplease::unparse(&file),
        Err(error) => panic!("the expansion is no Rust: {error}\n{expansion}"),
    }
}

fn tokens(source: &str) -> TokenStream {
    source
        .parse()
        .unwrap_or_else(|error| panic!("{error}: {source}"))
}

/// The mistakes that are reported for a handler, one paragraph each.
fn mistakes(attribute: &str, item: &str) -> String {
    let messages = reported(expand_tokens(attribute, item));
    assert!(!messages.is_empty(), "nothing is reported for {attribute}");
    messages.join("\n")
}

/// The same with everything in order but the key.
fn mistakes_of_key(key: &str) -> String {
    let item =
        "async fn credit(tx: &mut PgConnection, msg: &Msg, n: u64) -> Result<(), E> { body }";
    let attribute = format!("consumer = \"credit\", key = {key}");
    reported(expand_tokens(&attribute, item)).join("\n")
}

/// The texts in the `compile_error!`s of an expansion.
fn reported(expansion: TokenStream) -> Vec<String> {
    let mut messages = Vec::new();
    let mut tokens = expansion.into_iter();
    while let Some(token) = tokens.next() {
        if matches!(&token, TokenTree::Ident(ident) if ident == "compile_error")
            && let Some(TokenTree::Group(arguments)) = tokens.nth(1)
        {
            let message: syn::LitStr = syn::parse2(arguments.stream()).expect("one string");
            messages.push(message.value());
        }
    }
    messages
}
