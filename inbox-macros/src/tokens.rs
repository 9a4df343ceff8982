//! Small questions about the user's tokens.

use proc_macro2::{Delimiter, Ident, Literal, Spacing, Span, TokenStream, TokenTree};
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

/// The user's code as they would type it, for a message. Printers of tokens put a space between any two of them.
pub(crate) fn source_of(tokens: impl ToTokens) -> String {
    let mut text = String::new();
    print(tokens.into_token_stream(), &mut text);
    text
}

fn print(tokens: TokenStream, text: &mut String) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{ ", " }"),
                    Delimiter::None => ("", ""),
                };
                text.push_str(open);
                print(group.stream(), text);
                text.push_str(close);
            }
            TokenTree::Punct(punct) => {
                let spaced = matches!(punct.as_char(), '+' | '=' | '|');
                if spaced && !text.ends_with([' ', '=', '|']) {
                    text.push(' ');
                }
                text.push(punct.as_char());
                if matches!(punct.as_char(), ',' | ';')
                    || spaced && punct.spacing() == Spacing::Alone
                {
                    text.push(' ');
                }
            }
            word => {
                let after_word =
                    |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '"';
                if text.ends_with(after_word) {
                    text.push(' ');
                }
                text.push_str(&word.to_string());
            }
        }
    }
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

#[cfg(test)]
mod tests {
    use super::source_of;

    #[test]
    fn source_looks_as_it_was_typed() {
        for source in [
            "Option<u64>",
            "&'a mut HashMap<String, Vec<(u8, &str)>>",
            "Box<dyn Error + Send>",
            "msg.headers[\"correlation-id\"]",
            "msg.delivery_count()",
            "String::from(*msg.timestamp as u64)",
            "format!(\"{}-{}\", msg.source, msg.timestamp)",
            "[u8; 3]",
        ] {
            let tokens: proc_macro2::TokenStream = source.parse().expect("tokens");
            assert_eq!(source_of(tokens), source);
        }
    }
}
