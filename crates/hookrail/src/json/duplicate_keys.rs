//! Keys that an object has more than once. JSON allows it and parsers disagree: one takes the first value, another the
//! last. This module knows JSON and nothing else.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::de::IgnoredAny;

use crate::json::{Json, ObjectMembers, after_string};

impl Json {
    /// The first key that an object in this value has twice, at any depth; none when every key is written once.
    #[must_use]
    pub fn repeated_key(&self) -> Option<String> {
        let text = self.text();
        let bytes = text.as_bytes();
        // The keys of the object that is being read; none in a list. What is around it is kept in a list instead of by
        // recursion: the depth of an untrusted value must not decide the depth of the stack.
        let mut keys: Option<Keys<'_>> = None;
        let mut around: Vec<Option<Box<Keys<'_>>>> = Vec::new();
        let mut key_is_next = false;
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            at += 1;
            match byte {
                b'{' | b'[' => {
                    // Nothing is around the value itself, so an object without another one in it needs no list.
                    if at > 1 {
                        around.push(keys.take().map(Box::new));
                    }
                    key_is_next = *byte == b'{';
                    keys = key_is_next.then(Keys::default);
                }
                b'}' | b']' => {
                    keys = around.pop().flatten().map(|keys| *keys);
                    key_is_next = false;
                }
                b',' => key_is_next = keys.is_some(),
                b'"' => {
                    let begin = at;
                    at = after_string(bytes, begin);
                    if std::mem::take(&mut key_is_next)
                        && let Some(keys) = &mut keys
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
        self.decode::<ObjectMembers<Json>>().map(|members| members.0).unwrap_or_default()
    }
}

/// The first key that the object of this text has twice itself; none when there is none, or when the text is no object.
/// The values are not looked at and not copied.
#[must_use]
pub fn repeated_member(text: &str) -> Option<String> {
    serde_json::from_str::<ObjectMembers<IgnoredAny>>(text).ok().and_then(|members| {
        let mut seen = HashSet::new();
        members.0.into_iter().map(|(key, _)| key).find(|key| !seen.insert(key.clone()))
    })
}

/// The keys of an object so far. Few are compared one by one, which takes less time than hashing them, and no allocation.
#[derive(Default)]
struct Keys<'t> {
    few: [Option<Cow<'t, str>>; 8],
    more: HashSet<Cow<'t, str>>,
}

impl<'t> Keys<'t> {
    /// Adds a key; gives it back if it was there.
    fn add(&mut self, key: Cow<'t, str>) -> Option<Cow<'t, str>> {
        for place in &mut self.few {
            match place {
                Some(known) if *known == key => return Some(key),
                Some(_) => {}
                None => {
                    *place = Some(key);
                    return None;
                }
            }
        }
        self.more.replace(key)
    }
}

/// A key as a parser reads it: an escape and the character it encodes are the same.
fn decoded(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw);
    }
    // Half a character cannot be decoded, and is compared as it is written.
    serde_json::from_str::<String>(&format!("\"{raw}\"")).map_or(Cow::Borrowed(raw), Cow::Owned)
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
