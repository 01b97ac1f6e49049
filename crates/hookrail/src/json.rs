//! JSON as text that is known to be valid.
//!
//! What no hook changed has to reach a tool byte for byte: key order, `1.0`, integers beyond 2^53. A tree of
//! parsed values cannot promise that, so values travel through the engine as raw JSON and are taken apart
//! only one level at a time, and only where something inside is needed. This module knows JSON and nothing else.

pub(crate) mod duplicate_keys;
mod object_writer;

pub(crate) use object_writer::{ObjectWriter, WrittenObject};

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use memchr::memchr2;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// One JSON value, kept as the text it was written in (white space between tokens removed).
///
/// ```
/// use hookrail::Json;
///
/// let value = Json::parse(r#"{"count": 1.0, "big": 123456789012345678901}"#).unwrap();
/// assert_eq!(value.text(), r#"{"count":1.0,"big":123456789012345678901}"#);
/// ```
#[derive(Clone)]
// The parser gives a box. An `Arc<RawValue>` would cost a second copy of every value.
pub struct Json(Arc<Box<RawValue>>);

impl Json {
    /// Parses text that must be exactly one JSON value.
    ///
    /// # Errors
    /// The error of the JSON parser, with line and column, when the text is something else.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let raw: Box<RawValue> = serde_json::from_str(text)?;
        Ok(Self::from_raw(raw))
    }

    /// Takes over a value that serde_json already found valid.
    #[must_use]
    pub fn from_raw(raw: Box<RawValue>) -> Self {
        if needs_compacting(raw.get())
            && let Ok(compact) = RawValue::from_string(compact(raw.get()))
        {
            return Self(Arc::new(compact));
        }
        Self(Arc::new(raw))
    }

    /// The JSON form of anything that can be serialised.
    ///
    /// # Errors
    /// Whatever the value's own `Serialize` reports.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        Ok(Self(Arc::new(serde_json::value::to_raw_value(value)?)))
    }

    /// A JSON string.
    #[must_use]
    pub fn string(text: &str) -> Self {
        Self::of(text).unwrap_or_else(|_| Self::null())
    }

    /// A JSON boolean.
    #[must_use]
    pub fn boolean(value: bool) -> Self {
        Self::of(&value).unwrap_or_else(|_| Self::null())
    }

    /// A time in milliseconds, with a fraction if there is one, because many hooks take less than one.
    pub(crate) fn milliseconds(duration: std::time::Duration) -> Self {
        let micros = duration.as_micros();
        let number = match u64::try_from(micros / 1_000) {
            Ok(whole) if micros.is_multiple_of(1_000) => Value::from(whole),
            _ => Value::from((duration.as_secs_f64() * 1_000_000.0).round() / 1_000.0),
        };
        Self::from(number)
    }

    /// The JSON `null`.
    #[must_use]
    pub fn null() -> Self {
        Self(Arc::new(RawValue::NULL.to_owned()))
    }

    /// An empty JSON object.
    #[must_use]
    pub fn empty_object() -> Self {
        JsonObject::new().to_json()
    }

    /// The text of the value.
    #[must_use]
    pub fn text(&self) -> &str {
        self.0.get()
    }

    /// The value as a tree. Numbers that `f64` cannot hold lose precision here, so this is for looking, not for
    /// handing on.
    #[must_use]
    pub fn to_value(&self) -> Value {
        serde_json::from_str(self.text()).unwrap_or(Value::Null)
    }

    /// The value as a typed one, when it fits.
    #[must_use]
    pub fn decode<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(self.text()).ok()
    }

    /// The value as an object, when it is one.
    #[must_use]
    pub fn as_object(&self) -> Option<JsonObject> {
        if self.kind() == JsonKind::Object { self.decode() } else { None }
    }

    /// The value as a list, when it is one.
    #[must_use]
    pub fn as_array(&self) -> Option<Vec<Json>> {
        if self.kind() == JsonKind::Array { self.decode() } else { None }
    }

    /// The value as text, when it is a string.
    #[must_use]
    pub fn as_str(&self) -> Option<String> {
        match self.plain_str() {
            Some(plain) => Some(plain.to_owned()),
            None if self.kind() == JsonKind::String => {
                self.decode().or_else(|| serde_json::from_str(&without_lone_surrogates(self.text())).ok())
            }
            None => None,
        }
    }

    /// The value as text, when it is a string without escapes, so that the text is what is written.
    pub(crate) fn plain_str(&self) -> Option<&str> {
        let quoted = self.text().strip_prefix('"')?.strip_suffix('"')?;
        (!quoted.contains('\\')).then_some(quoted)
    }

    /// The value as a boolean, when it is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        self.decode()
    }

    /// Which of the six kinds of JSON value this is.
    #[must_use]
    pub fn kind(&self) -> JsonKind {
        match self.text().as_bytes().first() {
            Some(b'{') => JsonKind::Object,
            Some(b'[') => JsonKind::Array,
            Some(b'"') => JsonKind::String,
            Some(b't' | b'f') => JsonKind::Boolean,
            Some(b'n') => JsonKind::Null,
            _ => JsonKind::Number,
        }
    }

    /// Whether two values mean the same, whatever the order of their keys. Numbers that a double cannot hold exactly
    /// are the same only when they are written the same.
    #[must_use]
    pub fn same_as(&self, other: &Json) -> bool {
        // Deeper than this, only equal text is equal: the depth of an untrusted value must not decide the depth of the stack.
        self.same_within(other, 128)
    }

    fn same_within(&self, other: &Json, depth: u32) -> bool {
        if self.text() == other.text() {
            return true;
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        if let (Some(one), Some(two)) = (self.as_object(), other.as_object()) {
            let is_same = |(key, value): (&str, &Json)| two.get(key).is_some_and(|two| value.same_within(two, depth));
            return one.0.len() == two.0.len() && one.iter().all(is_same);
        }
        if let (Some(one), Some(two)) = (self.as_array(), other.as_array()) {
            return one.len() == two.len() && one.iter().zip(&two).all(|(one, two)| one.same_within(two, depth));
        }
        match (self.kind(), other.kind()) {
            (JsonKind::String, JsonKind::String) => self.as_str() == other.as_str(),
            (JsonKind::Number, JsonKind::Number) => {
                let exact = |json: &Json| json.text().len() <= 15;
                exact(self) && exact(other) && self.decode::<f64>() == other.decode::<f64>()
            }
            _ => false,
        }
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        // Mostly a value is compared with itself, to learn whether a hook has changed it.
        Arc::ptr_eq(&self.0, &other.0) || self.text() == other.text()
    }
}

