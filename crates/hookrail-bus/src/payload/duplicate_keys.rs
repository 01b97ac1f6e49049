//! Finds duplicate keys of an object while it is read.
//!
//! With two inputs the client could act on one while the hooks check the other. A derived reader notices only duplicates of
//! its own fields; here every key is checked, in the one pass that reads the object anyway.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::value::CowStrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};

/// A key or another string, borrowed from the text if it has no escapes.
#[derive(Deserialize)]
struct BorrowedText<'a>(#[serde(borrow)] Cow<'a, str>);

/// A deserializer of an object that records the first duplicate key.
pub(crate) struct DuplicateKeyRecorder<'n, T> {
    inner: T,
    repeated: &'n mut Option<String>,
}

impl<'n, T> DuplicateKeyRecorder<'n, T> {
    pub(crate) fn new(inner: T, repeated: &'n mut Option<String>) -> Self {
        Self { inner, repeated }
    }
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for DuplicateKeyRecorder<'_, D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_map(DuplicateKeyRecorder { inner: visitor, repeated: self.repeated })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for DuplicateKeyRecorder<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.inner.visit_map(Members { map, seen: HashSet::new(), repeated: self.repeated })
    }
}

struct Members<'n, 'de, A> {
    map: A,
    seen: HashSet<Cow<'de, str>>,
    repeated: &'n mut Option<String>,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Members<'_, 'de, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        let Some(BorrowedText(key)) = self.map.next_key::<BorrowedText<'de>>()? else { return Ok(None) };
        if !self.seen.insert(key.clone()) && self.repeated.is_none() {
            *self.repeated = Some(key.clone().into_owned());
        }
        seed.deserialize(CowStrDeserializer::new(key)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}
