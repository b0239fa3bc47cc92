//! Values as words, for fingerprints of the host engine.

use serde::ser::{self, Serialize};

use crate::random::mix;

/// Values as 32-bit words, in the order in which they are added.
///
/// A number of up to 32 bits is one word, a 64-bit number two, the low word first. A struct or
/// tuple is its fields. An enum is the index of its variant, then its fields. A sequence begins
/// with its length. So a message `[u32; 2]` is the two words of an event's payload in
/// [`pdes`](crate::pdes).
#[derive(Debug, Default)]
pub struct Digest {
    words: Vec<u32>,
}

impl Digest {
    /// Adds a value.
    ///
    /// # Panics
    /// If its `Serialize` fails; derived ones do not.
    pub fn put(&mut self, value: &(impl Serialize + ?Sized)) {
        value.serialize(Words(&mut self.words)).expect("a value's `Serialize` failed");
    }

    /// Adds words.
    pub fn words(&mut self, words: impl IntoIterator<Item = u32>) {
        self.words.extend(words);
    }

    /// Returns the hash of the added values, and removes them.
    pub(super) fn finish(&mut self, kind: u32) -> u64 {
        let hash = mix(kind, self.words.iter().copied());
        self.words.clear();
        hash
    }
}

/// The serializer.
struct Words<'a>(&'a mut Vec<u32>);

impl Words<'_> {
    #[expect(clippy::cast_possible_truncation, reason = "the halves of a word are cut on purpose")]
    fn wide(&mut self, value: u64) {
        self.0.extend([value as u32, (value >> 32) as u32]);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.wide(bytes.len() as u64);
        let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
        self.0.extend(bytes.chunks(4).map(word));
    }
}

type Done = Result<(), std::fmt::Error>;

/// Numbers that fit one word.
macro_rules! narrow {
    ($($function:ident($ty:ty) $word:expr;)*) => {
        $(fn $function(self, value: $ty) -> Done {
            let word: fn($ty) -> u32 = $word;
            self.0.push(word(value));
            Ok(())
        })*
    };
}

impl<'a> ser::Serializer for Words<'a> {
    type Ok = ();
    type Error = std::fmt::Error;
    type SerializeSeq = Sequence<'a>;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Sequence<'a>;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    narrow! {
        serialize_bool(bool) u32::from;
        serialize_u8(u8) u32::from;
        serialize_u16(u16) u32::from;
        serialize_u32(u32) |value| value;
        serialize_i8(i8) |value| i32::from(value).cast_unsigned();
        serialize_i16(i16) |value| i32::from(value).cast_unsigned();
        serialize_i32(i32) i32::cast_unsigned;
        serialize_f32(f32) f32::to_bits;
        serialize_char(char) u32::from;
    }

    fn serialize_u64(mut self, value: u64) -> Done {
        self.wide(value);
        Ok(())
    }

    fn serialize_i64(mut self, value: i64) -> Done {
        self.wide(value.cast_unsigned());
        Ok(())
    }

    fn serialize_f64(mut self, value: f64) -> Done {
        self.wide(value.to_bits());
        Ok(())
    }

    #[expect(clippy::cast_possible_truncation, reason = "the halves are cut on purpose")]
    fn serialize_u128(mut self, value: u128) -> Done {
        self.wide(value as u64);
        self.wide((value >> 64) as u64);
        Ok(())
    }

    fn serialize_i128(self, value: i128) -> Done {
        self.serialize_u128(value.cast_unsigned())
    }

    fn serialize_str(mut self, value: &str) -> Done {
        self.bytes(value.as_bytes());
        Ok(())
    }

    fn serialize_bytes(mut self, value: &[u8]) -> Done {
        self.bytes(value);
        Ok(())
    }

    fn serialize_none(self) -> Done {
        self.0.push(0);
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Done {
        self.0.push(1);
        value.serialize(self)
    }

    fn serialize_unit(self) -> Done {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Done {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, variant: u32, _: &'static str) -> Done {
        self.0.push(variant);
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Done {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        variant: u32,
        _: &'static str,
        value: &T,
    ) -> Done {
        self.0.push(variant);
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Sequence<'a>, std::fmt::Error> {
        Ok(Sequence::new(self.0))
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, std::fmt::Error> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, std::fmt::Error> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        variant: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, std::fmt::Error> {
        self.0.push(variant);
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Sequence<'a>, std::fmt::Error> {
        Ok(Sequence::new(self.0))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, std::fmt::Error> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        variant: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, std::fmt::Error> {
        self.0.push(variant);
        Ok(self)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// Compound values with a number of parts known from their type.
macro_rules! parts {
    ($($of:ident::$function:ident($($key:ty)?);)*) => {
        $(impl ser::$of for Words<'_> {
            type Ok = ();
            type Error = std::fmt::Error;

            fn $function<T: Serialize + ?Sized>(&mut self, $(_: $key,)? value: &T) -> Done {
                value.serialize(Words(self.0))
            }

            fn end(self) -> Done {
                Ok(())
            }
        })*
    };
}

parts! {
    SerializeTuple::serialize_element();
    SerializeTupleStruct::serialize_field();
    SerializeTupleVariant::serialize_field();
    SerializeStruct::serialize_field(&'static str);
    SerializeStructVariant::serialize_field(&'static str);
}

/// A sequence with a length, which is written at the end.
struct Sequence<'a> {
    words: &'a mut Vec<u32>,
    length: usize,
    count: u32,
}

impl<'a> Sequence<'a> {
    fn new(words: &'a mut Vec<u32>) -> Self {
        let length = words.len();
        words.push(0);
        Self { words, length, count: 0 }
    }

    fn part<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        self.count = self.count.wrapping_add(1);
        value.serialize(Words(self.words))
    }

    fn close(self) -> Done {
        self.words[self.length] = self.count;
        Ok(())
    }
}

impl ser::SerializeSeq for Sequence<'_> {
    type Ok = ();
    type Error = std::fmt::Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        self.part(value)
    }

    fn end(self) -> Done {
        self.close()
    }
}

impl ser::SerializeMap for Sequence<'_> {
    type Ok = ();
    type Error = std::fmt::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Done {
        self.part(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        value.serialize(Words(self.words))
    }

    fn end(self) -> Done {
        self.close()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Serialize)]
    enum Kind {
        Bare,
        Named { left: u8, right: i64 },
        Wrapped(Option<u32>),
    }

    #[test]
    fn values_are_words() {
        let words = |value: &dyn Fn(&mut Digest)| {
            let mut digest = Digest::default();
            value(&mut digest);
            digest.words
        };
        assert_eq!(words(&|digest| digest.put(&[7_u32, 8])), [7, 8]);
        assert_eq!(words(&|digest| digest.put(&(1_u64 << 32 | 5))), [5, 1]);
        assert_eq!(words(&|digest| digest.put(&Kind::Bare)), [0]);
        assert_eq!(
            words(&|digest| digest.put(&Kind::Named { left: 3, right: -1 })),
            [1, 3, u32::MAX, u32::MAX]
        );
        assert_eq!(words(&|digest| digest.put(&Kind::Wrapped(Some(4)))), [2, 1, 4]);
        assert_eq!(words(&|digest| digest.put(&vec![(), ()])), [2]);
        assert_eq!(
            words(&|digest| digest.put("hello")),
            [5, 0, u32::from_le_bytes(*b"hell"), u32::from(b'o')]
        );
        let map = std::collections::BTreeMap::from([(1_u32, 2_u32)]);
        assert_eq!(words(&|digest| digest.put(&map)), [1, 1, 2]);
    }
}