impl Eq for Json {}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self::from_raw)
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        Self::of(value).unwrap_or_else(|_| Self::null())
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Self::from(&value)
    }
}

/// The six kinds of JSON value.
///
/// ```
/// use hookrail::{Json, JsonKind};
///
/// assert_eq!(Json::boolean(true).kind(), JsonKind::Boolean);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonKind {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    String,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// `null`
    Null,
}

impl JsonKind {
    /// The kind's name with its article, for messages.
    #[must_use]
    pub fn described(self) -> &'static str {
        match self {
            Self::Object => "an object",
            Self::Array => "a list",
            Self::String => "a string",
            Self::Number => "a number",
            Self::Boolean => "a boolean",
            Self::Null => "null",
        }
    }
}

/// One level of a JSON object: keys in their written order, values untouched.
///
/// ```
/// use hookrail::{Json, JsonObject};
///
/// let mut object = JsonObject::new();
/// object.set("path", Json::string("a.txt"));
/// assert_eq!(object.to_json().text(), r#"{"path":"a.txt"}"#);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JsonObject(Vec<(String, Json)>);

impl JsonObject {
    /// An object without members.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The member of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Sets a member: an existing one keeps its place, a new one goes last.
    pub fn set(&mut self, name: impl Into<String>, value: Json) {
        let name = name.into();
        match self.0.iter_mut().find(|(key, _)| *key == name) {
            Some(member) => member.1 = value,
            None => self.0.push((name, value)),
        }
    }

    /// Takes a member out.
    pub fn remove(&mut self, name: &str) -> Option<Json> {
        let at = self.0.iter().position(|(key, _)| key == name)?;
        Some(self.0.remove(at).1)
    }

