//! Notices when two handlers use one consumer name: the second would take the first one's messages for
//! duplicates, and lose them.

use std::{
    collections::HashMap,
    fmt,
    sync::{Mutex, PoisonError},
};

/// Where a handler is declared. The attribute makes one per handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Site {
    module: &'static str,
    function: &'static str,
    file: &'static str,
    line: u32,
}

impl Site {
    /// Called by generated code.
    pub const fn new(
        module: &'static str,
        function: &'static str,
        file: &'static str,
        line: u32,
    ) -> Self {
        Self {
            module,
            function,
            file,
            line,
        }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            module,
            function,
            file,
            line,
        } = self;
        write!(f, "{module}::{function} ({file}:{line})")
    }
}

/// The consumer names seen by one inbox, and where.
#[derive(Debug, Default)]
pub(crate) struct Handlers(Mutex<HashMap<&'static str, Seen>>);

#[derive(Debug)]
struct Seen {
    first: Site,
    warned: bool,
}

impl Handlers {
    /// Warns once per name, naming both places.
    pub(crate) fn note(&self, consumer: &'static str, site: &Site) {
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = names.entry(consumer).or_insert(Seen {
            first: *site,
            warned: false,
        });
        if seen.first != *site && !seen.warned {
            seen.warned = true;
            tracing::warn!(
                consumer,
                first = %seen.first,
                second = %site,
                "two handlers use one consumer name: each takes the other's messages for \
                 duplicates; give every handler its own name"
            );
        }
    }
}
