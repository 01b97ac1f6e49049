//! Finds the values of a hook's entry in the text of its file, so that a caret can stand below the value that is meant.

use std::collections::HashMap;
use std::ops::Range;

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// The keys of an object, and the spans of their values.
type Values = Vec<(String, Range<usize>)>;

/// The places of the values of every object of a file. An object without a key of its own has those of the object
/// around it: the matcher of a hook stands in its group.
#[derive(Debug, Default)]
pub(super) struct EntryPlaces(HashMap<(usize, usize), Values>);

impl EntryPlaces {
    /// Reads the objects of a text; none of a text that is not JSON.
    pub(super) fn read(text: &str) -> Self {
        let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
        let mut places = Self::default();
        let mut waiting: Vec<(&Value<'_>, Option<&Object<'_>>)> = Vec::new();
        let root = parsed.ok().and_then(|parsed| parsed.value);
        waiting.extend(root.iter().map(|value| (value, None)));
        while let Some((value, around)) = waiting.pop() {
            match value {
                Value::Object(object) => {
                    // The values of the entry itself come first: a plugin's entry has a matcher of its own.
                    let values = members(object).chain(around.into_iter().flat_map(members)).collect();
                    places.0.insert((value.start(), value.end()), values);
                    waiting.extend(object.properties.iter().map(|member| (&member.value, Some(object))));
                }
                Value::Array(array) => waiting.extend(array.elements.iter().map(|element| (element, around))),
                _ => {}
            }
        }
        places
    }

    /// The span of the value of a key of the object at a span.
    pub(super) fn value(&self, object: &Range<usize>, key: &str) -> Option<Range<usize>> {
        let values = self.0.get(&(object.start, object.end))?;
        values.iter().find(|(name, _)| name == key).map(|(_, span)| span.clone())
    }
}

fn members(object: &Object<'_>) -> impl Iterator<Item = (String, Range<usize>)> {
    object
        .properties
        .iter()
        .map(|member: &ObjectProp<'_>| (member.name.as_str().to_owned(), member.value.start()..member.value.end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_of_an_entry_and_of_its_group() {
        let text = r#"{"hooks": {"E": [{"matcher": "m", "hooks": [{"command": "c", /* ms */ "timeout": 5}]}]}}"#;
        let start = text.find("{\"command\"").unwrap();
        let end = text.find("}]}]").unwrap() + 1;
        let places = EntryPlaces::read(text);
        let of = |key: &str| places.value(&(start..end), key).map(|span| &text[span]);
        assert_eq!((of("timeout"), of("matcher"), of("name")), (Some("5"), Some("\"m\""), None));
        assert_eq!(places.value(&(1..3), "timeout"), None);
    }
}
