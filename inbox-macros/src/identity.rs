//! Names that say of a value that it does not identify a message.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprLit, Lit, LitStr, Member, Token};

use crate::diag::Errors;
use crate::tokens::{peel_expr, source_of};

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
const TRANSPARENT: [&str; 28] = [
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

/// Looks for the name of a value of which the user does not say `trust(..)`: a whole key, or one part of a tuple.
pub(crate) fn check(value: &Expr, alone: bool, errors: &mut Errors) {
    Check {
        value,
        alone,
        errors,
    }
    .expr(value);
}

struct Check<'a> {
    /// All of it, for the help.
    value: &'a Expr,
    alone: bool,
    errors: &'a mut Errors,
}

impl Check<'_> {
    /// The name of a value stands at the end of the expression, behind conversions.
    fn expr(&mut self, expr: &Expr) {
        match peel_expr(expr) {
            Expr::Field(field) => match &field.member {
                Member::Named(name) => self.name(&name.unraw().to_string(), name),
                Member::Unnamed(_) => self.expr(&field.base),
            },
            Expr::Path(path) => {
                if let Some(name) = path.path.get_ident() {
                    self.name(&name.unraw().to_string(), name);
                }
            }
            Expr::MethodCall(call) => match call.args.first().and_then(string) {
                _ if is_transparent(&call.method) => self.expr(&call.receiver),
                // `msg.headers.get("correlation-id")`
                Some(header) => self.name(&header.value(), header),
                None => self.name(&call.method.unraw().to_string(), &call.method),
            },
            Expr::Index(index) => {
                if let Some(header) = string(&index.index) {
                    self.name(&header.value(), header);
                }
            }
            Expr::Call(call) => {
                if let Expr::Path(path) = &*call.func
                    && let Some(function) = path.path.segments.last()
                    && is_transparent(&function.ident)
                    && let Some(argument) = call.args.first()
                {
                    self.expr(argument);
                }
            }
            Expr::Macro(call) => {
                // `format!("{}-{}", msg.source, msg.timestamp)`. What is no list of expressions is left alone.
                let arguments = Punctuated::<Expr, Token![,]>::parse_terminated;
                let arguments = arguments.parse2(call.mac.tokens.clone());
                self.alone &= arguments
                    .as_ref()
                    .is_ok_and(|arguments| arguments.len() < 3);
                for argument in arguments
                    .iter()
                    .flatten()
                    .filter(|argument| string(argument).is_none())
                {
                    self.expr(argument);
                }
            }
            Expr::Reference(reference) => self.expr(&reference.expr),
            Expr::Unary(unary) => self.expr(&unary.expr),
            Expr::Cast(cast) => self.expr(&cast.expr),
            _ => {}
        }
    }

    fn name(&mut self, name: &str, tokens: impl ToTokens) {
        let letters = name.chars().filter(|letter| letter.is_alphanumeric());
        let plain: String = letters.flat_map(char::to_lowercase).collect();
        let Some(unfit) = UNFIT
            .iter()
            .find(|unfit| unfit.names.contains(&plain.as_str()))
        else {
            return;
        };
        let what = format!("`{name}` does not identify a message: it {}", unfit.because);
        if !unfit.alone {
            let help = format!(
                "use what is the same in every redelivery and in no other message, like `msg.message_id`; if this is \
                 just that under a misleading name, say so: `trust({})`",
                source_of(self.value),
            );
            self.errors.on(tokens, what, help);
        } else if self.alone {
            let help =
                "all of it together is a key: `key = (msg.topic, msg.partition, msg.offset)`";
            self.errors.on(tokens, what, help);
        }
    }
}

fn is_transparent(name: &Ident) -> bool {
    TRANSPARENT.iter().any(|transparent| name == transparent)
}

fn string(expr: &Expr) -> Option<&LitStr> {
    match peel_expr(expr) {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text),
        _ => None,
    }
}
