//! A case file as a tree of values with their places, whichever of the two formats it is written in.

use std::ops::Range;
use std::path::Path;

use hookrail::sources::{Document, PlacedValue, ValueShape};
use hookrail::{Code, Diagnostic};
use serde_json::Number;

/// Parses the text of a case file. The name of the file says which format it has.
pub(super) fn parse(file: &Path, text: &str) -> Result<Document, Diagnostic> {
    let is_json = file.extension().is_some_and(|extension| extension == "json");
    let parsed =
        if is_json { Document::of_json(file, text.to_owned()) } else { Document::of_toml(file, text.to_owned()) };
    let document = parsed.map_err(|fault| {
        let finding = fault.finding(if is_json { "invalid JSON" } else { "invalid TOML" });
        if finding.hint.is_some() { finding } else { with_examples(finding) }
    })?;
    let syntax = |span: &Range<usize>, message: &str| document.finding(Code::FileSyntax, span, message);
    let Some(root) = document.root() else { return Err(with_examples(syntax(&(0..0), "the file is empty"))) };
    if let Some(key) = root.repeated_keys().first() {
        return Err(syntax(&key.span, &format!("duplicate key `{}`", key.name)).hint("write every key once"));
    }
    match not_for_events(root) {
        Some((span, message, hint)) => Err(syntax(span, message).hint(hint)),
        None => Ok(document),
    }
}

fn with_examples(finding: Diagnostic) -> Diagnostic {
    finding.hint("`hookrail docs how-to/test` has examples")
}

/// A value that no event can have, and why.
fn not_for_events(value: &PlacedValue) -> Option<(&Range<usize>, &'static str, &'static str)> {
    match &value.shape {
        ValueShape::Date(_) => Some((&value.span, "a date has no place in an event", "write it in quotes")),
        // JSON would have it as a fraction, which is another number.
        ValueShape::Number(number) if value.is_whole() && value.count().is_none() && number.parse::<i64>().is_err() => {
            Some((&value.span, "this number is too large", "write it in quotes"))
        }
        ValueShape::Number(number) if number.parse::<Number>().is_err() => {
            Some((&value.span, "this is no JSON number", "write it in quotes, or as JSON does"))
        }
        ValueShape::Object(members) => members.iter().find_map(|(_, value)| not_for_events(value)),
        ValueShape::Array(elements) => elements.iter().find_map(not_for_events),
        ValueShape::Text(_) | ValueShape::Number(_) | ValueShape::Flag(_) | ValueShape::Null => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_event_can_have_is_refused_with_its_place() {
        for (name, text, refused) in [
            ("a.hooktest.toml", "a = [1, 2.5, 0x10]\n", None),
            ("a.hooktest.toml", "a = 1\nb = 2027-01-31\n", Some((2, "a date has no place in an event"))),
            ("a.hooktest.toml", "a = 1\n[b]\nc = [nan]\n", Some((3, "this is no JSON number"))),
            ("a.hooktest.toml", "a = 99999999999999999999\n", Some((1, "this number is too large"))),
            ("a.hooktest.toml", "a = [\n", Some((1, "invalid TOML: unclosed array, expected `]`"))),
            ("a.hooktest.json", "{\"a\": [1, -2.5e3]}", None),
            ("a.hooktest.json", "{\"a\": {\n\"b\": 1,\n\"b\": 2}}", Some((3, "duplicate key `b`"))),
            ("a.hooktest.json", "{\"a\": 1 \"b\": 2}", Some((1, "invalid JSON: expected comma"))),
            ("a.hooktest.json", "// nothing", Some((1, "the file is empty"))),
        ] {
            let found = parse(Path::new(name), text).err();
            let found = found.map(|found| (found.location.map_or(0, |place| place.line), found.message));
            assert_eq!(found, refused.map(|(line, message)| (line, message.to_owned())), "{text}");
        }
    }
}
