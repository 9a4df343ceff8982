//! Judges: what is rejected, one rule a function. What passes is a `Handler`, the only thing `expand` ever sees.

use std::time::Duration;

use proc_macro2::extra::DelimSpan;
use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::{Expr, Lit, Pat, Safety, Type, TypeReference};

use crate::args::Args;
use crate::diag::Errors;
use crate::key::{self, Key};
use crate::list::Slot;
use crate::options::{OnUnknown, Options};
use crate::paths::Paths;
use crate::role::{self, Database, First, Mode, Returns, Role, later_connection, pool_in};
use crate::signature::{self, Body, Function, names_in};
use crate::terms::{self, Number};
use crate::tokens::{flatten, names_no_type, peel_expr, source_of};

/// The rules. Their order is the order of the reports.
const RULES: [fn(&Context<'_>, &mut Errors); 19] = [
    the_attribute_is_written_once,
    there_is_a_consumer,
    a_consumer_is_a_usable_name,
    there_is_a_key,
    the_key_identifies_a_message,
    the_terms_fit_together,
    classify_and_record_are_paths,
    options_stay_in_the_function,
    the_function_is_async,
    there_is_no_other_qualifier,
    there_is_a_body,
    the_first_parameter_is_the_connection,
    the_first_parameter_is_the_claim,
    the_first_parameter_has_a_plain_name,
    the_first_parameter_is_unconditional,
    the_first_parameter_has_no_named_lifetime,
    no_parameter_is_a_pool,
    it_returns_a_result,
    the_returned_type_can_be_named,
];

/// As in `inbox_core::MAX_CONSUMER_BYTES`, which a macro crate cannot ask.
const MAX_CONSUMER_BYTES: usize = 200;

/// A handler that cannot be wrong.
pub(crate) struct Handler<'a> {
    pub(crate) paths: Paths,
    pub(crate) function: &'a Function,
    pub(crate) first: First<'a>,
    /// `&Inbox<DB>`, what callers pass in its place.
    pub(crate) inbox_type: TokenStream,
    /// The two-phase mode, if it is that.
    pub(crate) two_phase: Option<TwoPhase<'a>>,
    pub(crate) consumer: &'a Expr,
    pub(crate) key: Key<'a>,
    /// Where the inbox comes from, if callers do not pass it.
    pub(crate) inbox: Option<&'a Expr>,
    /// The return type as it was written, and what it is.
    pub(crate) written: &'a Type,
    pub(crate) returns: Returns,
    pub(crate) statements: &'a TokenStream,
    pub(crate) braces: DelimSpan,
}

/// What two-phase mode needs to know on top.
pub(crate) struct TwoPhase<'a> {
    pub(crate) on_unknown: OnUnknown,
    pub(crate) lease: Option<Number<'a, Duration>>,
    pub(crate) max_attempts: Option<Number<'a, u32>>,
    pub(crate) horizon: Option<Number<'a, Duration>>,
    pub(crate) payload: Option<&'a Expr>,
    pub(crate) classify: Option<&'a Expr>,
    pub(crate) record: Option<&'a Expr>,
}

/// What the rules look at.
struct Context<'a> {
    args: &'a Args,
    function: &'a Function,
    mode: Mode,
    first: Option<First<'a>>,
    returns: Returns,
}

/// Applies all rules; if they hold, puts together what `expand` needs.
pub(crate) fn handler<'a>(
    args: &'a Args,
    function: &'a Function,
    errors: &mut Errors,
) -> Option<Handler<'a>> {
    let mode = Mode::of(args, function);
    let context = Context {
        args,
        function,
        mode,
        first: First::of(function, mode),
        returns: Returns::of(function),
    };
    for rule in RULES {
        rule(&context, errors);
    }
    if !errors.is_empty() {
        return None;
    }
    let Body::Block { braces, statements } = &function.body else {
        return None;
    };
    let first = context.first?;
    let paths = Paths::new(args.krate.value());
    let two_phase = match mode {
        Mode::Transactional => None,
        Mode::TwoPhase => Some(TwoPhase::of(args.two_phase.value()?)?),
    };
    Some(Handler {
        inbox_type: first.inbox_type(&paths)?,
        two_phase,
        paths,
        function,
        first,
        consumer: args.consumer.value()?,
        key: Key::new(args.key.value()?),
        inbox: args.inbox.value(),
        written: function.return_type()?,
        returns: context.returns,
        statements,
        braces: *braces,
    })
}

