//! Parses the arguments of the attribute, each with the name that introduced it.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::ext::IdentExt as _;
use syn::parse::discouraged::Speculative as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::{Expr, LitStr, Path, Token};

use crate::diag::Errors;

/// What the attribute understands, in the order of the documentation, with an example of each.
const KNOWN: [(&str, &str); 4] = [
    ("consumer", "consumer = \"credit\""),
    ("key", "key = msg.message_id"),
    ("inbox", "inbox = self.inbox"),
    ("crate", "crate = my_crate::inbox_sqlx"),
];

/// The arguments as they were written.
#[derive(Default)]
pub(crate) struct Args {
    pub(crate) consumer: Slot<Expr>,
    pub(crate) key: Slot<Expr>,
    pub(crate) inbox: Slot<Expr>,
    pub(crate) krate: Slot<CratePath>,
}

/// An argument that is there at most once.
#[derive(Default)]
pub(crate) enum Slot<T> {
    #[default]
    Absent,
    /// It is there, but its value could not be read, which has been reported.
    Unreadable,
    Given(T),
}

impl<T> Slot<T> {
    pub(crate) fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    pub(crate) fn value(&self) -> Option<&T> {
        match self {
            Self::Given(value) => Some(value),
            Self::Absent | Self::Unreadable => None,
        }
    }
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
    /// Reads all arguments; a mistake in one does not hide the others.
    pub(crate) fn parse(attribute: TokenStream, errors: &mut Errors) -> Self {
        let mut args = Self::default();
        let parser = |input: ParseStream<'_>| {
            while !input.is_empty() {
                args.argument(input, errors);
                if input.is_empty() {
                    break;
                }
                if input.parse::<Option<Token![,]>>()?.is_none() {
                    let what = "expected `,` before this";
                    let help = "arguments are separated by commas";
                    if at_known_argument(input) {
                        errors.at(input.span(), what, help);
                    } else {
                        errors.on(skip_to_next_argument(input), what, help);
                        input.parse::<Option<Token![,]>>()?;
                    }
                }
            }
            Ok(())
        };
        if let Err(error) = parser.parse2(attribute) {
            errors.push(error);
        }
        args
    }

    /// Whether the inbox comes from `inbox = ..`, so that callers do not pass it.
    pub(crate) fn takes_inbox(&self) -> bool {
        !self.inbox.is_absent()
    }

    fn argument(&mut self, input: ParseStream<'_>, errors: &mut Errors) {
        let Ok(name) = input.call(Ident::parse_any) else {
            let help = format!("expected one of {}", known_arguments());
            errors.on(
                skip_to_next_argument(input),
                "this is not an argument",
                help,
            );
            return;
        };
        let text = name.unraw().to_string();
        if KNOWN.iter().any(|(known, _)| *known == text) {
            return self.known(&text, &name, input, errors);
        }
        if let Some((similar, example)) = did_you_mean(&text) {
            let what = format!("unknown argument `{text}`");
            errors.on(&name, what, format!("did you mean `{example}`?"));
            // Understood as what was meant: it shall not be reported as missing on top.
            return self.known(similar, &name, input, errors);
        }
        errors.on(
            &name,
            format!("unknown argument `{text}`"),
            format!("expected one of {}", known_arguments()),
        );
        skip_value(input);
    }

    fn known(&mut self, known: &str, name: &Ident, input: ParseStream<'_>, errors: &mut Errors) {
        match known {
            "consumer" => assignment(known, name, input, &mut self.consumer, errors),
            "key" => assignment(known, name, input, &mut self.key, errors),
            "inbox" => assignment(known, name, input, &mut self.inbox, errors),
            _ => assignment(known, name, input, &mut self.krate, errors),
        }
    }
}

