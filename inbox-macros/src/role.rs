//! What the first parameter and the return type mean, as far as types can be read without resolving names.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens as _, quote_spanned};
use syn::{
    GenericArgument, Lifetime, Pat, PatType, PathArguments, Token, Type, TypePath, TypeReference,
};

use crate::args::Args;
use crate::paths::{Paths, at};
use crate::signature::Function;
use crate::tokens::{end_of, flatten, peel_type as peel, start_of};

/// How effect and marker come together.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// In one transaction: the body gets its connection.
    Transactional,
    /// The effect is outside of the database: the body gets the claim.
    TwoPhase,
}

impl Mode {
    pub(crate) fn of(args: &Args, function: &Function) -> Self {
        // What `two_phase` has been forgotten for.
        let takes_claim = || {
            let first = function.parameters().next();
            first.is_some_and(|(_, first)| {
                matches!(Role::of(&first.ty, Self::Transactional), Role::Claim { .. })
            })
        };
        if !args.two_phase.is_absent() || args.has_stray_option && takes_claim() {
            Self::TwoPhase
        } else {
            Self::Transactional
        }
    }

    /// What the body is handed, in a word.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Transactional => "connection",
            Self::TwoPhase => "claim",
        }
    }
}

/// The first parameter after `self`.
pub(crate) struct First<'f> {
    /// Its position among all parameters.
    pub(crate) index: usize,
    pub(crate) parameter: &'f PatType,
    pub(crate) role: Role,
}

/// What the first parameter is.
pub(crate) enum Role {
    /// `&mut C`, where `C` is the connection.
    Connection { connection: Type },
    /// `&'a mut C`, with a lifetime that has a name.
    Borrowed {
        connection: Type,
        lifetime: Lifetime,
    },
    /// `PgConnection` or `&PgConnection`.
    NotMutable { connection: Type },
    /// `Transaction<'_, DB>`, by reference or value.
    Transaction { database: Option<Type> },
    /// `PoolConnection<DB>`, by reference or value.
    PoolConnection { database: Option<Type> },
    /// `PgPool`, `Pool<DB>` and the like, however wrapped.
    Pool { database: Option<Type> },
    /// `Claim<DB>`, by any reference or value.
    Claim { database: Option<Type> },
    /// `&Inbox<DB>`: what callers pass.
    Inbox,
    /// `&InboxOf<C>` or `&::inbox_sqlx::Inbox<DB>`: what this attribute has written, when it stood there twice.
    Expanded,
    /// Anything else.
    Unknown,
}

/// A database, as a message names it.
#[derive(Clone, Copy)]
pub(crate) enum Database {
    Postgres,
    MySql,
    Sqlite,
}

impl Database {
    /// What the handler gets.
    pub(crate) fn connection(self) -> &'static str {
        match self {
            Self::Postgres => "PgConnection",
            Self::MySql => "MySqlConnection",
            Self::Sqlite => "SqliteConnection",
        }
    }

    /// What sqlx calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Postgres => "Postgres",
            Self::MySql => "MySql",
            Self::Sqlite => "Sqlite",
        }
    }

    /// What callers pass.
    pub(crate) fn inbox(self) -> &'static str {
        match self {
            Self::Postgres => "Inbox<Postgres>",
            Self::MySql => "Inbox<MySql>",
            Self::Sqlite => "Inbox<Sqlite>",
        }
    }
}

/// What the function returns.
pub(crate) enum Returns {
    /// `Result<T, E>`, literally.
    Literal { ok: Box<Type>, error: Box<Type> },
    /// A path that may be an alias of a `Result`; rustc knows.
    Alias,
    /// What cannot be a `Result`, or nothing at all.
    Other,
}

impl<'f> First<'f> {
    pub(crate) fn of(function: &'f Function, mode: Mode) -> Option<Self> {
        let (index, parameter) = function.parameters().next()?;
        let role = Role::of(&parameter.ty, mode);
        Some(Self {
            index,
            parameter,
            role,
        })
    }

    /// Whether it is something to run statements on, though not a connection.
    pub(crate) fn is_an_executor(&self) -> bool {
        let tokens = flatten(self.parameter.ty.to_token_stream());
        tokens.iter().any(|token| {
            let name = token.to_string();
            name.ends_with("Executor") || name == "Acquire"
        })
    }

    /// How it is borrowed, if it is.
    pub(crate) fn reference(&self) -> Option<&TypeReference> {
        match peel(&self.parameter.ty) {
            Type::Reference(reference) => Some(reference),
            _ => None,
        }
    }

    /// Its name, if it has one.
    pub(crate) fn name(&self) -> Option<&Ident> {
        match &*self.parameter.pat {
            Pat::Ident(name) => Some(&name.ident),
            _ => None,
        }
    }

    /// Whether callers pass the inbox in its place.
    pub(crate) fn is_replaced(&self) -> bool {
        !matches!(self.role, Role::Inbox | Role::Expanded | Role::Unknown)
    }

    /// The database that the user most likely means, for a message.
    pub(crate) fn database(&self) -> Database {
        self.named_database().unwrap_or(Database::Postgres)
    }

