#[automatically_derived]
impl ::inbox_sqlx::MessageKey for OrderId {
    fn encode(&self, encoder: &mut ::inbox_sqlx::KeyEncoder) {
        ::inbox_sqlx::MessageKey::encode(&self.0, encoder)
    }
}

#[automatically_derived]
impl<'a> ::inbox_sqlx::MessageKey for Id<'a> {
    fn encode(&self, encoder: &mut ::inbox_sqlx::KeyEncoder) {
        ::inbox_sqlx::MessageKey::encode(&self.id, encoder)
    }
}

#[automatically_derived]
impl<T> ::inbox_sqlx::MessageKey for Id<T>
where
    T: Clone,
    T: ::inbox_sqlx::MessageKey,
{
    fn encode(&self, encoder: &mut ::inbox_sqlx::KeyEncoder) {
        ::inbox_sqlx::MessageKey::encode(&self.0, encoder)
    }
}

#[automatically_derived]
impl<T: ?Sized> ::inbox_sqlx::MessageKey for Typed<T> {
    fn encode(&self, encoder: &mut ::inbox_sqlx::KeyEncoder) {
        ::inbox_sqlx::MessageKey::encode(&self.r#type, encoder)
    }
}

#[automatically_derived]
impl<const N: usize> crate::inbox::MessageKey for Renamed<N> {
    fn encode(&self, encoder: &mut crate::inbox::KeyEncoder) {
        crate::inbox::MessageKey::encode(&self.0, encoder)
    }
}
