//! The rules for the key expression: what makes a value unfit to tell one message from all others.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprLit, Lit, Member, Token};

use crate::diag::Errors;
use crate::tokens::{flatten, peel_expr as peel, source_of};

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

/// Names whose values do not identify a message, written without underscores and in lower case.
struct Unfit {
    names: &'static [&'static str],
    because: &'static str,
    /// In a tuple they may stand.
    alone: bool,
}

const UNFIT: [Unfit; 5] = [
    Unfit {
        names: &[
            "correlationid",
            "causationid",
            "conversationid",
            "replyto",
            "messagegroupid",
            "partitionkey",
            "routingkey",
        ],
        because: "is shared by several messages, and all but the first would pass for duplicates",
        alone: false,
    },
    Unfit {
        names: &[
            "ackid",
            "approximatereceivecount",
            "attempt",
            "attemptcount",
            "attemptnumber",
            "attempts",
            "consumertag",
            "deliveryattempt",
            "deliverycount",
            "deliverytag",
            "locktoken",
            "receipthandle",
            "receivecount",
            "redelivered",
            "redeliverycount",
            "retries",
            "retrycount",
        ],
        because: "belongs to one delivery, and a redelivery would pass for a new message",
        alone: false,
    },
    Unfit {
        names: &[
            "createdat",
            "deliveredat",
            "enqueuedat",
            "occurredat",
            "processedat",
            "publishedat",
            "receivedat",
            "sentat",
            "timestamp",
            "updatedat",
        ],
        because: "is a time, which two messages can share and a redelivery can change",
        alone: false,
    },
    Unfit {
        names: &["spanid", "traceid", "traceparent"],
        because: "identifies a trace, in which several messages travel",
        alone: false,
    },
    Unfit {
        names: &["offset", "partition", "topic"],
        because: "is only a part of a position, which other messages have in common",
        alone: true,
    },
];

/// Calls that hand on the value they are made on, in another shape.
const TRANSPARENT: [&str; 29] = [
    "as_deref",
    "as_ref",
    "as_str",
    "borrow",
    "clone",
    "cloned",
    "copied",
    "deref",
    "digest",
    "expect",
    "from",
    "get",
    "hyphenated",
    "inner",
    "into",
    "into_inner",
    "new",
    "simple",
    "timestamp_micros",
    "timestamp_millis",
    "to_owned",
    "to_rfc3339",
    "to_string",
    "trim",
    "unix_timestamp",
    "unwrap",
    "unwrap_or",
    "unwrap_or_default",
    "unwrap_or_else",
];

/// Applies all rules. `connection` is the name of the parameter that callers do not pass, `names` are all others.
pub(crate) fn check(expr: &Expr, names: &[Ident], connection: Option<&Ident>, errors: &mut Errors) {
    leaves_the_function(expr, errors);
    looks_at_a_parameter(expr, names, connection, errors);
    has_the_right_number_of_parts(expr, errors);
    is_an_identity(expr, Place::Alone, errors);
}

/// The key is computed in a closure, before there is anything to leave or to wait for.
fn leaves_the_function(expr: &Expr, errors: &mut Errors) {
    for token in flatten(expr.to_token_stream()) {
        let text = match &token {
            TokenTree::Ident(ident) => ident.to_string(),
            TokenTree::Punct(punct) => punct.as_char().to_string(),
            TokenTree::Group(_) | TokenTree::Literal(_) => continue,
        };
        let help = match text.as_str() {
            "?" => {
                "a message without a key has to be refused before the handler is called; what cannot fail goes into \
                 a method: `key = msg.key()`"
            }
            "await" => "wait for it before calling the handler, and pass it as a parameter",
            "return" | "break" | "yield" => {
                "put it into a method of the message: `key = msg.key()`"
            }
            _ => continue,
        };
        errors.on(token, format!("`{text}` is not possible in a key"), help);
    }
}

