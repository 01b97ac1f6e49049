//! Finds the values of a hook's entry in the text of its file, so that a caret can stand below the value that is meant.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use hookrail::sources::{Document, PlacedKey, PlacedValue};

/// The keys of an object, and the spans of their values.
type Values = Vec<(String, Range<usize>)>;

/// The places of the values of every object of a file. An object without a key of its own has those of the object
/// around it: the matcher of a hook stands in its group.
#[derive(Debug, Default)]
pub(super) struct EntryPlaces(HashMap<(usize, usize), Values>);

impl EntryPlaces {
    /// Reads the objects of a text; none of a text that is not JSON.
    pub(super) fn read(text: &str) -> Self {
        let document = tree(text);
        let mut places = Self::default();
        let nothing: &[(PlacedKey, PlacedValue)] = &[];
        let root = document.as_ref().and_then(Document::root);
        let mut waiting: Vec<(&PlacedValue, &[(PlacedKey, PlacedValue)])> =
            root.map(|value| (value, nothing)).into_iter().collect();
        while let Some((value, around)) = waiting.pop() {
            if let Some(members) = value.members() {
                // The values of the entry itself come first: a plugin's entry has a matcher of its own.
                let values = members.iter().chain(around);
                let values = values.map(|(key, value)| (key.name.clone(), value.span.clone())).collect();
                places.0.insert((value.span.start, value.span.end), values);
                waiting.extend(members.iter().map(|(_, value)| (value, members)));
            }
            waiting.extend(value.elements().unwrap_or_default().iter().map(|element| (element, around)));
        }
        places
    }

    /// The span of the value of a key of the object at a span.
    pub(super) fn value(&self, object: &Range<usize>, key: &str) -> Option<Range<usize>> {
        let values = self.0.get(&(object.start, object.end))?;
        values.iter().find(|(name, _)| name == key).map(|(_, span)| span.clone())
    }
}

/// A text as a tree with the places of the text; none of one that is not JSON, or that had to be repaired to be read.
pub(super) fn tree(text: &str) -> Option<Document> {
    Document::of_json(Path::new(""), text.to_owned()).ok().filter(|document| document.text() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repaired_text_has_no_places() {
        assert!(tree(r#"{"a": "\ud83d\ude00"}"#).is_some());
        assert!(tree(r#"{"a": "\ud800"}"#).is_none());
    }

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