    pub(crate) fn names_a_database(&self) -> bool {
        self.named_database().is_some()
    }

    fn named_database(&self) -> Option<Database> {
        let tokens = flatten(self.parameter.ty.to_token_stream());
        let databases = tokens.iter().map(|token| match token.to_string().as_str() {
            "PgPool" | "Postgres" | "PgConnection" => Some(Database::Postgres),
            "MySqlPool" | "MySql" | "MySqlConnection" => Some(Database::MySql),
            "SqlitePool" | "Sqlite" | "SqliteConnection" => Some(Database::Sqlite),
            _ => None,
        });
        databases.flatten().next()
    }

    /// The type callers see in its place, if it can be told.
    pub(crate) fn callers_type(&self, paths: &Paths) -> Option<TokenStream> {
        let span = at(start_of(&self.parameter.ty));
        let inbox = |database: &Option<Type>| {
            // Or whatever the caller has, so that a wrong signature is not reported at every call.
            let anything = || quote_spanned!(span=> impl ::core::marker::Sized);
            let exactly = |database| inbox_for(database, &self.parameter.ty, paths);
            database.as_ref().map_or_else(anything, exactly)
        };
        match &self.role {
            Role::Connection { connection }
            | Role::Borrowed { connection, .. }
            | Role::NotMutable { connection } => {
                Some(inbox_of(connection, &self.parameter.ty, paths))
            }
            Role::Transaction { database }
            | Role::PoolConnection { database }
            | Role::Pool { database }
            | Role::Claim { database } => Some(inbox(database)),
            Role::Inbox | Role::Expanded | Role::Unknown => None,
        }
    }

