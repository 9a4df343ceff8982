//! Parses the arguments of the attribute, each with the name that introduced it.

use proc_macro2::{Ident, TokenStream};
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::{Expr, LitStr, Path, Token};

use crate::diag::Errors;
use crate::list::{self, List, Slot, Words};
use crate::options::Options;

/// What the attribute understands.
pub(crate) const WORDS: Words = Words(&[
    ("consumer", "consumer = \"credit\""),
    ("key", "key = msg.message_id"),
    ("two_phase", "two_phase"),
    ("inbox", "inbox = self.inbox"),
    ("crate", "crate = my_crate::inbox_sqlx"),
]);

/// The arguments as they were written.
#[derive(Default)]
pub(crate) struct Args {
    pub(crate) consumer: Slot<Expr>,
    pub(crate) key: Slot<Expr>,
    pub(crate) two_phase: Slot<Options>,
    pub(crate) inbox: Slot<Expr>,
    pub(crate) krate: Slot<CratePath>,
    /// Whether an option of `two_phase(..)` stands outside of it.
    pub(crate) has_stray_option: bool,
}

/// The value of `crate = PATH`.
pub(crate) struct CratePath(pub(crate) Path);

impl Parse for CratePath {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if let Some(quoted) = input.parse::<Option<LitStr>>()? {
            let message = format!(
                "the path is written without quotes\n= help: `crate = {}`",
                quoted.value()
            );
            return Err(syn::Error::new(quoted.span(), message));
        }
        input.call(Path::parse_mod_style).map(Self)
    }
}

impl Args {
    /// Reads all arguments.
    pub(crate) fn parse(attribute: TokenStream, errors: &mut Errors) -> Self {
        let mut args = Self::default();
        let parser = |input: ParseStream<'_>| list::parse(&mut args, input, errors);
        if let Err(error) = parser.parse2(attribute) {
            errors.push(error);
        }
        args
    }

    /// Whether the inbox comes from `inbox = ..`, so that callers do not pass it.
    pub(crate) fn takes_inbox(&self) -> bool {
        !self.inbox.is_absent()
    }

    /// `two_phase`, or `two_phase(..)`.
    fn two_phase(&mut self, name: &Ident, input: ParseStream<'_>, errors: &mut Errors) {
        if !self.two_phase.is_absent() {
            return WORDS.twice("two_phase", name, input, errors);
        }
        if input.is_empty() || input.peek(Token![,]) || input.peek(syn::token::Paren) {
            match Options::parse(input, errors) {
                Ok(options) => {
                    // They are there, and shall not be reported as missing on top.
                    for misplaced in &options.misplaced {
                        match misplaced.as_str() {
                            "consumer" => self.consumer.is_there(),
                            "key" => self.key.is_there(),
                            "inbox" => self.inbox.is_there(),
                            _ => {}
                        }
                    }
                    self.two_phase = Slot::Given(options);
                }
                Err(error) => errors.push(error),
            }
            return;
        }
        self.two_phase = Slot::Unreadable;
        WORDS.skip_to_next(input);
        let help = "`two_phase`, or `two_phase(on_unknown = retry)`";
        errors.on(name, "`two_phase` takes its options in parentheses", help);
    }
}

impl List for Args {
    const NOUN: &'static str = "argument";
    const WORDS: Words = WORDS;

    fn known(&mut self, known: &str, name: &Ident, input: ParseStream<'_>, errors: &mut Errors) {
        match known {
            "consumer" => WORDS.assignment(known, name, input, &mut self.consumer, errors),
            "key" => WORDS.assignment(known, name, input, &mut self.key, errors),
            "two_phase" => self.two_phase(name, input, errors),
            "inbox" => WORDS.assignment(known, name, input, &mut self.inbox, errors),
            _ => WORDS.assignment(known, name, input, &mut self.krate, errors),
        }
    }

    fn misplaced(&mut self, text: &str, name: &Ident, errors: &mut Errors) -> bool {
        let Some(example) = Options::WORDS.example(text) else {
            return false;
        };
        self.has_stray_option = true;
        let what = format!("`{text}` is an option of the two-phase mode");
        errors.on(name, what, format!("`two_phase({example})`"));
        true
    }

    fn nameless(&mut self, value: &TokenStream) -> Option<String> {
        let name = syn::parse2::<LitStr>(value.clone()).ok();
        let name = name.filter(|_| self.consumer.is_absent())?;
        self.consumer = Slot::Unreadable;
        Some(format!("`consumer = {}`", name.token()))
    }
}

#[cfg(test)]
mod tests {
    use super::WORDS;

    #[test]
    fn a_misspelling_is_recognised() {
        let meant = |text| WORDS.similar_to(text).map(|(name, _)| name);
        for misspelt in ["costumer", "consmer", "Consumer", "consumers", "consummer"] {
            assert_eq!(meant(misspelt), Some("consumer"), "{misspelt}");
        }
        assert_eq!(meant("kye"), Some("key"));
        assert_eq!(meant("ok"), None);
        assert_eq!(meant("keys"), Some("key"));
        assert_eq!(meant("twophase"), Some("two_phase"));
        assert_eq!(meant("replay"), None);
    }
}
