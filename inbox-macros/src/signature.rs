//! Parses the function under the attribute; its body stays raw tokens.

use proc_macro2::extra::DelimSpan;
use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt as _};
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, FnArg, PatType, ReturnType, Signature, Token, Type, Visibility};

use crate::diag::Errors;
use crate::tokens::flatten;

/// The function under the attribute.
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: Body,
}

/// Raw tokens, so that half-typed code expands too, and nothing is parsed twice.
pub(crate) enum Body {
    Block {
        braces: DelimSpan,
        statements: TokenStream,
    },
    /// A method that is only declared: `async fn credit(..);`.
    Missing(Token![;]),
}

impl Function {
    /// Reads the item. What is no function, or cannot be read, is reported and answered with `None`.
    pub(crate) fn parse(item: TokenStream, errors: &mut Errors) -> Option<Self> {
        if let Some(other) = start_of_other_item(&item) {
            let what = "`#[idempotent]` belongs on an `async fn`";
            let help = "put it on each function or method that handles a message";
            errors.on(other, what, help);
            return None;
        }
        let parse = |input: ParseStream<'_>| {
            let mut attrs = input.call(Attribute::parse_outer)?;
            let vis = input.parse()?;
            let sig = input.parse()?;
            let body = Body::parse(input, &mut attrs)?;
            Ok(Self {
                attrs,
                vis,
                sig,
                body,
            })
        };
        match parse.parse2(item) {
            Ok(function) => Some(function),
            Err(error) => {
                errors.push(error);
                None
            }
        }
    }

    /// All parameters but `self`, with their positions.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = (usize, &PatType)> {
        let inputs = self.sig.inputs.iter().enumerate();
        inputs.filter_map(|(index, argument)| match argument {
            FnArg::Typed(parameter) => Some((index, parameter)),
            FnArg::Receiver(_) => None,
        })
    }

    /// Whether another attribute ran before and has turned the `async fn` into one that returns a boxed future.
    pub(crate) fn is_boxed(&self) -> bool {
        let output = flatten(self.sig.output.to_token_stream());
        let returns = |name| output.iter().any(|token| token.to_string() == name);
        self.sig.asyncness.is_none() && returns("Pin") && returns("Future")
    }

    /// Whether that was `#[async_trait]`.
    pub(crate) fn is_boxed_by_async_trait(&self) -> bool {
        let mut lifetimes = self.sig.generics.lifetimes();
        self.is_boxed() && lifetimes.any(|lifetime| lifetime.lifetime.ident == "async_trait")
    }

    /// The return type as it was written.
    pub(crate) fn return_type(&self) -> Option<&Type> {
        match &self.sig.output {
            ReturnType::Type(_, ty) => Some(ty),
            ReturnType::Default => None,
        }
    }
}

impl ToTokens for Body {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Block { braces, statements } => {
                let mut block = Group::new(Delimiter::Brace, statements.clone());
                block.set_span(braces.close());
                tokens.append(block);
            }
            Self::Missing(semicolon) => semicolon.to_tokens(tokens),
        }
    }
}

impl Body {
    fn parse(input: ParseStream<'_>, attrs: &mut Vec<Attribute>) -> syn::Result<Self> {
        if let Some(semicolon) = input.parse::<Option<Token![;]>>()? {
            return Ok(Self::Missing(semicolon));
        }
        let content;
        let braces = syn::braced!(content in input);
        // `#![..]` at the top of a body is an attribute of the function; further down it would not be allowed.
        for mut inner in content.call(Attribute::parse_inner)? {
            inner.style = syn::AttrStyle::Outer;
            attrs.push(inner);
        }
        Ok(Self::Block {
            braces: braces.span,
            statements: content.parse()?,
        })
    }
}

/// The first token after attributes, if the item is not a function. (A closure cannot carry our attribute.)
fn start_of_other_item(item: &TokenStream) -> Option<TokenTree> {
    let is_fn = |token: &TokenTree| matches!(token, TokenTree::Ident(ident) if ident == "fn");
    let ends_head = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(punct) => matches!(punct.as_char(), '=' | ':' | ';' | '<' | '!'),
        TokenTree::Ident(_) | TokenTree::Literal(_) => false,
    };
    let attribute = |token: &TokenTree| match token {
        TokenTree::Punct(punct) => punct.as_char() == '#',
        TokenTree::Group(group) => group.delimiter() == Delimiter::Bracket,
        TokenTree::Ident(_) | TokenTree::Literal(_) => false,
    };
    let mut head = item.clone().into_iter().skip_while(attribute);
    let first = head.next()?;
    if is_fn(&first)
        || head
            .take_while(|token| !ends_head(token))
            .any(|token| is_fn(&token))
    {
        None
    } else {
        Some(first)
    }
}

/// Whether an attribute is `#[idempotent]`, by its usual name.
pub(crate) fn is_ours(attribute: &Attribute) -> bool {
    let last = attribute.path().segments.last();
    last.is_some_and(|segment| segment.ident == "idempotent")
}

/// The names a pattern binds, and a few more: everything in it that could be a variable.
pub(crate) fn names_in(parameter: &PatType) -> Vec<Ident> {
    let tokens = flatten(parameter.pat.to_token_stream()).into_iter();
    let names = tokens.filter_map(|token| match token {
        TokenTree::Ident(ident) => Some(ident),
        _ => None,
    });
    names
        .filter(|name| {
            let text = name.to_string();
            text != "mut" && text != "ref" && !text.starts_with(char::is_uppercase)
        })
        .collect()
}
