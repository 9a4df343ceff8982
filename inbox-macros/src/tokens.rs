//! Small questions about the user's tokens.

use std::fmt::Display;

use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Expr, Type};

/// All tokens, without the groups around them.
pub(crate) fn flatten(tokens: TokenStream) -> Vec<TokenTree> {
    let flat = tokens.into_iter().flat_map(|token| match token {
        TokenTree::Group(group) => flatten(group.stream()),
        other => vec![other],
    });
    flat.collect()
}

/// Where a piece of the user's code begins.
pub(crate) fn start_of(tokens: impl ToTokens) -> Span {
    let first = tokens.into_token_stream().into_iter().next();
    first.map_or_else(Span::call_site, |token| token.span())
}

/// Where it ends.
pub(crate) fn end_of(tokens: impl ToTokens) -> Span {
    let last = tokens.into_token_stream().into_iter().last();
    last.map_or_else(Span::call_site, |token| match token {
        TokenTree::Group(group) => group.span_close(),
        other => other.span(),
    })
}

/// The user's code as they would type it: the compiler prints it so, other printers put spaces around punctuation.
pub(crate) fn source_of(tokens: impl ToTokens) -> impl Display {
    tokens.into_token_stream().to_string().replace(" . ", ".")
}

/// Whether `impl Trait` is in a type, which can be written in a signature only.
pub(crate) fn names_no_type(ty: impl ToTokens) -> bool {
    let tokens = flatten(ty.into_token_stream());
    tokens.iter().any(|token| token.to_string() == "impl")
}

/// The expression without parentheses and the invisible brackets of a `macro_rules!` fragment.
pub(crate) fn peel_expr(expr: &Expr) -> &Expr {
    match expr {
        Expr::Group(group) => peel_expr(&group.expr),
        Expr::Paren(paren) => peel_expr(&paren.expr),
        other => other,
    }
}

/// The type without parentheses and the invisible brackets of a `macro_rules!` fragment.
pub(crate) fn peel_type(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => peel_type(&group.elem),
        Type::Paren(paren) => peel_type(&paren.elem),
        other => other,
    }
}

/// Identifiers that can be variables (no fields, no methods), also those in the text of a `format!`.
pub(crate) fn variables_in(tokens: impl ToTokens) -> Vec<Ident> {
    let mut variables = Vec::new();
    let mut after_dot = false;
    for token in flatten(tokens.into_token_stream()) {
        match &token {
            TokenTree::Ident(ident) if !after_dot => variables.push(ident.clone()),
            TokenTree::Literal(literal) => variables.extend(captured_by_format(literal)),
            _ => {}
        }
        after_dot = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '.');
    }
    variables
}

fn captured_by_format(literal: &Literal) -> Vec<Ident> {
    let text = literal.to_string();
    let Some(text) = text.ends_with(['"', '#']).then_some(text) else {
        return Vec::new();
    };
    let opened = text.split('{').skip(1);
    let names = opened.map(|rest| {
        let end = rest.find(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
        &rest[..end.unwrap_or(rest.len())]
    });
    names
        .filter_map(|name| syn::parse_str::<Ident>(name).ok())
        .map(|name| Ident::new(&name.to_string(), literal.span()))
        .collect()
}
