//! Finds the values of a hook's entry in the text of its file, so that a caret can stand below the value that is meant.

use std::ops::Range;

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// The places of the values of one entry and of the group around it.
#[derive(Debug, Default)]
pub(super) struct EntryPlaces(Vec<(String, Range<usize>)>);

impl EntryPlaces {
    /// Finds the object at a span; none if the text is not what it was when the span was taken.
    pub(super) fn find(text: &str, span: &Range<usize>) -> Option<Self> {
        let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default()).ok()?;
        let mut place = &parsed.value?;
        let mut around: Option<&Object<'_>> = None;
        loop {
            if (place.start()..place.end()) == *span {
                let object = place.as_object()?;
                // The value of the entry itself comes first: a plugin's entry has a matcher of its own.
                let values = members(object).chain(around.into_iter().flat_map(members)).collect();
                return Some(Self(values));
            }
            let holds = |inner: &&Value<'_>| inner.start() <= span.start && span.end <= inner.end();
            place = match place {
                Value::Object(object) => {
                    around = Some(object);
                    object.properties.iter().map(|member| &member.value).find(holds)?
                }
                Value::Array(array) => array.elements.iter().find(holds)?,
                _ => return None,
            };
        }
    }

    /// The span of the value of a key.
    pub(super) fn value(&self, key: &str) -> Option<Range<usize>> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, span)| span.clone())
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
        let entry = EntryPlaces::find(text, &(start..end)).unwrap();
        let of = |key: &str| entry.value(key).map(|span| &text[span]);
        assert_eq!((of("timeout"), of("matcher"), of("name")), (Some("5"), Some("\"m\""), None));
        assert!(EntryPlaces::find(text, &(1..3)).is_none());
    }
}