    /// The members in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Whether there are no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sets every member of `other` on this object: top-level keys overwrite, nested values are replaced whole.
    pub fn merge(&mut self, other: &JsonObject) {
        for (key, value) in other.iter() {
            self.set(key, value.clone());
        }
    }

    /// The object as one JSON value.
    #[must_use]
    pub fn to_json(&self) -> Json {
        Json::of(self).unwrap_or_else(|_| Json::null())
    }

    /// The text of the object, for a caller that only passes it on.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_else(|_| b"null".to_vec())
    }

    /// The text of the object, shared by all hooks that receive it.
    pub(crate) fn to_shared_bytes(&self) -> Arc<[u8]> {
        let mut writer = ObjectWriter::new();
        for (key, value) in &self.0 {
            writer.value(key, value.clone());
        }
        writer.finish().whole()
    }
}

impl<K: Into<String>> FromIterator<(K, Json)> for JsonObject {
    fn from_iter<I: IntoIterator<Item = (K, Json)>>(members: I) -> Self {
        let members = members.into_iter();
        let mut object = Self(Vec::with_capacity(members.size_hint().0));
        for (key, value) in members {
            object.set(key, value);
        }
        object
    }
}

impl Serialize for JsonObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// Up to this many keys are compared with each other, which is faster than an index of them.
const MOST_COMPARED: usize = 32;

impl<'de> Deserialize<'de> for JsonObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // A key that comes twice keeps its first place and its last value, as in JavaScript.
        let written = ObjectMembers::deserialize(deserializer)?.0;
        if written.len() <= MOST_COMPARED {
            return Ok(written.into_iter().collect());
        }
        // The index keeps an object with very many keys from costing quadratic time.
        let mut members: Vec<(String, Json)> = Vec::with_capacity(written.len());
        let mut index = HashMap::<String, usize>::with_capacity(written.len());
        for (key, value) in written {
            match index.get(&key).and_then(|at| members.get_mut(*at)) {
                Some(member) => member.1 = value,
                None => {
                    index.insert(key.clone(), members.len());
                    members.push((key, value));
                }
            }
        }
        Ok(Self(members))
    }
}

/// The members of an object as they are written, also those whose key comes again.
pub(crate) struct ObjectMembers<V>(pub(crate) Vec<(String, V)>);

impl<'de, V: Deserialize<'de>> Deserialize<'de> for ObjectMembers<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect<V>(PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for Collect<V> {
            type Value = ObjectMembers<V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ObjectMembers<V>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(ObjectMembers(members))
            }
        }
        deserializer.deserialize_map(Collect(PhantomData))
    }
}

/// Whether there is white space between the tokens of valid JSON text.
fn needs_compacting(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at = match byte {
            b'"' => after_string(bytes, at + 1),
            b' ' | b'\t' | b'\n' | b'\r' => return true,
            _ => at + 1,
        };
    }
    false
}

/// The place after the closing quote of a string whose content begins here.
pub(crate) fn after_string(bytes: &[u8], begin: usize) -> usize {
    let mut at = begin;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += found;
        if bytes.get(at) == Some(&b'"') {
            return at + 1;
        }
        // A backslash, and what it escapes.
        at += 2;
    }
    bytes.len()
}

/// Valid JSON text without the white space between its tokens; every token keeps its bytes.
fn compact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_string = false;
    let mut escaped = false;
    for character in text.chars() {
        match character {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            ' ' | '\t' | '\n' | '\r' if !in_string => continue,
            _ => {}
        }
        out.push(character);
    }
    out
}