impl<'a> TwoPhase<'a> {
    fn of(options: &'a Options) -> Option<Self> {
        let duration = |option, slot: &'a Slot<Expr>| {
            let number = slot.value().map(|expr| terms::duration(option, expr));
            number.transpose().ok()
        };
        let attempts = options.max_attempts.value().map(terms::attempts);
        Some(Self {
            on_unknown: options
                .on_unknown
                .value()
                .copied()
                .unwrap_or(OnUnknown::Park),
            lease: duration("lease", &options.lease)?,
            max_attempts: attempts.transpose().ok()?,
            horizon: duration("horizon", &options.horizon)?,
            payload: options.payload.value(),
            classify: options.classify.value(),
            record: options.record.value(),
        })
    }
}

fn the_attribute_is_written_once(context: &Context<'_>, errors: &mut Errors) {
    let what = "`#[idempotent]` is written twice";
    let help =
        "a function handles messages for one consumer: write another function for another consumer";
    for attribute in context
        .function
        .attrs
        .iter()
        .filter(|attribute| signature::is_ours(attribute))
    {
        errors.on(attribute, what, help);
    }
    // Seen from the second one, when the first had another name or came through `cfg_attr`.
    if matches!(context.role(), Some(Role::Expanded)) {
        errors.at(Span::call_site(), what, help);
    }
}

fn there_is_a_consumer(context: &Context<'_>, errors: &mut Errors) {
    if context.args.consumer.is_absent() {
        let help = format!(
            "`consumer = \"{}\"`: it is half of what makes a delivery a duplicate, and outlives a renamed function",
            context.function.sig.ident.unraw(),
        );
        errors.at(Span::call_site(), "missing argument `consumer`", help);
    }
}

fn a_consumer_is_a_usable_name(context: &Context<'_>, errors: &mut Errors) {
    let example = format!("`consumer = \"{}\"`", context.function.sig.ident.unraw());
    let literal = match context.args.consumer.value().map(peel_expr) {
        Some(Expr::Lit(literal)) => literal,
        Some(Expr::Macro(call)) if call.mac.path.is_ident("format") => {
            let what = "the consumer is known before there is a message: a `&'static str`";
            let help =
                format!("{example}, and what differs from message to message belongs in the key");
            return errors.on(call, what, help);
        }
        _ => return,
    };
    let Lit::Str(text) = &literal.lit else {
        errors.on(literal, "the consumer is a string", example);
        return;
    };
    let text = text.value();
    if text.trim().is_empty() {
        errors.on(literal, "the consumer has no name", &example);
    }
    if text.len() > MAX_CONSUMER_BYTES {
        let what = format!(
            "the consumer has {} bytes, the inbox keeps {MAX_CONSUMER_BYTES}",
            text.len()
        );
        errors.on(literal, what, format!("a short name is enough: {example}"));
    }
    if text.chars().any(char::is_control) {
        let what = "the consumer contains control characters";
        errors.on(
            literal,
            what,
            format!("use letters, digits and punctuation: {example}"),
        );
    }
}

fn there_is_a_key(context: &Context<'_>, errors: &mut Errors) {
    if context.args.key.is_absent() {
        errors.at(
            Span::call_site(),
            "missing argument `key`",
            "`key = msg.message_id`: what is the same in every redelivery and in no other message",
        );
    }
}

fn the_key_identifies_a_message(context: &Context<'_>, errors: &mut Errors) {
    let Some(expr) = context.args.key.value() else {
        return;
    };
    // Without parameters there is a greater mistake.
    if context.function.sig.inputs.is_empty() {
        return;
    }
    // Callers do not pass the connection. A first parameter of another kind may well be the message.
    let connection = match &context.first {
        Some(first) if first.is_replaced() => Some(first),
        _ => None,
    };
    let others = context
        .function
        .parameters()
        .filter(|(index, _)| connection.is_none_or(|first| first.index != *index));
    let names: Vec<Ident> = others
        .flat_map(|(_, parameter)| names_in(parameter))
        .collect();
    let connection = connection.and_then(First::name);
    key::check(expr, &names, connection, context.mode.noun(), errors);
}

