//! `#[derive(MessageKey)]`: a newtype is encoded like the value it holds.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::{Data, DeriveInput, Field, Fields, Index, Member, Type, parse_quote_spanned};

use crate::args::CratePath;
use crate::diag::Errors;
use crate::paths::{Paths, at};
use crate::tokens::{flatten, peel_type, start_of};

/// ```text
/// Input:  struct OrderId(Uuid);
/// Output: impl MessageKey for OrderId {
///     fn encode(&self, encoder: &mut KeyEncoder) { MessageKey::encode(&self.0, encoder) }
/// }
/// ```
pub(crate) fn message_key(item: TokenStream) -> TokenStream {
    let input = match syn::parse2::<DeriveInput>(item) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    let mut errors = Errors::default();
    let paths = Paths::new(crate_path(&input, &mut errors).as_ref());
    let value = value(&input, &mut errors);
    let body = if let Some((member, field)) = &value {
        let at = at(start_of(&field.ty));
        let trait_path = paths.public("MessageKey", at);
        quote_spanned!(at=> #trait_path::encode(&self.#member, encoder))
    } else {
        // An implementation nevertheless, so that the one mistake is not reported again wherever the type is a key.
        quote_spanned!(Span::mixed_site()=> let _ = encoder;)
    };
    let implementation = implementation(
        &input,
        value.as_ref().map(|(_, field)| *field),
        &paths,
        &body,
    );
    if errors.is_empty() {
        implementation
    } else {
        let errors = errors.into_compile_errors();
        quote!(#errors #implementation)
    }
}

fn implementation(
    input: &DeriveInput,
    field: Option<&Field>,
    paths: &Paths,
    body: &TokenStream,
) -> TokenStream {
    let here = Span::mixed_site();
    let (trait_path, encoder) = (
        paths.public("MessageKey", here),
        paths.public("KeyEncoder", here),
    );
    let name = &input.ident;
    let mut generics = input.generics.clone();
    if let Some(field) = field.filter(|field| depends_on_parameters(&field.ty, input)) {
        let ty = &field.ty;
        let bound = parse_quote_spanned!(at(start_of(ty))=> #ty: #trait_path);
        generics.make_where_clause().predicates.push(bound);
    }
    let (parameters, arguments, conditions) = generics.split_for_impl();
    quote_spanned! {here=>
        #[automatically_derived]
        impl #parameters #trait_path for #name #arguments #conditions {
            fn encode(&self, encoder: &mut #encoder) {
                #body
            }
        }
    }
}

/// The one field that holds the value. `PhantomData` holds nothing: typed ids carry it beside the id.
fn value<'a>(input: &'a DeriveInput, errors: &mut Errors) -> Option<(Member, &'a Field)> {
    const EXAMPLE: &str = "a newtype holds one value: `struct OrderId(Uuid);`";
    let name = &input.ident;
    let data = match &input.data {
        Data::Struct(data) => data,
        Data::Enum(data) => {
            errors.on(data.enum_token, "an enum is not a message key", EXAMPLE);
            return None;
        }
        Data::Union(data) => {
            errors.on(data.union_token, "a union is not a message key", EXAMPLE);
            return None;
        }
    };
    let mut values = data
        .fields
        .iter()
        .enumerate()
        .filter(|(_, field)| !is_phantom(&field.ty));
    match (values.next(), values.next()) {
        (None, _) => {
            let what =
                format!("`{name}` holds nothing, so that all messages would have the same key");
            errors.on(name, what, EXAMPLE);
            None
        }
        (Some((index, field)), None) => {
            let member = match &field.ident {
                Some(name) => Member::Named(name.clone()),
                None => Member::Unnamed(Index::from(index)),
            };
            Some((member, field))
        }
        (Some(_), Some(_)) => {
            let what =
                format!("`{name}` has more than one field, and no order of them is safe to guess");
            let parts = parts(&data.fields);
            let help = format!("make the key a tuple where it is used: `key = ({parts})`");
            errors.on(&data.fields, what, help);
            None
        }
    }
}

/// `msg.source, msg.id`
fn parts(fields: &Fields) -> String {
    let names = fields
        .iter()
        .enumerate()
        .map(|(index, field)| match &field.ident {
            Some(name) => format!("id.{}", name.unraw()),
            None => format!("id.{index}"),
        });
    names.collect::<Vec<_>>().join(", ")
}

fn is_phantom(ty: &Type) -> bool {
    let Type::Path(path) = peel_type(ty) else {
        return false;
    };
    path.path
        .segments
        .last()
        .is_some_and(|last| last.ident == "PhantomData")
}

fn depends_on_parameters(ty: &Type, input: &DeriveInput) -> bool {
    let parameters: Vec<&Ident> = input
        .generics
        .type_params()
        .map(|parameter| &parameter.ident)
        .collect();
    flatten(ty.to_token_stream())
        .iter()
        .any(|token| matches!(token, proc_macro2::TokenTree::Ident(ident) if parameters.contains(&ident)))
}

/// `#[message_key(crate = path)]`
fn crate_path(input: &DeriveInput, errors: &mut Errors) -> Option<CratePath> {
    const HELP: &str =
        "the one argument is `crate`: `#[message_key(crate = my_crate::inbox_sqlx)]`";
    let mut found = None;
    for attribute in input
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("message_key"))
    {
        let read = attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("crate") {
                return Err(meta.error(format_args!("unknown argument\n= help: {HELP}")));
            }
            if found.is_some() {
                return Err(meta.error("`crate` is given twice\n= help: keep the one you mean"));
            }
            found = Some(meta.value()?.parse::<CratePath>()?);
            Ok(())
        });
        if let Err(error) = read {
            errors.push(error);
        }
    }
    let misplaced = fields(&input.data).flat_map(|field| &field.attrs);
    for attribute in misplaced.filter(|attribute| attribute.path().is_ident("message_key")) {
        errors.on(attribute, "`#[message_key]` belongs on the struct", HELP);
    }
    found
}

fn fields(data: &Data) -> Box<dyn Iterator<Item = &Field> + '_> {
    match data {
        Data::Struct(data) => Box::new(data.fields.iter()),
        Data::Enum(data) => Box::new(data.variants.iter().flat_map(|variant| &variant.fields)),
        Data::Union(data) => Box::new(data.fields.named.iter()),
    }
}
