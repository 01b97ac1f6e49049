//! The list `[dialects] enabled` in the text of a configuration file: adding a name and removing one. Every other byte stays as
//! it is, comments included.

use std::ops::Range;
use std::path::Path;

use hookrail::sources::{Document, PlacedValue};

const SECTION: &str = "dialects";
const KEY: &str = "enabled";

/// Why a text is not changed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EditProblem {
    /// It is no valid TOML.
    Syntax(String),
    /// The key is there in a form that is not changed mechanically.
    Form,
}

/// Returns the text with a name in its list; none if it is there.
pub(super) fn with_name(text: &str, name: &str) -> Result<Option<String>, EditProblem> {
    let document = parse(text)?;
    let changed = match list(&document)? {
        Some(names) if positions(names, name).next().is_some() => return Ok(None),
        Some(names) => insert_name(text, names, name),
        None => insert_key(text, &document, name),
    };
    verified(changed, name, true)
}

/// Returns the text without a name in its list; none if it is not there.
pub(super) fn without_name(text: &str, name: &str) -> Result<Option<String>, EditProblem> {
    let document = parse(text)?;
    let Some(names) = list(&document)? else { return Ok(None) };
    let found: Vec<&PlacedValue> = positions(names, name).collect();
    let mut changed = text.to_owned();
    // From the end, so that earlier places stay what they are.
    for element in found.iter().rev() {
        changed.replace_range(with_comma(text, &element.span, names.span.end), "");
    }
    if found.is_empty() { Ok(None) } else { verified(changed, name, false) }
}

fn parse(text: &str) -> Result<Document, EditProblem> {
    Document::of_toml(Path::new(""), text.to_owned()).map_err(|fault| EditProblem::Syntax(fault.why))
}

fn list(document: &Document) -> Result<Option<&PlacedValue>, EditProblem> {
    let Some(section) = document.root().and_then(|root| root.get(SECTION)) else { return Ok(None) };
    if section.members().is_none() {
        return Err(EditProblem::Form);
    }
    let Some(value) = section.get(KEY) else { return Ok(None) };
    if value.elements().is_some() { Ok(Some(value)) } else { Err(EditProblem::Form) }
}

fn positions<'l>(list: &'l PlacedValue, name: &'l str) -> impl Iterator<Item = &'l PlacedValue> + 'l {
    list.elements().unwrap_or_default().iter().filter(move |known| known.text() == Some(name))
}

/// The text with one more name behind the last one.
fn insert_name(text: &str, list: &PlacedValue, name: &str) -> String {
    let (at, added) = match list.elements().and_then(<[_]>::last) {
        Some(last) => (last.span.end, format!(", \"{name}\"")),
        None => (list.span.start + 1, format!("\"{name}\"")),
    };
    inserted(text, at, &added)
}

/// The text with the whole list, in its section if that is there.
fn insert_key(text: &str, document: &Document, name: &str) -> String {
    let line = format!("{KEY} = [\"{name}\"]\n");
    match document.root().and_then(|root| root.member(SECTION)) {
        Some((header, _)) => {
            let rest = text.get(header.span.end..).unwrap_or_default();
            match rest.find('\n') {
                Some(end) => inserted(text, header.span.end + end + 1, &line),
                None => format!("{text}\n{line}"),
            }
        }
        None => {
            let blank = match text {
                "" => "",
                _ if text.ends_with('\n') => "\n",
                _ => "\n\n",
            };
            format!("{text}{blank}[{SECTION}]\n{line}")
        }
    }
}

/// A name with the comma behind it, or else the one before it.
fn with_comma(text: &str, name: &Range<usize>, end: usize) -> Range<usize> {
    let behind = text.get(name.end..end).unwrap_or_default();
    let blanks = behind.len() - behind.trim_start().len();
    if behind.trim_start().starts_with(',') {
        let rest = behind.get(blanks + 1..).unwrap_or_default();
        // A name on a line of its own leaves the line break to the next one.
        let after = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        return name.start..name.end + blanks + 1 + after;
    }
    let before = text.get(..name.start).unwrap_or_default().trim_end();
    if before.ends_with(',') { before.len() - 1..name.end } else { name.clone() }
}

fn inserted(text: &str, at: usize, added: &str) -> String {
    let (before, behind) = text.split_at_checked(at).unwrap_or((text, ""));
    format!("{before}{added}{behind}")
}

/// Returns the changed text if it is TOML whose list says what it is meant to say.
fn verified(changed: String, name: &str, is_listed: bool) -> Result<Option<String>, EditProblem> {
    let document = parse(&changed).map_err(|_| EditProblem::Form)?;
    let found = list(&document)?.is_some_and(|names| positions(names, name).next().is_some());
    if found == is_listed { Ok(Some(changed)) } else { Err(EditProblem::Form) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_added_and_every_other_byte_stays() {
        for (text, expected) in [
            ("", "[dialects]\nenabled = [\"codex\"]\n"),
            ("[limits]\nprocesses = 4 # few", "[limits]\nprocesses = 4 # few\n\n[dialects]\nenabled = [\"codex\"]\n"),
            ("[dialects] # mine\n[bus]\n", "[dialects] # mine\nenabled = [\"codex\"]\n[bus]\n"),
            ("[dialects]", "[dialects]\nenabled = [\"codex\"]\n"),
            ("[dialects]\nenabled = []\n", "[dialects]\nenabled = [\"codex\"]\n"),
            ("dialects.enabled = ['claude'] # a\n", "dialects.enabled = ['claude', \"codex\"] # a\n"),
            (
                "[dialects]\nenabled = [\n  \"claude\", # first\n]\n",
                "[dialects]\nenabled = [\n  \"claude\", \"codex\", # first\n]\n",
            ),
        ] {
            assert_eq!(with_name(text, "codex"), Ok(Some(expected.to_owned())), "{text}");
            assert_eq!(with_name(expected, "codex"), Ok(None), "{text}");
        }
    }

    #[test]
    fn a_name_is_removed_wherever_it_stands() {
        for (text, expected) in [
            ("dialects.enabled = [\"codex\"]\n", "dialects.enabled = []\n"),
            ("dialects.enabled = [\"codex\", \"claude\"]", "dialects.enabled = [\"claude\"]"),
            ("dialects.enabled = [ \"claude\", \"codex\" ]", "dialects.enabled = [ \"claude\" ]"),
            ("dialects.enabled = [\"codex\", 'codex',]", "dialects.enabled = []"),
            (
                "[dialects]\nenabled = [\n  \"claude\", # first\n  \"codex\", # second\n]\n",
                "[dialects]\nenabled = [\n  \"claude\", # first\n  # second\n]\n",
            ),
        ] {
            assert_eq!(without_name(text, "codex"), Ok(Some(expected.to_owned())), "{text}");
            assert_eq!(without_name(expected, "codex"), Ok(None), "{text}");
        }
        assert_eq!(without_name("", "codex"), Ok(None));
    }

    #[test]
    fn what_cannot_be_changed_safely_is_left_alone() {
        for text in ["dialects = 1", "[dialects]\nenabled = \"claude\"\n", "dialects = { other = 1 }\n"] {
            assert_eq!(with_name(text, "codex"), Err(EditProblem::Form), "{text}");
        }
        assert!(matches!(with_name("[dialects", "codex"), Err(EditProblem::Syntax(_))));
    }
}
