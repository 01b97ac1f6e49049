//! Takes entries out of a settings file and leaves every other byte as it is.

use std::ops::Range;

use hookrail::hook::bridge_program;
use jsonc_parser::ast;
use jsonc_parser::common::Ranged as _;

use super::edit::{EditError, Insertion, commands_of, hooks_in};
use super::entries::SettingsSyntax;
use super::layout::quoted;
use super::syntax::{check_syntax, member, root};

/// Takes recorded changes back, if all of them are still there as they were made.
#[must_use]
pub fn take_back(text: &str, insertions: &[Insertion]) -> Option<String> {
    let mut current = text.to_owned();
    for insertion in insertions.iter().rev() {
        let mut found = current.match_indices(&insertion.text).map(|(at, _)| at);
        // The same text may have been inserted by hand elsewhere; then the recorded place decides.
        let at = match (found.next(), found.next()) {
            (Some(at), None) => at,
            (Some(_), Some(_)) if current.get(insertion.offset..)?.starts_with(&insertion.text) => insertion.offset,
            (Some(_), Some(_)) | (None, _) => return None,
        };
        current.replace_range(at..at + insertion.text.len(), &insertion.replaced);
    }
    Some(current)
}

/// Removes what [`insert_entries`] recorded. If the file was formatted anew in between, or if text was added inside of what
/// was inserted, the entries are found by their commands. Entries of others stay, calls of the bridge included.
///
/// # Errors
///
/// The file cannot be read. Nothing is changed then.
pub fn remove_entries(text: &str, insertions: &[Insertion]) -> Result<String, EditError> {
    // Taking an insertion back can leave a trailing comma if the user added a member before it. Claude Code and Gemini CLI do
    // not read such a file, so a text that an agent could read must stay one.
    let stays_readable = |before: &str| {
        let syntaxes = [SettingsSyntax::StrictJson, SettingsSyntax::JsonWithComments, SettingsSyntax::LenientJson];
        let mut accepted = syntaxes.into_iter().filter(|syntax| check_syntax(text, *syntax).is_ok());
        root(before).is_ok() && accepted.all(|syntax| check_syntax(before, syntax).is_ok())
    };
    if let Some(before) = take_back(text, insertions)
        && (before.trim().is_empty() || stays_readable(&before))
    {
        return Ok(before);
    }
    if text.trim().is_empty() {
        return Ok(text.to_owned());
    }
    let mut current = text.to_owned();
    let mut remaining = insertions.to_vec();
    while let Some(recorded) = recorded_entry(&current, &remaining)? {
        current.replace_range(recorded.range, &recorded.replaced);
        if !recorded.replaced.is_empty() {
            // What the user wrote can have the same command, and is taken for the entry again if the record is kept.
            remaining.remove(recorded.insertion);
        }
    }
    while let Some(range) = emptied_member(&current, insertions)? {
        current.replace_range(range, "");
    }
    let whole_file = insertions.first().is_some_and(|first| first.text == "{}\n");
    let is_empty = root(&current)?.properties.is_empty();
    Ok(if whole_file && is_empty { String::new() } else { current })
}

/// The range of an item of a list or an object, with the comma that belongs to it.
fn item_range(text: &str, before: Option<usize>, item: Range<usize>, after: Option<usize>) -> Range<usize> {
    match (before, after) {
        (Some(end), _) => end..item.end,
        (None, Some(start)) => item.start..start,
        (None, None) => {
            let rest = text.get(item.end..).unwrap_or_default();
            let blanks = rest.len() - rest.trim_start().len();
            let comma = usize::from(rest.trim_start().starts_with(','));
            item.start..item.end + if comma == 1 { blanks + comma } else { 0 }
        }
    }
}

/// An entry that was recorded.
struct RecordedEntry {
    range: Range<usize>,
    /// What stood there before.
    replaced: String,
    /// The position of its record.
    insertion: usize,
}

fn recorded_entry(text: &str, insertions: &[Insertion]) -> Result<Option<RecordedEntry>, EditError> {
    let root = root(text)?;
    let Some(ast::Value::Object(hooks)) = member(&root, "hooks") else { return Ok(None) };
    for property in &hooks.properties {
        let ast::Value::Array(list) = &property.value else { continue };
        for (index, element) in list.elements.iter().enumerate() {
            let [command] = commands_of(element)[..] else { continue };
            let at = insertions.iter().position(|insertion| insertion.text.contains(&quoted(command)));
            let at = at.filter(|_| hooks_in(element) == 1 && bridge_program(command).is_some());
            let Some((insertion, recorded)) = at.and_then(|at| Some((at, insertions.get(at)?))) else { continue };
            if !recorded.replaced.is_empty() {
                let range = element.start()..element.end();
                return Ok(Some(RecordedEntry { range, replaced: recorded.replaced.clone(), insertion }));
            }
            let before = index.checked_sub(1).and_then(|index| list.elements.get(index)).map(ast::Value::end);
            let after = list.elements.get(index + 1).map(ast::Value::start);
            let range = item_range(text, before, element.start()..element.end(), after);
            return Ok(Some(RecordedEntry { range, replaced: String::new(), insertion }));
        }
    }
    Ok(None)
}

/// The range of a list, or of `hooks` itself, that was inserted and has become empty.
fn emptied_member(text: &str, insertions: &[Insertion]) -> Result<Option<Range<usize>>, EditError> {
    let inserted = |name: &str, open: char| {
        let start = format!("{}: {open}", quoted(name));
        insertions.iter().any(|insertion| insertion.text.contains(&start))
    };
    let root = root(text)?;
    let Some(ast::Value::Object(hooks)) = member(&root, "hooks") else { return Ok(None) };
    let (object, name) = if hooks.properties.is_empty() && inserted("hooks", '{') {
        (&root, "hooks")
    } else {
        let is_emptied = |property: &&ast::ObjectProp<'_>| {
            matches!(&property.value, ast::Value::Array(list) if list.elements.is_empty())
                && inserted(property.name.as_str(), '[')
        };
        match hooks.properties.iter().find(is_emptied) {
            Some(property) => (hooks, property.name.as_str()),
            None => return Ok(None),
        }
    };
    let Some(index) = object.properties.iter().position(|property| property.name.as_str() == name) else {
        return Ok(None);
    };
    let end = |at: usize| object.properties.get(at).map(|property| property.range.end);
    let start = |at: usize| object.properties.get(at).map(|property| property.range.start);
    let own = start(index).zip(end(index)).map(|(start, end)| start..end);
    Ok(own.map(|own| item_range(text, index.checked_sub(1).and_then(end), own, start(index + 1))))
}
