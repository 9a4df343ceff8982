//! Small questions about the user's tokens.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream, TokenTree};
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

/// The user's code as they would type it: the compiler prints it so, other printers put spaces around punctuation.
pub(crate) fn source_of(tokens: impl ToTokens) -> impl Display {
    tokens.into_token_stream().to_string().replace(" . ", ".")
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