/// JSON text in which every half of a surrogate pair that stands alone is the replacement character. JavaScript writes such
/// texts, and no other language can hold them; the decision beside one must not be lost.
#[must_use]
pub fn without_lone_surrogates(text: &str) -> Cow<'_, str> {
    if !text.contains("\\u") {
        return Cow::Borrowed(text);
    }
    let unit = |rest: &str| u16::from_str_radix(rest.strip_prefix("\\u")?.get(..4)?, 16).ok();
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let (length, is_lone) = match unit(escape) {
            Some(0xd800..=0xdbff) if matches!(escape.get(6..).and_then(unit), Some(0xdc00..=0xdfff)) => (12, false),
            Some(0xd800..=0xdfff) => (6, true),
            Some(_) => (6, false),
            None => (1 + escape.chars().nth(1).map_or(0, char::len_utf8), false),
        };
        let (whole, after) = escape.split_at_checked(length).unwrap_or((escape, ""));
        out.push_str(if is_lone { "\u{fffd}" } else { whole });
        rest = after;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_text_with_half_a_pair_is_a_text() {
        let text = |json: &str| super::Json::parse(json).unwrap().as_str();
        assert_eq!(text(r#""a\ud800b""#).as_deref(), Some("a\u{fffd}b"));
        assert_eq!(text(r#""\udc00\\ud800 \ud83d\ude00 \u0041""#).as_deref(), Some("\u{fffd}\\ud800 \u{1f600} A"));
        // An escape that is none does not hide what follows it.
        assert_eq!(super::without_lone_surrogates(r"\é\ud800"), "\\é\u{fffd}");
    }

    use super::*;

    #[test]
    fn numbers_and_key_order_survive_byte_for_byte() {
        let text = r#"{"z":1.0,"a":9007199254740993,"m":1e400,"s":" \" { "}"#;
        let json = Json::parse(text).unwrap();
        assert_eq!(json.text(), text);
        assert_eq!(json.as_object().unwrap().to_json().text(), text);
    }

    #[test]
    fn white_space_between_tokens_goes_and_inside_strings_stays() {
        let json = Json::parse("{ \"a b\" : [ 1 ,\n 2 ] , \"c\": \"x \\\" y\" }").unwrap();
        assert_eq!(json.text(), r#"{"a b":[1,2],"c":"x \" y"}"#);
    }

    #[test]
    fn strings_of_every_length_end_where_they_end() {
        for length in 0..40 {
            for escape in 0..=length {
                let (before, after) = ("é ".repeat(escape), "x".repeat(length - escape));
                let text = format!(r#"{{"{before}\\\"{after}":"{after}"}}"#);
                assert!(!needs_compacting(&text), "{text}");
                assert!(needs_compacting(&text.replace(':', ": ")), "{text}");
                assert_eq!(after_string(text.as_bytes(), 2), 2 + before.len() + 4 + after.len() + 1, "{text}");
            }
        }
        assert_eq!(after_string(b"no end\\", 0), 7);
    }

    #[test]
    fn a_repeated_key_keeps_its_first_place_and_its_last_value() {
        let object = Json::parse(r#"{"a":1,"b":2,"a":3}"#).unwrap().as_object().unwrap();
        assert_eq!(object.to_json().text(), r#"{"a":3,"b":2}"#);
        assert_eq!(&*object.to_shared_bytes(), object.to_json().text().as_bytes());
    }

    #[test]
    fn sameness_ignores_key_order_and_spelling_but_not_digits() {
        let same = |one: &str, two: &str| Json::parse(one).unwrap().same_as(&Json::parse(two).unwrap());
        assert!(same(r#"{"a":[1,{"b":"x"}],"c":1.0}"#, r#"{"c":1,"a":[1,{"b":"\u0078"}]}"#));
        assert!(!same("123456789012345678901", "123456789012345678902"));
        assert!(!same(r#"{"a":1}"#, r#"{"a":1,"b":1}"#));
        let deep = |inside: &str| format!("{}{inside}{}", "[".repeat(5_000), "]".repeat(5_000));
        assert!(!same(&deep("1"), &deep("1.0")), "a value this deep is compared as text");
    }

    #[test]
    fn merging_overwrites_top_level_keys_and_appends_new_ones() {
        let mut object = Json::parse(r#"{"a":{"x":1},"b":2}"#).unwrap().as_object().unwrap();
        object.merge(&Json::parse(r#"{"c":4,"a":{"y":1}}"#).unwrap().as_object().unwrap());
        assert_eq!(object.to_json().text(), r#"{"a":{"y":1},"b":2,"c":4}"#);
    }
}