fn the_terms_fit_together(context: &Context<'_>, errors: &mut Errors) {
    if let Some(options) = context.args.two_phase.value() {
        terms::check(options, errors);
    }
}

fn classify_and_record_are_paths(context: &Context<'_>, errors: &mut Errors) {
    let Some(options) = context.args.two_phase.value() else {
        return;
    };
    let wanted = [
        (
            "classify",
            &options.classify,
            "`classify = effect`, with `fn effect(error: &E) -> Effect`".to_owned(),
        ),
        (
            "record",
            &options.record,
            format!(
                "`record = save`, with `async fn save(tx: &mut {}, value: &T) -> Result<(), E>`",
                context.database().connection(),
            ),
        ),
    ];
    for (option, slot, help) in wanted {
        if let Some(expr) = slot.value()
            && !matches!(peel_expr(expr), Expr::Path(_))
        {
            let what = format!("`{option}` is the name of a function");
            errors.on(expr, what, help);
        }
    }
}

fn options_stay_in_the_function(context: &Context<'_>, errors: &mut Errors) {
    let Some(options) = context.args.two_phase.value() else {
        return;
    };
    let first = context.first.as_ref().filter(|first| first.is_replaced());
    let claim = first.and_then(First::name);
    for (option, expr) in options.values() {
        key::value_stays_in_the_function(option, expr, claim, errors);
    }
}

fn the_function_is_async(context: &Context<'_>, errors: &mut Errors) {
    let sig = &context.function.sig;
    if sig.asyncness.is_some() {
        return;
    }
    if context.function.is_boxed_by_async_trait() {
        errors.at(
            Span::call_site(),
            "`#[async_trait]` has already boxed this method, there is no body left to guard",
            format!(
                "declare in the trait what callers see, `inbox: &{}` and `Result<Outcome<T>, E>`, and delegate to a \
                 method with `#[idempotent]` in an `impl` block without `#[async_trait]`",
                context.database().inbox(),
            ),
        );
    } else if context.is_boxed() {
        let what = "the future is already boxed, there is no body left to guard";
        let help = "write an `async fn`, and `#[idempotent]` above an attribute that boxes it";
        errors.on(sig.fn_token, what, help);
    } else {
        let help = format!("`async fn {}`", sig.ident);
        errors.on(sig.fn_token, "a handler is `async`", help);
    }
}

fn there_is_no_other_qualifier(context: &Context<'_>, errors: &mut Errors) {
    let sig = &context.function.sig;
    let help = format!("`async fn {}`", sig.ident);
    if let Some(constness) = &sig.constness {
        errors.on(constness, "a handler cannot be `const`", &help);
    }
    if let Safety::Unsafe(token) = &sig.safety {
        errors.on(token, "a handler cannot be `unsafe`", &help);
    }
    if let Some(abi) = &sig.abi {
        errors.on(abi, "a handler cannot be `extern`", &help);
    }
    if let Some(variadic) = &sig.variadic {
        errors.on(variadic, "a handler cannot be variadic", "pass a slice");
    }
}

fn there_is_a_body(context: &Context<'_>, errors: &mut Errors) {
    if let Body::Missing(semicolon) = &context.function.body {
        errors.on(
            semicolon,
            "there is no body to guard",
            format!(
                "declare in the trait what callers see, `inbox: &{}` and `Result<Outcome<T>, E>`, and put \
                 `#[idempotent]` on the method in the `impl` block",
                context.database().inbox(),
            ),
        );
    }
}

const NO_CONNECTION: &str = "the first parameter must be the connection that the handler works on";

const OTHERS: &str = "(or `MySqlConnection`, `SqliteConnection`)";

