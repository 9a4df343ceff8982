//! What is emitted when something is wrong: the mistakes, and a function that callers and editors can go on with.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::{Expr, Safety, Signature, Token};

use crate::args::Args;
use crate::diag::Errors;
use crate::expand::{caller, pin};
use crate::key::{self, Key};
use crate::paths::{Paths, at};
use crate::role::{First, Mode, Returns, Role};
use crate::signature::{self, Body, Function};
use crate::tokens::{names_no_type, start_of, variables_in};

/// An item that is no function stays what it is.
pub(crate) fn item(item: &TokenStream, errors: Errors) -> TokenStream {
    let errors = errors.into_compile_errors();
    quote!(#errors #item)
}

/// ```text
/// Input:  async fn credit(tx: &mut PgConnection, msg: &Credit) -> Result<Balance, CreditError> { BODY }
/// Output: async fn credit(tx: &InboxOf<PgConnection>, msg: &Credit) -> Result<Outcome<Balance>, CreditError> {
///     let _ = &tx;
///     let _ = || { let _ = &(KEY); };
///     let result = async move {
///         let tx: &mut PgConnection = typed::<&mut PgConnection>();
///         if false { return typed::<Result<Balance, CreditError>>(); }
///         BODY
///     }.await;
///     match result { Ok(value) => Ok(Outcome::Processed(value)), Err(error) => Err(error) }
/// }
/// ```
///
/// Callers see what they will see when the mistakes are mended. The body is there, so that nothing that is used in it
/// looks unused, and its own mistakes are reported too. It is never run.
pub(crate) fn function(args: &Args, function: &Function, errors: Errors) -> TokenStream {
    let errors = errors.into_compile_errors();
    let attrs = function.attrs.iter();
    let attrs = attrs.filter(|attribute| !signature::is_ours(attribute));
    let vis = &function.vis;
    let (sig, body) = match First::of(function, Mode::of(args, function)) {
        // Another macro, or this one, has written the function; callers expect it as it is.
        Some(First {
            role: Role::Expanded,
            ..
        }) => untouched(function),
        _ if function.is_boxed() => untouched(function),
        first => guessed(args, function, first.filter(First::is_replaced).as_ref()),
    };
    quote!(#errors #(#attrs)* #vis #sig #body)
}

fn untouched(function: &Function) -> (Signature, TokenStream) {
    (function.sig.clone(), function.body.to_token_stream())
}

fn guessed(
    args: &Args,
    function: &Function,
    first: Option<&First<'_>>,
) -> (Signature, TokenStream) {
    let paths = Paths::new(args.krate.value());
    let returns = match Returns::of(function) {
        _ if names_no_type(&function.sig.output) => Returns::Other,
        returns => returns,
    };
    let mut sig = caller::signature(function, first, &returns, args.takes_inbox(), &paths);
    sig.constness = None;
    sig.safety = Safety::Default;
    sig.abi = None;
    sig.variadic = None;
    if !matches!(returns, Returns::Other) && sig.asyncness.is_none() {
        sig.asyncness = Some(Token![async](sig.fn_token.span));
    }
    let body = match &function.body {
        Body::Block { statements, .. } => {
            let used = used(args, function, first);
            let ran = ran(function, first, &returns, statements, &paths);
            quote!({ #used #ran })
        }
        Body::Missing(semicolon) => semicolon.to_token_stream(),
    };
    (sig, body)
}

/// Statements that use what the attribute and its generated code would use.
fn used(args: &Args, function: &Function, first: Option<&First<'_>>) -> TokenStream {
    let here = Span::mixed_site();
    let inbox = first
        .filter(|_| !args.takes_inbox())
        .map(caller::inbox_name);
    let inbox = inbox.map(|inbox| quote_spanned!(here=> let _ = &#inbox;));
    let no_parameters = function.sig.inputs.is_empty();
    let mut exprs: Vec<&Expr> = args.consumer.value().into_iter().collect();
    exprs.extend(args.inbox.value());
    let options = args.two_phase.value().into_iter();
    exprs.extend(options.flat_map(|options| options.values().map(|(_, expr)| expr)));
    match args.key.value().map(Key::new) {
        // There is nothing it could be taken from.
        _ if no_parameters => {}
        Some(Key::Single(expr)) => exprs.push(expr),
        Some(Key::Tuple(parts)) => exprs.extend(parts),
        None => {}
    }
    exprs.retain(|expr| can_stand_in_the_function(expr, first));
    quote_spanned!(here=> #inbox #(let _ = || { let _ = &(#exprs); };)*)
}

/// An expression that is the mistake itself would only be reported again.
fn can_stand_in_the_function(expr: &Expr, first: Option<&First<'_>>) -> bool {
    let mut errors = Errors::default();
    key::stays_in_the_function(expr, &mut errors);
    let connection = first.and_then(First::name);
    errors.is_empty() && connection.is_none_or(|name| !variables_in(expr).contains(name))
}

/// The body of the user, with what it is handed.
fn ran(
    function: &Function,
    first: Option<&First<'_>>,
    returns: &Returns,
    statements: &TokenStream,
    paths: &Paths,
) -> TokenStream {
    let here = Span::mixed_site();
    let bind = first.map(|first| {
        let (attrs, pat) = (&first.parameter.attrs, &first.parameter.pat);
        let ty = first.handed_type(paths);
        let at = at(start_of(pat));
        let typed = paths.private("typed", at);
        quote_spanned!(at=> #(#attrs)* let #pat: #ty = #typed::<#ty>();)
    });
    let returns_result = !matches!(returns, Returns::Other);
    let Some(written) = function.return_type().filter(|_| returns_result) else {
        return quote!(#bind #statements);
    };
    let pin = pin(written, paths);
    let outcome = paths.public("Outcome", here);
    quote_spanned! {here=>
        let result = async move { #bind #pin #statements }.await;
        match result {
            ::core::result::Result::Ok(value) => {
                ::core::result::Result::Ok(#outcome::Processed(value))
            }
            ::core::result::Result::Err(error) => ::core::result::Result::Err(error),
        }
    }
}
