//! Parses the options of `two_phase(..)`.

use proc_macro2::Ident;
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::{Expr, LitStr, parenthesized};

use crate::diag::Errors;
use crate::list::{self, List, Slot, Words};

/// The options as they were written.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) on_unknown: Slot<OnUnknown>,
    pub(crate) classify: Slot<Expr>,
    pub(crate) lease: Slot<Expr>,
    pub(crate) max_attempts: Slot<Expr>,
    pub(crate) horizon: Slot<Expr>,
    pub(crate) payload: Slot<Expr>,
    pub(crate) record: Slot<Expr>,
    /// Arguments of the attribute that stand here.
    pub(crate) misplaced: Vec<String>,
}

/// What is done about an attempt whose outcome nobody knows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnUnknown {
    Park,
    Retry,
}

impl Parse for OnUnknown {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        const HELP: &str = "`on_unknown = park` repeats nothing and asks a person, `on_unknown = retry` calls again, with \
                            the same idempotency key";
        if let Some(quoted) = input.parse::<Option<LitStr>>()? {
            let message = format!("the value is written without quotes\n= help: {HELP}");
            return Err(syn::Error::new(quoted.span(), message));
        }
        let Ok(word) = input.call(Ident::parse_any) else {
            let message = format!("`on_unknown` is `park` or `retry`\n= help: {HELP}");
            return Err(input.error(message));
        };
        match word.unraw().to_string().as_str() {
            "park" => Ok(Self::Park),
            "retry" => Ok(Self::Retry),
            other => {
                let message = format!("unknown value `{other}`\n= help: {HELP}");
                Err(syn::Error::new(word.span(), message))
            }
        }
    }
}

impl Options {
    /// Reads the parentheses, if there are any.
    pub(crate) fn parse(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Self> {
        let mut options = Self::default();
        if input.peek(syn::token::Paren) {
            let content;
            parenthesized!(content in input);
            list::parse(&mut options, &content, errors)?;
        }
        Ok(options)
    }
}

impl Options {
    /// The options that are values, for rules that all of them have in common.
    pub(crate) fn values(&self) -> impl Iterator<Item = (&'static str, &Expr)> {
        let values = [
            ("lease", &self.lease),
            ("max_attempts", &self.max_attempts),
            ("horizon", &self.horizon),
            ("payload", &self.payload),
        ];
        values
            .into_iter()
            .filter_map(move |(option, slot)| slot.value().map(|expr| (option, expr)))
    }
}

impl List for Options {
    const NOUN: &'static str = "option";
    const WORDS: Words = Words(&[
        ("on_unknown", "on_unknown = retry"),
        ("classify", "classify = MailError::effect"),
        ("lease", "lease = \"30s\""),
        ("max_attempts", "max_attempts = 5"),
        ("horizon", "horizon = \"12h\""),
        ("payload", "payload = msg"),
        ("record", "record = save"),
    ]);

    fn known(&mut self, known: &str, name: &Ident, input: ParseStream<'_>, errors: &mut Errors) {
        let words = Self::WORDS;
        match known {
            "on_unknown" => words.assignment(known, name, input, &mut self.on_unknown, errors),
            "classify" => words.assignment(known, name, input, &mut self.classify, errors),
            "lease" => words.assignment(known, name, input, &mut self.lease, errors),
            "max_attempts" => words.assignment(known, name, input, &mut self.max_attempts, errors),
            "horizon" => words.assignment(known, name, input, &mut self.horizon, errors),
            "payload" => words.assignment(known, name, input, &mut self.payload, errors),
            _ => words.assignment(known, name, input, &mut self.record, errors),
        }
    }

    fn misplaced(&mut self, text: &str, name: &Ident, errors: &mut Errors) -> bool {
        if matches!(text, "park" | "retry") {
            let what = format!("`{text}` is a value of `on_unknown`");
            errors.on(name, what, format!("`two_phase(on_unknown = {text})`"));
            return true;
        }
        let Some(example) = crate::args::WORDS.example(text) else {
            return false;
        };
        self.misplaced.push(text.to_owned());
        let what = format!("`{text}` is no option of the two-phase mode");
        errors.on(name, what, format!("`{example}, two_phase(..)`"));
        true
    }
}