fn the_first_parameter_is_the_connection(context: &Context<'_>, errors: &mut Errors) {
    if context.is_boxed() || context.mode != Mode::Transactional {
        return;
    }
    let Some(first) = &context.first else {
        let help = format!(
            "`async fn {}(tx: &mut PgConnection, msg: &Message)` {OTHERS}; callers pass the inbox in its place",
            context.function.sig.ident,
        );
        errors.at(
            context.function.sig.paren_token.span.join(),
            NO_CONNECTION,
            help,
        );
        return;
    };
    let wanted = format!("`tx: &mut {}`", first.database().connection());
    let ty = &first.parameter.ty;
    match &first.role {
        Role::Connection { .. } | Role::Borrowed { .. } | Role::Expanded => {}
        Role::NotMutable { .. } => {
            errors.on(ty, "the connection is handed out as `&mut`", wanted);
        }
        Role::Transaction { .. } => errors.on(
            ty,
            "a handler does not own the transaction: the inbox commits it, together with the marker of the message",
            format!("{wanted}, on which `begin()` still opens a nested one"),
        ),
        Role::PoolConnection { .. } => errors.on(
            ty,
            "the inbox hands out the connection of its transaction, not one of the pool",
            wanted,
        ),
        Role::Pool { .. } => errors.on(ty, POOL, format!("{wanted}, and run the statements on `&mut *tx`")),
        Role::Claim { .. } => errors.on(
            ty,
            "a claim is what a handler in two-phase mode gets",
            format!("add `two_phase` to the attribute; or, to work in one transaction, {wanted}"),
        ),
        Role::Inbox => errors.on(
            ty,
            "the inbox is what callers pass; the handler gets the connection in its place",
            wanted,
        ),
        Role::Unknown => {
            if let Some(later) = later_connection(context.function) {
                let what = "the connection must be the first parameter";
                let help = "move it to the front; callers pass the inbox in its place";
                errors.on(later, what, help);
            } else {
                let wanted = if first.names_a_database() {
                    wanted
                } else {
                    format!("{wanted} {OTHERS}")
                };
                let before = format!("put {wanted} before it");
                let wanted = if first.is_an_executor() { wanted } else { before };
                let help = format!("{wanted}; callers pass the inbox in its place");
                errors.on(first.parameter, NO_CONNECTION, help);
            }
        }
    }
}

fn the_first_parameter_is_the_claim(context: &Context<'_>, errors: &mut Errors) {
    if context.is_boxed() || context.mode != Mode::TwoPhase {
        return;
    }
    let database = context.database();
    let wanted = context.wanted();
    let what = "the first parameter must be the claim that the handler works under";
    let Some(first) = &context.first else {
        let help = format!(
            "`async fn {}(claim: &Claim<{}>, ..)`: callers pass `&{}` in its place",
            context.function.sig.ident,
            database.name(),
            database.inbox(),
        );
        errors.at(context.function.sig.paren_token.span.join(), what, help);
        return;
    };
    let ty = &first.parameter.ty;
    match &first.role {
        Role::Claim { .. }
            if first
                .reference()
                .is_none_or(|reference| reference.mutability.is_some()) =>
        {
            errors.on(ty, "the claim is lent as `&`", wanted);
        }
        Role::Claim {
            database: Some(given),
        } if role::is_connection(given) => errors.on(
            given,
            "a claim has a database, not a connection",
            format!("`&Claim<{}>`", database.name()),
        ),
        Role::Claim { database: Some(_) } | Role::Expanded => {}
        Role::Claim { database: None } => {
            errors.on(
                ty,
                "the claim does not say which database it is from",
                wanted,
            );
        }
        Role::Connection { .. }
        | Role::Borrowed { .. }
        | Role::NotMutable { .. }
        | Role::Transaction { .. }
        | Role::PoolConnection { .. } => errors.on(
            ty,
            "in two-phase mode the body runs outside of any transaction, and gets the claim",
            format!("{wanted}, or remove `two_phase` to work in one transaction"),
        ),
        Role::Inbox => errors.on(
            ty,
            "the inbox is what callers pass; the handler gets the claim in its place",
            wanted,
        ),
        Role::Pool { .. } | Role::Unknown => {
            if let Some(later) = role::later_claim(context.function) {
                let what = "the claim must be the first parameter";
                let help = "move it to the front; callers pass the inbox in its place";
                errors.on(later, what, help);
            } else {
                let help = format!("put {wanted} before it; callers pass the inbox in its place");
                errors.on(first.parameter, what, help);
            }
        }
    }
}

const POOL: &str = "what runs on a pool commits on its own, even if the message is rolled back";

fn the_first_parameter_has_a_plain_name(context: &Context<'_>, errors: &mut Errors) {
    let Some(first) = context.first.as_ref().filter(|first| first.is_replaced()) else {
        return;
    };
    let plain = match &*first.parameter.pat {
        Pat::Ident(name) => name.by_ref.is_none() && name.subpat.is_none(),
        Pat::Wild(_) => true,
        _ => false,
    };
    if !plain {
        let what = format!("the {} needs a plain name", context.mode.noun());
        errors.on(&first.parameter.pat, what, context.wanted());
    }
}

