//! Takes entries out of a settings file and leaves every other byte as it is.

use std::ops::Range;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged as _;

use super::call::BridgeCommand;
use super::edit::{commands_of, members_of};
use super::layout::quoted;
use super::syntax::{check_syntax, member, root};
use crate::agents::Agent;
use crate::settings::{EditError, Insertion, SettingsSyntax};

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

/// Removes what [`insert_entries`](super::insert_entries) recorded, and entries in the form that an installation writes, which
/// the user may have edited since. If the file was formatted anew in between, or if text was added inside of what was
/// inserted, the entries are found by their commands. Hooks of others stay, also in a group with an entry of ours, and so do
/// calls of the bridge that a user wrote.
///
/// # Errors
///
/// The file cannot be read. Nothing is changed then.
pub fn remove_entries(agent: Agent, text: &str, insertions: &[Insertion]) -> Result<String, EditError> {
    // Taking an insertion back can leave a trailing comma if the user added a member before it. Some agents do not
    // read such a file, so a text that an agent could read must stay one.
    let stays_readable = |before: &str| {
        let syntaxes = [SettingsSyntax::StrictJson, SettingsSyntax::JsonWithComments, SettingsSyntax::LenientJson];
        let mut accepted = syntaxes.into_iter().filter(|syntax| check_syntax(text, *syntax).is_ok());
        root(before).is_ok() && accepted.all(|syntax| check_syntax(before, syntax).is_ok())
    };
    let taken_back = take_back(text, insertions).filter(|before| before.trim().is_empty() || stays_readable(before));
    let (mut current, mut remaining) = match taken_back {
        Some(before) => (before, Vec::new()),
        None => (text.to_owned(), insertions.to_vec()),
    };
    if current.trim().is_empty() {
        return Ok(current);
    }
    let insertions = remaining.clone();
    while let Some(found) = next_own_entry(agent, &current, &remaining)? {
        current.replace_range(found.range, &found.replacement);
        if let Some(restored) = found.restored {
            // What the user wrote can have the same command, and is taken for the entry again if the record is kept.
            remaining.remove(restored);
        }
    }
    while let Some(removal) = emptied_member(&current, &insertions)? {
        current.replace_range(removal.range, &removal.kept);
    }
    let whole_file = insertions.first().is_some_and(|first| first.text == "{}\n");
    let is_empty = root(&current)?.properties.is_empty();
    Ok(if whole_file && is_empty { String::new() } else { current })
}

/// The place of a command that calls the bridge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallPlace {
    /// The line, from 1.
    pub line: usize,
    /// The command.
    pub command: String,
}

/// Every command of a settings file that calls the bridge, for any agent.
///
/// # Errors
///
/// The file cannot be read.
pub fn call_places(text: &str) -> Result<Vec<CallPlace>, EditError> {
    let root = root(text)?;
    let Some(ast::Value::Object(hooks)) = member(&root, "hooks") else { return Ok(Vec::new()) };
    let lists = hooks.properties.iter().filter_map(|property| property.value.as_array());
    let hooks = lists.flat_map(|list| &list.elements).flat_map(members_of);
    let calls = hooks.filter_map(|hook| {
        let command = *commands_of(hook).first()?;
        BridgeCommand::read(command)?;
        let written = text.get(hook.start()..hook.end())?;
        let at = hook.start() + written.find(&quoted(command)).unwrap_or_default();
        Some(CallPlace { line: text.get(..at)?.matches('\n').count() + 1, command: command.to_owned() })
    });
    Ok(calls.collect())
}

/// What the removal of an item does to a text.
struct Removal {
    range: Range<usize>,
    /// Comments beside the item.
    kept: String,
}

/// Removes an item of a list or an object, with the comma that belongs to it. `open` is the offset after the opening bracket.
fn remove_item(text: &str, open: usize, before: Option<usize>, item: Range<usize>, after: Option<usize>) -> Removal {
    let comments = |range: Range<usize>| {
        let between = text.get(range).unwrap_or_default();
        if between.contains('/') { without_comma(between) } else { String::new() }
    };
    let rest = text.get(item.end..).unwrap_or_default();
    let (range, kept) = match (before, after) {
        (Some(end), _) => {
            let kept = comments(end..item.start);
            // A comment may reach to the end of its line.
            let kept = if rest.starts_with(['\r', '\n']) { kept.trim_end().to_owned() } else { kept };
            (end..item.end, kept)
        }
        (None, Some(start)) => (item.start..start, comments(item.end..start)),
        (None, None) => {
            let trailing_comma = rest.trim_start().starts_with(',').then(|| rest.find(',')).flatten();
            let end = trailing_comma.map_or(item.end, |comma| item.end + comma + 1);
            let is_first = text.get(open..item.start).is_some_and(|before| before.trim().is_empty());
            // An only item was inserted on lines of its own.
            let range = if is_first { open..end + line_length(text, end) } else { item.start..end };
            (range, String::new())
        }
    };
    Removal { range, kept }
}

