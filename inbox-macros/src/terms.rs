//! The numbers of the two-phase mode: read where they are literals, and checked against each other.

use std::time::Duration;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Expr, Lit, UnOp};

use crate::diag::Errors;
use crate::list::Slot;
use crate::options::{OnUnknown, Options};
use crate::tokens::{peel_expr, source_of};

// As in `inbox_core::two_phase`, which a macro crate cannot ask; a test compares them.
const DEFAULT_LEASE: Duration = Duration::from_mins(1);
const DEFAULT_MAX_ATTEMPTS: u32 = 5;
const DEFAULT_HORIZON: Duration = Duration::from_hours(12);
const MAX_DURATION: Duration = Duration::from_hours(365 * 24);
const MAX_ATTEMPTS: u32 = 10_000;
const BACKOFF_BASE: Duration = Duration::from_secs(1);
const BACKOFF_CAP: Duration = Duration::from_mins(5);

/// A number, or the expression that makes it at run time.
pub(crate) enum Number<'a, T> {
    Literal(T),
    Computed(&'a Expr),
}

/// Why a literal is not possible, and what to write.
type Refusal = (String, String);

/// `lease` or `horizon`.
pub(crate) fn duration<'a>(option: &str, expr: &'a Expr) -> Result<Number<'a, Duration>, Refusal> {
    let Expr::Lit(literal) = peel_expr(expr) else {
        return Ok(Number::Computed(expr));
    };
    let example = match option {
        "lease" => "`lease = \"30s\"`",
        _ => "`horizon = \"12h\"`",
    };
    let Lit::Str(text) = &literal.lit else {
        let what = format!("`{option}` is a duration, and has a unit");
        return Err((
            what,
            format!("{example}, or an expression of type `Duration`"),
        ));
    };
    let text = text.value();
    let duration = match humantime::parse_duration(&text) {
        Ok(duration) => duration,
        Err(error) => return Err((format!("this is no duration: {error}"), example.into())),
    };
    if duration < Duration::from_millis(1) {
        let what = match option {
            "lease" => "a lease of less than a millisecond is over before the body starts",
            _ => "a horizon of less than a millisecond forbids every repetition",
        };
        let help = match option {
            "lease" => example,
            _ => "`horizon = \"12h\"`, or `on_unknown = park`",
        };
        return Err((what.into(), help.into()));
    }
    if duration > MAX_DURATION {
        let help = format!("{example}; `m` are minutes, `M` are months");
        return Err(("this is longer than a year".into(), help));
    }
    Ok(Number::Literal(duration))
}

/// `max_attempts`.
pub(crate) fn attempts(expr: &Expr) -> Result<Number<'_, u32>, Refusal> {
    let number = match peel_expr(expr) {
        Expr::Lit(literal) => {
            let Lit::Int(number) = &literal.lit else {
                let what = "`max_attempts` is a whole number".into();
                return Err((what, "`max_attempts = 5`".into()));
            };
            number.base10_parse::<u64>().unwrap_or(u64::MAX)
        }
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => 0,
        _ => return Ok(Number::Computed(expr)),
    };
    match u32::try_from(number) {
        Ok(number) if (1..=MAX_ATTEMPTS).contains(&number) => Ok(Number::Literal(number)),
        _ => Err((
            format!("`max_attempts` is between 1 and {MAX_ATTEMPTS}"),
            "`max_attempts = 5`; the first attempt counts".into(),
        )),
    }
}

