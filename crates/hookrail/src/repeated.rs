//! Keys that an object has more than once. JSON allows it and parsers disagree: one takes the first value, another the
//! last. This module knows JSON and nothing else.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::json::Json;

impl Json {
    /// The first key that an object in this value has twice, at any depth; none when every key is written once.
    #[must_use]
    pub fn repeated_key(&self) -> Option<String> {
        let text = self.text();
        let bytes = text.as_bytes();
        // A list of what is open instead of recursion: the depth of a stranger's value must not be the depth of a stack.
        let mut open: Vec<Option<Keys<'_>>> = Vec::new();
        let mut key_is_next = false;
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            at += 1;
            match byte {
                b'{' => {
                    open.push(Some(Keys::default()));
                    key_is_next = true;
                }
                b'[' => {
                    open.push(None);
                    key_is_next = false;
                }
                b'}' | b']' => {
                    open.pop();
                    key_is_next = false;
                }
                b',' => key_is_next = matches!(open.last(), Some(Some(_))),
                b'"' => {
                    let begin = at;
                    at = after_string(bytes, begin);
                    if std::mem::take(&mut key_is_next)
                        && let Some(Some(keys)) = open.last_mut()
                    {
                        let key = decoded(text.get(begin..at.saturating_sub(1)).unwrap_or_default());
                        if let Some(key) = keys.add(key) {
                            return Some(key.into_owned());
                        }
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// The first of this object's own keys that it has twice; none when there is none, or when this is no object.
    #[must_use]
    pub fn repeated_member(&self) -> Option<String> {
        repeated_member(self.text())
    }

    /// The members of an object as they are written, also those whose key comes again; nothing when this is no object.
    pub(crate) fn members(&self) -> Vec<(String, Json)> {
        self.decode::<Members<Json>>().map(|members| members.0).unwrap_or_default()
    }
}

/// The first key that the object of this text has twice itself; none when there is none, or when the text is no object.
/// The values are not looked at and not copied.
#[must_use]
pub fn repeated_member(text: &str) -> Option<String> {
    serde_json::from_str::<Members<IgnoredAny>>(text).ok().and_then(|members| {
        let mut seen = HashSet::new();
        members.0.into_iter().map(|(key, _)| key).find(|key| !seen.insert(key.clone()))
    })
}

/// The keys of an object so far. Few are compared one by one, because hashing them takes longer.
#[derive(Default)]
struct Keys<'t> {
    first: Vec<Cow<'t, str>>,
    more: HashSet<Cow<'t, str>>,
}

impl<'t> Keys<'t> {
    /// Adds a key; gives it back if it was there.
    fn add(&mut self, key: Cow<'t, str>) -> Option<Cow<'t, str>> {
        const FEW: usize = 16;
        if self.first.contains(&key) {
            return Some(key);
        }
        if self.first.len() < FEW {
            self.first.push(key);
            return None;
        }
        self.more.replace(key)
    }
}

/// The number of bytes at the front in which no string ends and nothing is escaped, in whole blocks. A file's content is
/// one long string; looking at a block at once lets the compiler use vector instructions.
fn plain_length(bytes: &[u8]) -> usize {
    const BLOCK: usize = 64;
    // The sum of bytes becomes a few vector instructions; one of truth values became a slower mixture (23 ns against 86 ns
    // for 1 KiB).
    let found = |byte: &u8| u8::from(*byte == b'"') | u8::from(*byte == b'\\');
    let ends = |block: &[u8]| block.iter().fold(0, |ends, byte| ends | found(byte)) != 0;
    bytes.chunks_exact(BLOCK).take_while(|block| !ends(block)).count() * BLOCK
}

/// The place after the closing quote of a string whose content begins here.
fn after_string(bytes: &[u8], begin: usize) -> usize {
    let mut at = begin + bytes.get(begin..).map_or(0, plain_length);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// A key as a parser reads it: an escape and the character it stands for are the same.
fn decoded(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw);
    }
    // Half a character cannot be decoded, and is compared as it is written.
    serde_json::from_str::<String>(&format!("\"{raw}\"")).map_or(Cow::Borrowed(raw), Cow::Owned)
}

/// The members of an object, none left out.
struct Members<V>(Vec<(String, V)>);

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Members<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect<V>(PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for Collect<V> {
            type Value = Members<V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<V>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeated(text: &str) -> Option<String> {
        Json::parse(text).unwrap().repeated_key()
    }

    #[test]
    fn a_repeated_key_is_found_at_any_depth_and_however_it_is_written() {
        for text in [
            r#"{"path":1,"path":2}"#,
            r#"{"path":1,"p\u0061th":2}"#,
            r#"{"x":{"path":1,"y":[],"path":1}}"#,
            r#"[1,"path",{"a":"\"","path":{},"b":[{"c":1}],"path":null}]"#,
        ] {
            assert_eq!(repeated(text).as_deref(), Some("path"), "{text}");
        }
        let deep = format!("{}{{\"path\":1,\"path\":2}}{}", "[".repeat(5_000), "]".repeat(5_000));
        assert_eq!(repeated(&deep).as_deref(), Some("path"));
        assert_eq!(repeated(r#"{"\ud800":1,"\ud800":2}"#).as_deref(), Some("\\ud800"));
    }

    #[test]
    fn the_same_word_in_another_object_or_as_a_value_is_no_repetition() {
        for text in [
            r#"{"a":{"a":{"a":"a"}},"b":["a","a",{"a":1},{"a":1}],"c":"a"}"#,
            r#"{"a":"\",\"a\":1","A":1}"#,
            r#"["a","a"]"#,
            "{}",
            "1",
        ] {
            assert_eq!(repeated(text), None, "{text}");
        }
    }

    #[test]
    fn members_are_all_there_in_order() {
        let json = Json::parse(r#"{"a":1,"b":2,"a":3}"#).unwrap();
        let members: Vec<(String, String)> =
            json.members().into_iter().map(|(key, value)| (key, value.text().to_owned())).collect();
        assert_eq!(
            members,
            [("a", "1"), ("b", "2"), ("a", "3")].map(|(key, value)| (key.to_owned(), value.to_owned()))
        );
        assert_eq!(json.repeated_member().as_deref(), Some("a"));
        assert_eq!(Json::parse(r#"{"a":{"b":1,"b":1}}"#).unwrap().repeated_member(), None);
        assert!(Json::parse("[1]").unwrap().members().is_empty());
    }
}