/// The length of a line end and the blanks behind it.
fn line_length(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let Some(line) = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')) else { return 0 };
    rest.len() - line.trim_start_matches([' ', '\t']).len()
}

/// The text between two items without the comma.
fn without_comma(between: &str) -> String {
    let mut text = between.to_owned();
    let first = between.len() - between.trim_start().len();
    let comma = if between.trim_start().starts_with(',') { Some(first) } else { between.rfind(',') };
    if let Some(comma) = comma {
        text.remove(comma);
    }
    text
}

/// An entry of an installation, and what takes its place.
struct OwnEntry {
    range: Range<usize>,
    replacement: String,
    /// The position of the record of what stood there before.
    restored: Option<usize>,
}

fn next_own_entry(agent: Agent, text: &str, insertions: &[Insertion]) -> Result<Option<OwnEntry>, EditError> {
    let root = root(text)?;
    let Some(ast::Value::Object(hooks)) = member(&root, "hooks") else { return Ok(None) };
    for property in &hooks.properties {
        let (event, ast::Value::Array(list)) = (property.name.as_str(), &property.value) else { continue };
        for (index, entry) in list.elements.iter().enumerate() {
            let members = members_of(entry);
            let own = |hook: &ast::Value<'_>| own_record(agent, event, hook, insertions);
            let Some((at, record)) = members.iter().enumerate().find_map(|(at, hook)| Some((at, own(hook)?))) else {
                continue;
            };
            let restored = record.filter(|at| insertions.get(*at).and_then(replaced_entry).is_some());
            let given_back = restored.and_then(|at| insertions.get(at)).and_then(replaced_entry);
            let whole = entry.start()..entry.end();
            let (range, replacement) = if members.len() > 1 {
                // Other hooks were added to the group, and they stay.
                let group = entry.as_object().and_then(|entry| member(entry, "hooks"));
                let Removal { range, kept } =
                    remove_element(text, group.map_or(whole.start, |group| group.start() + 1), members, at);
                match given_back {
                    None => (range, kept),
                    Some(given_back) => {
                        let before = text.get(whole.start..range.start).unwrap_or_default();
                        let after = text.get(range.end..whole.end).unwrap_or_default();
                        (whole, format!("{given_back}, {before}{kept}{after}"))
                    }
                }
            } else {
                match given_back {
                    None => {
                        let removal = remove_element(text, list.range.start + 1, &list.elements, index);
                        (removal.range, removal.kept)
                    }
                    Some(given_back) => (whole, given_back.to_owned()),
                }
            };
            return Ok(Some(OwnEntry { range, replacement, restored }));
        }
    }
    Ok(None)
}

fn remove_element(text: &str, open: usize, elements: &[ast::Value<'_>], index: usize) -> Removal {
    let before = index.checked_sub(1).and_then(|index| elements.get(index)).map(ast::Value::end);
    let after = elements.get(index + 1).map(ast::Value::start);
    let own = elements.get(index).map_or(open..open, |element| element.start()..element.end());
    remove_item(text, open, before, own, after)
}

/// Whether a hook was installed: the position of its record, if there is one.
fn own_record(agent: Agent, event: &str, hook: &ast::Value<'_>, insertions: &[Insertion]) -> Option<Option<usize>> {
    let command = *commands_of(hook).first()?;
    let call = BridgeCommand::read(command)?;
    let recorded = insertions.iter().position(|insertion| insertion.text.contains(&quoted(command)));
    if recorded.is_some() {
        return Some(recorded);
    }
    // The user may have edited the command since.
    let earlier = format!(" bridge {agent} --event {event} --deadline ");
    let replaces = |insertion: &Insertion| replaced_entry(insertion).is_some() && insertion.text.contains(&earlier);
    call.is_installed_for(agent, event).then(|| insertions.iter().position(replaces))
}

/// The entry of the user whose place was taken. What an insertion replaced can also be a comment that was moved.
fn replaced_entry(insertion: &Insertion) -> Option<&str> {
    Some(insertion.replaced.as_str()).filter(|replaced| replaced.starts_with('{'))
}

/// Removes a list, or `hooks` itself, that was inserted and has become empty.
fn emptied_member(text: &str, insertions: &[Insertion]) -> Result<Option<Removal>, EditError> {
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
    let open = object.range.start + 1;
    Ok(own.map(|own| remove_item(text, open, index.checked_sub(1).and_then(end), own, start(index + 1))))
}