/// Reports literals that are not possible, alone or together.
pub(crate) fn check(options: &Options, errors: &mut Errors) {
    let lease = read(&options.lease, DEFAULT_LEASE, errors, |expr| {
        duration("lease", expr)
    });
    let attempts = read(
        &options.max_attempts,
        DEFAULT_MAX_ATTEMPTS,
        errors,
        attempts,
    );
    let horizon = read(&options.horizon, DEFAULT_HORIZON, errors, |expr| {
        duration("horizon", expr)
    });
    match options.on_unknown.value() {
        Some(OnUnknown::Retry) => {}
        None if !options.on_unknown.is_absent() => return,
        Some(OnUnknown::Park) | None => {
            if let Some(horizon) = options.horizon.value() {
                let what = "with `on_unknown = park` nothing is repeated, and there is no horizon";
                let help = format!(
                    "`on_unknown = retry, horizon = {}`, or leave it out",
                    source_of(horizon),
                );
                errors.on(horizon, what, help);
            }
            return;
        }
    }
    let (Some(lease), Some(attempts), Some(horizon)) = (lease, attempts, horizon) else {
        return;
    };
    let needed = longest(lease, attempts);
    if horizon <= needed {
        let culprit = [&options.horizon, &options.max_attempts, &options.lease]
            .into_iter()
            .find_map(Slot::value);
        let shown = humantime::format_duration;
        let what = format!(
            "the horizon of {} ends before the attempts are used up: {attempts} leases of {} and the pauses between \
             them may take {}",
            shown(horizon),
            shown(lease),
            shown(needed),
        );
        errors.on(
            culprit.map_or_else(TokenStream::new, ToTokens::to_token_stream),
            what,
            "make the horizon longer, the attempts fewer or the lease shorter",
        );
    }
}

/// The literal or the default; `None` if only the running program knows, or if it has been reported.
fn read<'a, T>(
    slot: &'a Slot<Expr>,
    default: T,
    errors: &mut Errors,
    number: impl FnOnce(&'a Expr) -> Result<Number<'a, T>, Refusal>,
) -> Option<T> {
    match slot {
        Slot::Absent => Some(default),
        Slot::Unreadable => None,
        Slot::Given(expr) => match number(expr) {
            Ok(Number::Literal(value)) => Some(value),
            Ok(Number::Computed(_)) => None,
            Err((what, help)) => {
                errors.on(expr, what, help);
                None
            }
        },
    }
}

/// How long it can take until the attempts are used up, as `inbox_core::two_phase::Terms` computes it.
fn longest(lease: Duration, attempts: u32) -> Duration {
    let pause = |attempt| {
        let grown = 1_u32
            .checked_shl(attempt)
            .and_then(|factor| BACKOFF_BASE.checked_mul(factor));
        grown.map_or(BACKOFF_CAP, |pause| pause.min(BACKOFF_CAP))
    };
    (1..attempts)
        .map(pause)
        .fold(lease.saturating_mul(attempts), Duration::saturating_add)
}

#[cfg(test)]
mod tests {
    use inbox_core::two_phase::{self as core, Backoff, OnUnknown, Policy, Terms, TermsError};

    use super::*;

    #[test]
    fn the_limits_are_those_of_the_core() {
        assert_eq!(DEFAULT_LEASE, core::DEFAULT_LEASE);
        assert_eq!(DEFAULT_MAX_ATTEMPTS, core::DEFAULT_MAX_ATTEMPTS);
        assert_eq!(DEFAULT_HORIZON, core::DEFAULT_HORIZON);
        assert_eq!(MAX_DURATION, core::MAX_DURATION);
        assert_eq!(MAX_ATTEMPTS, core::MAX_ATTEMPTS);
        assert_eq!(Backoff::new(BACKOFF_BASE, BACKOFF_CAP), Backoff::default());
    }

    #[test]
    fn the_longest_time_is_that_of_the_core() {
        for attempts in [1, 2, 3, 9, 10, 11, 33, 100, MAX_ATTEMPTS] {
            for lease in [1, 30_000, 60_000, 86_400_000].map(Duration::from_millis) {
                let needed = longest(lease, attempts);
                let short = OnUnknown::Retry {
                    horizon: Duration::from_millis(1),
                };
                let policy = Policy::new(short, attempts).unwrap();
                match Terms::new(lease, policy, Backoff::default()) {
                    Err(TermsError::HorizonTooShort { needed: core, .. }) => {
                        assert_eq!(needed, core, "{attempts} x {lease:?}");
                    }
                    other => panic!("{attempts} x {lease:?}: {other:?}"),
                }
            }
        }
    }
}