fn looks_at_a_parameter(
    expr: &Expr,
    names: &[Ident],
    connection: Option<&Ident>,
    errors: &mut Errors,
) {
    let used: Vec<Ident> = variables_in(expr.to_token_stream());
    let from_connection = connection.and_then(|name| used.iter().find(|used| *used == name));
    if let Some(name) = from_connection {
        let what = format!(
            "the key is computed before there is a connection, so that `{name}` is not known yet"
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

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Alone,
    Part,
}

/// Looks for the name of the value, behind conversions.
fn is_an_identity(expr: &Expr, place: Place, errors: &mut Errors) {
    match peel(expr) {
        Expr::Tuple(tuple) => {
            for part in &tuple.elems {
                is_an_identity(part, Place::Part, errors);
            }
        }
        Expr::Call(call) if trusted(expr).is_none() => {
            if let Expr::Path(path) = &*call.func
                && let Some(function) = path.path.segments.last()
                && is_transparent(&function.ident)
                && let Some(argument) = call.args.first()
            {
                is_an_identity(argument, place, errors);
            }
        }
        Expr::MethodCall(call) => {
            if is_transparent(&call.method) && call.args.is_empty() {
                return is_an_identity(&call.receiver, place, errors);
            }
            let header = call.args.first().and_then(string);
            match header {
                Some(header) => name_is_fit(&header.value(), header, expr, place, errors),
                None if is_transparent(&call.method) => {
                    is_an_identity(&call.receiver, place, errors);
                }
                None => name_is_fit(
                    &call.method.unraw().to_string(),
                    &call.method,
                    expr,
                    place,
                    errors,
                ),
            }
        }
        Expr::Field(field) => match &field.member {
            Member::Named(name) => {
                name_is_fit(&name.unraw().to_string(), name, expr, place, errors);
            }
            Member::Unnamed(_) => is_an_identity(&field.base, place, errors),
        },
        Expr::Index(index) => {
            if let Some(header) = string(&index.index) {
                name_is_fit(&header.value(), header, expr, place, errors);
            }
        }
        Expr::Path(path) => {
            if let Some(name) = path.path.get_ident() {
                name_is_fit(&name.unraw().to_string(), name, expr, place, errors);
            }
        }
        Expr::Reference(reference) => is_an_identity(&reference.expr, place, errors),
        Expr::Unary(unary) => is_an_identity(&unary.expr, place, errors),
        Expr::Cast(cast) => is_an_identity(&cast.expr, place, errors),
        Expr::Macro(call) => {
            // `format!("{}-{}", msg.source, msg.timestamp)`: anything that is not a list of expressions is left alone.
            let arguments = Punctuated::<Expr, Token![,]>::parse_terminated;
            if let Ok(arguments) = arguments.parse2(call.mac.tokens.clone()) {
                for part in arguments.iter().filter(|part| string(part).is_none()) {
                    is_an_identity(part, Place::Part, errors);
                }
            }
        }
        _ => {}
    }
}

fn name_is_fit(name: &str, tokens: impl ToTokens, whole: &Expr, place: Place, errors: &mut Errors) {
    let plain: String = name
        .chars()
        .filter(|letter| letter.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    let names = |unfit: &&Unfit| unfit.names.contains(&plain.as_str());
    let Some(unfit) = UNFIT.iter().find(names) else {
        return;
    };
    if unfit.alone && place == Place::Part {
        return;
    }
    let what = format!("`{name}` does not identify a message: it {}", unfit.because);
    if unfit.alone {
        let help = "all of it together is a key: `key = (msg.topic, msg.partition, msg.offset)`";
        errors.on(tokens, what, help);
    } else {
        let help = format!(
            "use what is the same in every redelivery and in no other message, like `msg.message_id`; \
             if this is just that under a misleading name, say so: `trust({})`",
            source_of(whole),
        );
        errors.on(tokens, what, help);
    }
}

fn is_transparent(name: &Ident) -> bool {
    TRANSPARENT.iter().any(|transparent| name == transparent)
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

fn string(expr: &Expr) -> Option<&syn::LitStr> {
    match peel(expr) {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text),
        _ => None,
    }
}

/// Identifiers that can be variables (no fields, no methods), also those in the text of a `format!`.
fn variables_in(tokens: TokenStream) -> Vec<Ident> {
    let mut variables = Vec::new();
    let mut after_dot = false;
    for token in flatten(tokens) {
        match &token {
            TokenTree::Ident(ident) if !after_dot => variables.push(ident.clone()),
            TokenTree::Literal(literal) => variables.extend(captured_by_format(literal)),
            _ => {}
        }
        after_dot = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '.');
    }
    variables
}

fn captured_by_format(literal: &proc_macro2::Literal) -> Vec<Ident> {
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