    /// The type of what the body is handed, also where it is written in a way that rustc would report once more.
    pub(crate) fn handed_type(&self, paths: &Paths) -> TokenStream {
        let ty = &self.parameter.ty;
        match &self.role {
            Role::Claim {
                database: Some(connection),
            } if is_connection(connection) => {
                let span = at(start_of(connection));
                let handler_connection = paths.private("HandlerConnection", span);
                let mut ty = ty.clone();
                replace_argument(
                    &mut ty,
                    quote_spanned!(span=> <#connection as #handler_connection>::Database),
                );
                ty.to_token_stream()
            }
            _ => ty.to_token_stream(),
        }
    }

    /// The same as the type of a variable of ours, if the handler is in order.
    pub(crate) fn inbox_type(&self, paths: &Paths) -> Option<TokenStream> {
        match &self.role {
            Role::Connection { connection } => {
                Some(inbox_of(connection, &self.parameter.ty, paths))
            }
            Role::Claim {
                database: Some(database),
            } => Some(inbox_for(database, &self.parameter.ty, paths)),
            _ => None,
        }
    }
}

/// `&InboxOf<C>`. It stands in several places of the generated code, all of them shown as the type that the user wrote,
/// so that rustc reports a `C` that is no connection once.
fn inbox_of(connection: &Type, written: &Type, paths: &Paths) -> TokenStream {
    let (begin, end) = (at(start_of(written)), at(end_of(written)));
    let inbox_of = paths.public("InboxOf", begin);
    let close = Token![>](end);
    quote_spanned!(begin=> &#inbox_of<#connection #close)
}

/// `&Inbox<DB>`, or what was meant where a connection stands in place of the database.
fn inbox_for(database: &Type, written: &Type, paths: &Paths) -> TokenStream {
    if is_connection(database) {
        return inbox_of(database, written, paths);
    }
    let (begin, end) = (at(start_of(written)), at(end_of(written)));
    let inbox = paths.public("Inbox", begin);
    let close = Token![>](end);
    quote_spanned!(begin=> &#inbox<#database #close)
}

/// The parameter that is a connection, where it is not the first.
pub(crate) fn later_connection(function: &Function) -> Option<&PatType> {
    let later = function
        .parameters()
        .map(|(_, parameter)| parameter)
        .skip(1);
    later.into_iter().find(|parameter| {
        let ty = peel(&parameter.ty);
        let Type::Reference(TypeReference {
            mutability: Some(_),
            elem,
            ..
        }) = ty
        else {
            return false;
        };
        name_of(elem).is_some_and(|name| name.ends_with("Connection"))
    })
}

/// The parameter that is a claim, where it is not the first.
pub(crate) fn later_claim(function: &Function) -> Option<&PatType> {
    let later = function.parameters().skip(1);
    later.map(|(_, parameter)| parameter).find(|parameter| {
        let role = Role::of(&parameter.ty, Mode::TwoPhase);
        matches!(role, Role::Claim { .. })
    })
}

impl Role {
    fn of(ty: &Type, mode: Mode) -> Self {
        if let Some(database) = pool_in(ty) {
            return Self::Pool { database };
        }
        let ty = peel(ty);
        let (reference, inner) = match ty {
            Type::Reference(reference) => (Some(reference), peel(&reference.elem)),
            other => (None, other),
        };
        let Type::Path(path) = inner else {
            return Self::Unknown;
        };
        let Some(name) = name_of(inner) else {
            return Self::Unknown;
        };
        let database = type_arguments(path).into_iter().next().cloned();
        let connection = inner.clone();
        match (name.as_str(), reference) {
            ("Transaction", _) => Self::Transaction { database },
            ("PoolConnection", _) => Self::PoolConnection { database },
            ("Claim", _) => Self::Claim { database },
            ("Inbox", _) if path.path.leading_colon.is_none() => Self::Inbox,
            ("Inbox" | "InboxOf", _) => Self::Expanded,
            // Whatever is borrowed mutably is taken for a connection only where there is one.
            (name, _) if mode == Mode::TwoPhase && !name.ends_with("Connection") => Self::Unknown,
            (
                _,
                Some(TypeReference {
                    mutability: Some(_),
                    lifetime,
                    ..
                }),
            ) => match lifetime {
                Some(lifetime) if lifetime.ident != "_" => Self::Borrowed {
                    connection,
                    lifetime: lifetime.clone(),
                },
                _ => Self::Connection { connection },
            },
            (name, _) if name.ends_with("Connection") => Self::NotMutable { connection },
            _ => Self::Unknown,
        }
    }
}

impl Returns {
    pub(crate) fn of(function: &Function) -> Self {
        // Names that are never an alias of `Result`. Of all others rustc knows more.
        const NO_RESULTS: [&str; 24] = [
            "Option", "Vec", "String", "Box", "Pin", "Arc", "Outcome", "bool", "char", "str", "u8",
            "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize",
            "f32", "f64",
        ];
        let Some(Type::Path(path)) = function.return_type().map(peel) else {
            return Self::Other;
        };
        let Some(last) = path.path.segments.last() else {
            return Self::Other;
        };
        if last.ident == "Result"
            && let [ok, error] = type_arguments(path).as_slice()
        {
            return Self::Literal {
                ok: Box::new((*ok).clone()),
                error: Box::new((*error).clone()),
            };
        }
        if NO_RESULTS.iter().any(|name| last.ident == name) {
            return Self::Other;
        }
        Self::Alias
    }
}

/// Writes another type in place of the first one between the angle brackets.
pub(crate) fn replace_argument(ty: &mut Type, argument: TokenStream) {
    match ty {
        Type::Group(group) => replace_argument(&mut group.elem, argument),
        Type::Paren(paren) => replace_argument(&mut paren.elem, argument),
        Type::Reference(reference) => replace_argument(&mut reference.elem, argument),
        Type::Path(path) => {
            let last = path
                .path
                .segments
                .last_mut()
                .map(|last| &mut last.arguments);
            if let Some(PathArguments::AngleBracketed(arguments)) = last
                && let Some(first) = arguments.args.first_mut()
            {
                *first = GenericArgument::Type(Type::Verbatim(argument));
            }
        }
        _ => {}
    }
}

/// Whether a type is named like the connections of sqlx.
pub(crate) fn is_connection(ty: &Type) -> bool {
    name_of(ty).is_some_and(|name| name.ends_with("Connection"))
}

/// The last segment of a path.
fn name_of(ty: &Type) -> Option<String> {
    match peel(ty) {
        Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        _ => None,
    }
}

/// The types between the angle brackets of the last segment.
pub(crate) fn type_arguments(path: &TypePath) -> Vec<&Type> {
    let Some(PathArguments::AngleBracketed(arguments)) =
        path.path.segments.last().map(|last| &last.arguments)
    else {
        return Vec::new();
    };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    types.collect()
}

/// Whether a pool is somewhere in a type, and of which database, where that can be told.
#[expect(
    clippy::option_option,
    reason = "no pool, a pool, and a pool of a known database"
)]
pub(crate) fn pool_in(ty: &Type) -> Option<Option<Type>> {
    pool_in_tokens(ty.to_token_stream())
}

#[expect(clippy::option_option, reason = "as above")]
fn pool_in_tokens(tokens: TokenStream) -> Option<Option<Type>> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (position, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => {
                if let Some(pool) = pool_in_tokens(group.stream()) {
                    return Some(pool);
                }
            }
            TokenTree::Ident(ident) => match ident.to_string().as_str() {
                "PgPool" | "MySqlPool" | "SqlitePool" | "AnyPool" => return Some(None),
                // `Pool` alone is a name for many things; with a database in brackets it is sqlx's.
                "Pool" if matches!(tokens.get(position + 1), Some(TokenTree::Punct(p)) if p.as_char() == '<') =>
                {
                    let rest: TokenStream = tokens[position..].iter().cloned().collect();
                    return Some(database_of_pool(rest));
                }
                _ => {}
            },
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    None
}

fn database_of_pool(tokens: TokenStream) -> Option<Type> {
    use syn::parse::{ParseStream, Parser as _};
    let parse = |input: ParseStream<'_>| {
        let path: TypePath = input.parse()?;
        input.parse::<TokenStream>()?;
        Ok(path)
    };
    let path = parse.parse2(tokens).ok()?;
    type_arguments(&path).into_iter().next().cloned()
}
