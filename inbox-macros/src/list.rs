//! Parses a list of arguments by their names, each at most once; a mistake in one does not hide the others.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::ext::IdentExt as _;
use syn::parse::discouraged::Speculative as _;
use syn::parse::{Parse, ParseStream};
use syn::{Expr, Token};

use crate::diag::Errors;

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

    /// Remembers that it is there, although somewhere else.
    pub(crate) fn is_there(&mut self) {
        if self.is_absent() {
            *self = Self::Unreadable;
        }
    }

    pub(crate) fn value(&self) -> Option<&T> {
        match self {
            Self::Given(value) => Some(value),
            Self::Absent | Self::Unreadable => None,
        }
    }
}

/// What a list understands, in the order of the documentation, with an example of each.
#[derive(Clone, Copy)]
pub(crate) struct Words(pub(crate) &'static [(&'static str, &'static str)]);

/// A list of arguments.
pub(crate) trait List {
    /// What one of them is called: `argument`, `option`.
    const NOUN: &'static str;
    const WORDS: Words;

    /// Reads what follows the name of a known argument.
    fn known(&mut self, known: &str, name: &Ident, input: ParseStream<'_>, errors: &mut Errors);

    /// Reports a word that means something elsewhere, and says whether it did.
    fn misplaced(&mut self, text: &str, name: &Ident, errors: &mut Errors) -> bool;

    /// Tells which argument is meant by a value without a name, and takes it for given.
    fn nameless(&mut self, _value: &TokenStream) -> Option<String> {
        None
    }
}

/// Reads all arguments up to the end of the input.
pub(crate) fn parse(
    list: &mut impl List,
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<()> {
    while !input.is_empty() {
        argument(list, input, errors);
        if input.is_empty() {
            break;
        }
        if input.parse::<Option<Token![,]>>()?.is_none() {
            let words = words_of(list);
            let what = "expected `,` before this";
            let help = "arguments are separated by commas";
            if words.are_ahead(input) {
                errors.at(input.span(), what, help);
            } else {
                errors.on(words.skip_to_next(input), what, help);
                input.parse::<Option<Token![,]>>()?;
            }
        }
    }
    Ok(())
}

fn words_of<L: List>(_: &L) -> Words {
    L::WORDS
}

fn argument<L: List>(list: &mut L, input: ParseStream<'_>, errors: &mut Errors) {
    let (noun, words) = (L::NOUN, L::WORDS);
    let Ok(name) = input.call(Ident::parse_any) else {
        let article = if noun.starts_with(['a', 'o']) {
            "an"
        } else {
            "a"
        };
        let what = format!("this is not {article} {noun}");
        let value = words.skip_to_next(input);
        let help = list
            .nameless(&value)
            .unwrap_or_else(|| format!("expected one of {}", words.names()));
        errors.on(value, what, help);
        return;
    };
    let text = name.unraw().to_string();
    if words.example(&text).is_some() {
        return list.known(&text, &name, input, errors);
    }
    if list.misplaced(&text, &name, errors) {
        return words.skip_value(input);
    }
    let what = format!("unknown {noun} `{text}`");
    if let Some((similar, example)) = words.similar_to(&text) {
        errors.on(&name, what, format!("did you mean `{example}`?"));
        // Understood as what was meant: it shall not be reported as missing on top.
        return list.known(similar, &name, input, errors);
    }
    errors.on(&name, what, format!("expected one of {}", words.names()));
    words.skip_value(input);
}

impl Words {
    /// `name = VALUE`, once: the one place for what all arguments have in common.
    pub(crate) fn assignment<T: Parse>(
        self,
        known: &str,
        name: &Ident,
        input: ParseStream<'_>,
        slot: &mut Slot<T>,
        errors: &mut Errors,
    ) {
        if !slot.is_absent() {
            return self.twice(known, name, input, errors);
        }
        *slot = Slot::Unreadable;
        let help = format!("`{}`", self.example(known).unwrap_or_default());
        let assigns = input.peek(Token![=]) && !input.peek(Token![==]);
        if !assigns
            || input.parse::<Token![=]>().is_err()
            || input.is_empty()
            || input.peek(Token![,])
        {
            // What stands there instead is part of the same mistake.
            self.skip_to_next(input);
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
                let skipped = self.skip_to_next(input);
                if error.to_string().contains("= help: ") {
                    errors.push(error);
                } else {
                    let what = format!("the value of `{known}` cannot be read: {error}");
                    errors.on(skipped, what, help);
                }
            }
        }
    }

    /// Reports an argument that is there already.
    pub(crate) fn twice(
        self,
        known: &str,
        name: &Ident,
        input: ParseStream<'_>,
        errors: &mut Errors,
    ) {
        let what = format!("`{known}` is given twice");
        errors.on(name, what, "keep the one you mean");
        self.skip_value(input);
    }

    /// Passes over the value of an argument that is not wanted.
    pub(crate) fn skip_value(self, input: ParseStream<'_>) {
        let ahead = input.fork();
        let read = ahead.parse::<Token![=]>().is_ok() && ahead.parse::<Expr>().is_ok();
        if read && (ahead.is_empty() || ahead.peek(Token![,])) {
            input.advance_to(&ahead);
        } else {
            self.skip_to_next(input);
        }
    }

    /// Passes over everything up to the comma before the next argument. A comma alone does not end an expression
    /// that cannot be parsed: `key = id::<A, B>(` has one inside.
    pub(crate) fn skip_to_next(self, input: ParseStream<'_>) -> TokenStream {
        let mut skipped = TokenStream::new();
        while !self.are_next(input)
            && let Ok(token) = input.parse::<TokenTree>()
        {
            skipped.extend([token]);
        }
        skipped
    }

    fn are_next(self, input: ParseStream<'_>) -> bool {
        let ahead = input.fork();
        if ahead.parse::<Token![,]>().is_err() {
            return false;
        }
        if ahead.is_empty() || self.are_ahead(&ahead) {
            return true;
        }
        if ahead.call(Ident::parse_any).is_err() {
            return false;
        }
        let assigns = ahead.peek(Token![=]) && !ahead.peek(Token![==]) && !ahead.peek(Token![=>]);
        ahead.is_empty() || assigns || ahead.peek(Token![,]) || ahead.peek(syn::token::Paren)
    }

    fn are_ahead(self, input: ParseStream<'_>) -> bool {
        let name = input.fork().call(Ident::parse_any);
        name.is_ok_and(|name| self.example(&name.to_string()).is_some())
    }

    fn names(self) -> String {
        let names: Vec<String> = self.0.iter().map(|(name, _)| format!("`{name}`")).collect();
        names.join(", ")
    }

    pub(crate) fn example(self, word: &str) -> Option<&'static str> {
        let mut known = self.0.iter();
        known
            .find(|(name, _)| *name == word)
            .map(|(_, example)| *example)
    }

    /// The known word that a misspelling most likely stands for.
    pub(crate) fn similar_to(self, text: &str) -> Option<(&'static str, &'static str)> {
        let known = self.0.iter();
        known
            .map(|(name, example)| (difference(text, name), *name, *example))
            .filter(|(distance, name, _)| *distance <= name.len() / 3)
            .min_by_key(|(distance, ..)| *distance)
            .map(|(_, name, example)| (name, example))
    }
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
    use super::distance;

    #[test]
    fn distances_are_those_of_levenshtein() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("same", "same"), 0);
    }
}
