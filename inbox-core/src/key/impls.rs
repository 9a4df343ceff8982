//! Which types of the standard library and of `uuid` are keys, and what their text is.

use std::borrow::Cow;
use std::num::NonZero;
use std::rc::Rc;
use std::sync::Arc;

use super::{KeyEncoder, MessageKey};

impl MessageKey for str {
    fn encode(&self, encoder: &mut KeyEncoder) {
        encoder.text(self);
    }
}

impl MessageKey for String {
    fn encode(&self, encoder: &mut KeyEncoder) {
        encoder.text(self);
    }
}

macro_rules! pointers {
    ($($(#[$doc:meta])* [$($generics:tt)*] $pointer:ty),* $(,)?) => {$(
        impl<$($generics)*> MessageKey for $pointer {
            fn encode(&self, encoder: &mut KeyEncoder) {
                (**self).encode(encoder);
            }
        }
    )*};
}

pointers! {
    [T: MessageKey + ?Sized] &T,
    [T: MessageKey + ?Sized] &mut T,
    [T: MessageKey + ?Sized] Box<T>,
    [T: MessageKey + ?Sized] Rc<T>,
    [T: MessageKey + ?Sized] Arc<T>,
    [T: MessageKey + ToOwned + ?Sized] Cow<'_, T>,
}

macro_rules! integers {
    ($($integer:ty)*) => {$(
        impl MessageKey for $integer {
            fn encode(&self, encoder: &mut KeyEncoder) {
                encoder.display(self);
            }
        }

        impl MessageKey for NonZero<$integer> {
            fn encode(&self, encoder: &mut KeyEncoder) {
                encoder.display(self);
            }
        }
    )*};
}

integers! { i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize }

macro_rules! tuples {
    ($(($($part:ident . $index:tt),*))*) => {$(
        impl<$($part: MessageKey),*> MessageKey for ($($part,)*) {
            fn encode(&self, encoder: &mut KeyEncoder) {
                encoder.tuple(|tuple| {
                    $(tuple.part(&self.$index);)*
                });
            }
        }
    )*};
}

tuples! {
    (A.0, B.1)
    (A.0, B.1, C.2)
    (A.0, B.1, C.2, D.3)
}

#[cfg(feature = "uuid")]
impl MessageKey for uuid::Uuid {
    fn encode(&self, encoder: &mut KeyEncoder) {
        if self.is_nil() {
            encoder.refuse(super::KeyError::NilUuid);
        } else {
            encoder.display(self.as_hyphenated());
        }
    }
}

#[cfg(feature = "uuid")]
impl MessageKey for uuid::NonNilUuid {
    fn encode(&self, encoder: &mut KeyEncoder) {
        self.get().encode(encoder);
    }
}
