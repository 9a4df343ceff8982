//! The key expression: what it consists of, and the rules for it.

use proc_macro2::{Ident, TokenTree};
use quote::ToTokens as _;
use syn::Expr;

use crate::diag::Errors;
use crate::identity;
use crate::tokens::{flatten, peel_expr as peel, variables_in};

/// A key expression, without `trust(..)`.
pub(crate) enum Key<'a> {
    Single(&'a Expr),
    /// `(source, id)`: its parts are borrowed one by one, so that the tuple takes nothing out of the message.
    Tuple(Vec<&'a Expr>),
}

impl<'a> Key<'a> {
    pub(crate) fn new(expr: &'a Expr) -> Self {
        match peel(expr) {
            Expr::Tuple(tuple) => Self::Tuple(tuple.elems.iter().map(without_trust).collect()),
            single => Self::Single(without_trust(single)),
        }
    }
}

/// Applies all rules. `first` is the name of the parameter that callers do not pass, a `noun`; `names` are all others.
pub(crate) fn check(
    expr: &Expr,
    names: &[Ident],
    first: Option<&Ident>,
    noun: &str,
    errors: &mut Errors,
) {
    stays_in_the_function(expr, errors);
    looks_at_a_parameter(expr, names, first, noun, errors);
    has_the_right_number_of_parts(expr, errors);
    identifies_the_message(expr, errors);
}

/// The key is computed in a closure, before there is anything to leave or to wait for.
pub(crate) fn stays_in_the_function(expr: &Expr, errors: &mut Errors) {
    for (token, text) in leaving(expr) {
        let help = match text.as_str() {
            "?" => {
                "a message without a key has to be refused before the handler is called; what cannot fail goes into \
                 a method: `key = msg.key()`"
            }
            "await" => "wait for it before calling the handler, and pass it as a parameter",
            _ => "put it into a method of the message: `key = msg.key()`",
        };
        errors.on(token, format!("`{text}` is not possible in a key"), help);
    }
}

/// The same for a value in `two_phase(..)`, which is computed at the same time. `claim` is not known there.
pub(crate) fn value_stays_in_the_function(
    option: &str,
    expr: &Expr,
    claim: Option<&Ident>,
    errors: &mut Errors,
) {
    for (token, text) in leaving(expr) {
        let what = format!("`{text}` is not possible in `{option}`");
        let help = "compute it before calling the handler, and pass it as a parameter";
        errors.on(token, what, help);
    }
    let used = variables_in(expr);
    if let Some(name) = used.iter().find(|used| Some(*used) == claim) {
        let what = format!(
            "`{option}` is computed before there is a claim, so that `{name}` is not known yet"
        );
        errors.on(name, what, "use the other parameters");
    }
}

/// What would leave the generated function, or suspend it.
fn leaving(expr: &Expr) -> impl Iterator<Item = (TokenTree, String)> {
    let tokens = flatten(expr.to_token_stream()).into_iter();
    tokens.filter_map(|token| {
        let text = match &token {
            TokenTree::Ident(ident) => ident.to_string(),
            TokenTree::Punct(punct) => punct.as_char().to_string(),
            TokenTree::Group(_) | TokenTree::Literal(_) => return None,
        };
        let leaves = matches!(text.as_str(), "?" | "await" | "return" | "break" | "yield");
        leaves.then_some((token, text))
    })
}

fn looks_at_a_parameter(
    expr: &Expr,
    names: &[Ident],
    first: Option<&Ident>,
    noun: &str,
    errors: &mut Errors,
) {
    let used = variables_in(expr);
    let from_first = first.and_then(|name| used.iter().find(|used| *used == name));
    if let Some(name) = from_first {
        let what = format!(
            "the key is computed before there is a {noun}, so that `{name}` is not known yet"
        );
        errors.on(
            name,
            what,
            "take the key from the message: `key = msg.message_id`",
        );
    } else if !used
        .iter()
        .any(|used| *used == "self" || names.contains(used))
    {
        errors.on(
            expr,
            "the key looks at no parameter: it is the same for all messages, and all but the first would pass for duplicates",
            "take the key from the message: `key = msg.message_id`",
        );
    }
}

fn has_the_right_number_of_parts(expr: &Expr, errors: &mut Errors) {
    if let Expr::Tuple(tuple) = peel(expr)
        && !(2..=4).contains(&tuple.elems.len())
    {
        let what = format!("a key has 2 to 4 parts, not {}", tuple.elems.len());
        let help = match tuple.elems.len() {
            0 => "take the key from the message: `key = msg.message_id`",
            1 => "write a single part without the tuple: `key = msg.message_id`",
            _ => {
                "leave out what does not identify the message, or digest it: `key = Key::digest(..)`"
            }
        };
        errors.on(tuple, what, help);
    }
}

fn identifies_the_message(expr: &Expr, errors: &mut Errors) {
    match peel(expr) {
        Expr::Tuple(tuple) => {
            for part in tuple.elems.iter().filter(|part| trusted(part).is_none()) {
                identity::check(part, false, errors);
            }
        }
        single if trusted(single).is_none() => identity::check(single, true, errors),
        _ => {}
    }
}

/// The argument of `trust(..)`, by which the user vouches for a value.
fn trusted(expr: &Expr) -> Option<&Expr> {
    let Expr::Call(call) = peel(expr) else {
        return None;
    };
    let Expr::Path(path) = &*call.func else {
        return None;
    };
    match call.args.first() {
        Some(argument) if path.path.is_ident("trust") && call.args.len() == 1 => Some(argument),
        _ => None,
    }
}

fn without_trust(expr: &Expr) -> &Expr {
    trusted(expr).unwrap_or(expr)
}