/// `name = VALUE`, once: the one place for what all arguments have in common.
fn assignment<T: Parse>(
    known: &str,
    name: &Ident,
    input: ParseStream<'_>,
    slot: &mut Slot<T>,
    errors: &mut Errors,
) {
    if !slot.is_absent() {
        let what = format!("`{known}` is given twice");
        errors.on(name, what, "keep the one you mean");
        skip_value(input);
        return;
    }
    *slot = Slot::Unreadable;
    let help = format!("`{}`", example(known));
    let assigns = input.peek(Token![=]) && !input.peek(Token![==]);
    if !assigns || input.parse::<Token![=]>().is_err() || input.is_empty() || input.peek(Token![,])
    {
        // What stands there instead is part of the same mistake.
        skip_to_next_argument(input);
        errors.on(name, format!("`{known}` needs a value"), help);
        return;
    }
    // On a fork, so that a value that cannot be read is skipped, and marked, as a whole.
    let ahead = input.fork();
    match ahead.parse() {
        Ok(value) => {
            input.advance_to(&ahead);
            *slot = Slot::Given(value);
        }
        Err(error) => {
            let skipped = skip_to_next_argument(input);
            if error.to_string().contains("= help: ") {
                errors.push(error);
            } else {
                let what = format!("the value of `{known}` cannot be read: {error}");
                errors.on(skipped, what, help);
            }
        }
    }
}

/// Passes over the value of an argument that is not wanted.
fn skip_value(input: ParseStream<'_>) {
    let ahead = input.fork();
    let read = ahead.parse::<Token![=]>().is_ok() && ahead.parse::<Expr>().is_ok();
    if read && (ahead.is_empty() || ahead.peek(Token![,])) {
        input.advance_to(&ahead);
    } else {
        skip_to_next_argument(input);
    }
}

/// Passes over everything up to the comma before the next argument. A comma alone does not end an expression that
/// cannot be parsed: `key = id::<A, B>(` has one inside.
fn skip_to_next_argument(input: ParseStream<'_>) -> TokenStream {
    let mut skipped = TokenStream::new();
    while !at_next_argument(input)
        && let Ok(token) = input.parse::<TokenTree>()
    {
        skipped.extend([token]);
    }
    skipped
}

fn at_next_argument(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    if ahead.parse::<Token![,]>().is_err() {
        return false;
    }
    if ahead.is_empty() || at_known_argument(&ahead) {
        return true;
    }
    if ahead.call(Ident::parse_any).is_err() {
        return false;
    }
    let assigns = ahead.peek(Token![=]) && !ahead.peek(Token![==]) && !ahead.peek(Token![=>]);
    ahead.is_empty() || assigns || ahead.peek(Token![,]) || ahead.peek(syn::token::Paren)
}

fn at_known_argument(input: ParseStream<'_>) -> bool {
    let name = input.fork().call(Ident::parse_any);
    name.is_ok_and(|name| KNOWN.iter().any(|(known, _)| name == known))
}

fn known_arguments() -> String {
    let names: Vec<String> = KNOWN.iter().map(|(name, _)| format!("`{name}`")).collect();
    names.join(", ")
}

fn example(known: &str) -> &'static str {
    KNOWN
        .iter()
        .find(|(name, _)| *name == known)
        .map_or("", |(_, example)| example)
}

/// The known argument that a misspelling most likely stands for.
fn did_you_mean(text: &str) -> Option<(&'static str, &'static str)> {
    KNOWN
        .into_iter()
        .map(|(name, example)| (difference(text, name), name, example))
        .filter(|(distance, name, _)| *distance <= name.len() / 3)
        .min_by_key(|(distance, ..)| *distance)
        .map(|(_, name, example)| (name, example))
}

/// Letters in the wrong order count as one mistake.
fn difference(text: &str, name: &str) -> usize {
    let sorted = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        letters
    };
    if text != name && sorted(text) == sorted(name) {
        1
    } else {
        distance(text, name)
    }
}

/// How many letters must be inserted, removed or replaced to get from one word to the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (line, letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::{did_you_mean, distance};

    #[test]
    fn a_misspelling_is_recognised() {
        for misspelt in ["costumer", "consmer", "Consumer", "consumers", "consummer"] {
            assert_eq!(
                did_you_mean(misspelt).map(|m| m.0),
                Some("consumer"),
                "{misspelt}"
            );
        }
        assert_eq!(did_you_mean("kye").map(|m| m.0), Some("key"));
        assert_eq!(did_you_mean("ok").map(|m| m.0), None);
        assert_eq!(did_you_mean("keys").map(|m| m.0), Some("key"));
        assert_eq!(did_you_mean("two_phase").map(|m| m.0), None);
        assert_eq!(did_you_mean("replay").map(|m| m.0), None);
    }

    #[test]
    fn distances_are_those_of_levenshtein() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("same", "same"), 0);
    }
}