fn the_first_parameter_is_unconditional(context: &Context<'_>, errors: &mut Errors) {
    let Some(first) = &context.first else {
        return;
    };
    let conditions = first
        .parameter
        .attrs
        .iter()
        .filter(|attr| attr.path().is_ident("cfg"));
    for condition in conditions {
        errors.on(
            condition,
            "the first parameter cannot be conditional",
            "write two functions, each with its `#[cfg(..)]`",
        );
    }
}

fn the_first_parameter_has_no_named_lifetime(context: &Context<'_>, errors: &mut Errors) {
    let Some(first) = &context.first else {
        return;
    };
    if context.is_boxed() {
        return;
    }
    let (noun, lifetime, wanted) = match &first.role {
        Role::Borrowed {
            connection,
            lifetime,
        } if context.mode == Mode::Transactional => {
            let wanted = format!("`&mut {}`", source_of(connection));
            ("connection", lifetime, wanted)
        }
        Role::Claim { .. } if context.mode == Mode::TwoPhase => match first.reference() {
            Some(TypeReference {
                lifetime: Some(lifetime),
                elem,
                ..
            }) if lifetime.ident != "_" => ("claim", lifetime, format!("`&{}`", source_of(elem))),
            _ => return,
        },
        _ => return,
    };
    let what = format!("the {noun} lives as long as the body, not for `{lifetime}`");
    errors.on(lifetime, what, wanted);
}

fn no_parameter_is_a_pool(context: &Context<'_>, errors: &mut Errors) {
    // An effect outside of the transaction is what the two-phase mode is for.
    if context.mode != Mode::Transactional {
        return;
    }
    for (index, parameter) in context.function.parameters() {
        // The first one has its own message.
        if context
            .first
            .as_ref()
            .is_some_and(|first| first.index == index)
        {
            continue;
        }
        if pool_in(&parameter.ty).is_some() {
            let help = "remove it and run the statements on the connection, the first parameter";
            errors.on(&parameter.ty, POOL, help);
        }
    }
}

fn it_returns_a_result(context: &Context<'_>, errors: &mut Errors) {
    let what = "a handler returns a `Result`: `Ok` acknowledges the message, `Err` does not";
    let sig = &context.function.sig;
    match (&context.returns, context.function.return_type()) {
        (Returns::Other, _) if context.is_boxed() => {}
        (Returns::Other, None) => {
            let help = format!("`async fn {}(..) -> Result<(), Error>`", sig.ident);
            errors.at(sig.paren_token.span.close(), what, help);
        }
        (Returns::Other, Some(ty)) if names_no_type(ty) => {
            errors.on(ty, what, "`Result<T, Error>`");
        }
        (Returns::Other, Some(ty)) => {
            errors.on(ty, what, format!("`Result<{}, Error>`", source_of(ty)));
        }
        (Returns::Literal { .. } | Returns::Alias, _) => {}
    }
}

fn the_returned_type_can_be_named(context: &Context<'_>, errors: &mut Errors) {
    if matches!(context.returns, Returns::Other) {
        return;
    }
    let output = context
        .function
        .return_type()
        .map(ToTokens::to_token_stream);
    let tokens = output.into_iter().flat_map(flatten);
    for token in tokens.filter(|token| token.to_string() == "impl") {
        let what = "the returned type needs a name, which `impl Trait` has not";
        let help = "write the type itself, or `Box<dyn Trait + Send>`";
        errors.on(token, what, help);
    }
}

impl Context<'_> {
    fn role(&self) -> Option<&Role> {
        self.first.as_ref().map(|first| &first.role)
    }

    /// The database to name in a message.
    fn database(&self) -> Database {
        self.first
            .as_ref()
            .map_or(Database::Postgres, First::database)
    }

    /// The first parameter as it should be, in back-quotes.
    fn wanted(&self) -> String {
        match self.mode {
            Mode::Transactional => format!("`tx: &mut {}`", self.database().connection()),
            Mode::TwoPhase => format!("`claim: &Claim<{}>`", self.database().name()),
        }
    }

    /// Whether another attribute ran before, so that the signature is not the user's.
    fn is_boxed(&self) -> bool {
        self.function.is_boxed()
    }
}
