//! Adds entries to a settings file or changes them, and leaves every other byte as it is.
//!
//! What is inserted or replaced is recorded, so that taking it back gives the file back byte for byte even if other parts of
//! it changed in between.

use std::ops::Range;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged as _;
use serde_json::Value;

use super::call::BridgeCommand;
use super::current::is_current;
use super::entries::SettingsEntry;
use super::layout::{append, append_member, indentation, indented, quoted, with_line_ends};
use super::syntax::{check_syntax, member, root, to_value};
use crate::settings::{EditError, Insertion, SettingsSyntax, record_replacement};

/// Adds entries to the text of a file, or updates them. `recorded` holds the changes of earlier calls. Returns the new text and
/// all changes since before the first call.
///
/// An entry that calls the bridge for the same agent and event is changed where it stands, because an agent may trust a hook
/// by its position. Any other entry is added at the end of its list. Doing it twice changes nothing.
///
/// # Errors
///
/// The agent could not read the file, or `hooks` has another shape. Nothing is changed then.
pub fn insert_entries(
    text: &str,
    entries: &[SettingsEntry],
    syntax: SettingsSyntax,
    recorded: &[Insertion],
) -> Result<(String, Vec<Insertion>), EditError> {
    let mut insertions = recorded.to_vec();
    let mut current = text.to_owned();
    if text.trim().is_empty() {
        current = "{}\n".to_owned();
        insertions = vec![Insertion { offset: 0, text: current.clone(), replaced: text.to_owned() }];
    }
    check_syntax(&current, syntax)?;
    if !has_bridge_call(&current)? && !text.trim().is_empty() {
        // The user removed the entries by hand, so the recorded changes do not describe the file any more.
        insertions.clear();
    }
    for entry in entries {
        let pretty = serde_json::to_string_pretty(&entry.value).unwrap_or_default();
        let (event, commands) = (entry.event, vec![entry.command.as_str()]);
        let entry = NewEntry { event, commands, text: &pretty, value: Some(&entry.value) };
        match change_for(&current, &entry)? {
            EntryChange::None => {}
            EntryChange::Insert(insertion) => {
                insertion.apply(&mut current);
                insertions.push(insertion);
            }
            EntryChange::Replace(range, new) => {
                let old = current.get(range.clone()).unwrap_or_default().to_owned();
                // An entry that was edited after an installation may be again what that installation recorded.
                let is_restored = !current.contains(&new) && insertions.iter().any(|known| known.text.contains(&new));
                current.replace_range(range.clone(), &new);
                if !is_restored {
                    record_replacement(&mut insertions, range.start, &old, &new);
                }
            }
        }
    }
    // The agent must be able to read the result too.
    check_syntax(&current, syntax)?;
    Ok((current, insertions))
}

/// An entry that a file should have.
pub(super) struct NewEntry<'e> {
    pub(super) event: &'e str,
    pub(super) commands: Vec<&'e str>,
    /// The entry as JSON in which each level is indented by two blanks.
    pub(super) text: &'e str,
    /// The entry that a call of the bridge must be; without it, an entry with the same commands counts as the same.
    pub(super) value: Option<&'e Value>,
}

/// What has to be done for one entry.
pub(super) enum EntryChange {
    /// It stands there already.
    None,
    /// It is added.
    Insert(Insertion),
    /// It takes the place of an entry with other options.
    Replace(Range<usize>, String),
}

pub(super) fn change_for(text: &str, entry: &NewEntry<'_>) -> Result<EntryChange, EditError> {
    let root = root(text)?;
    let unit = indentation(text, &root);
    let value = |depth: usize| indented(entry.text, &unit, depth);
    let list = |depth: usize| {
        let inner = unit.repeat(depth + 1);
        format!("[\n{inner}{}\n{}]", value(depth + 1), unit.repeat(depth))
    };
    let Some(hooks) = member(&root, "hooks") else {
        let inner = unit.repeat(2);
        let hooks = format!("{{\n{inner}{}: {}\n{unit}}}", quoted(entry.event), list(2));
        return Ok(EntryChange::Insert(append_member(text, &root, "hooks", &hooks, &unit, 0)));
    };
    let ast::Value::Object(hooks) = hooks else {
        return Err(EditError::Shape { key: "hooks".to_owned(), expected: "an object" });
    };
    let Some(entries) = member(hooks, entry.event) else {
        return Ok(EntryChange::Insert(append_member(text, hooks, entry.event, &list(2), &unit, 1)));
    };
    let ast::Value::Array(entries) = entries else {
        return Err(EditError::Shape { key: format!("hooks.{}", entry.event), expected: "a list" });
    };
    let is_there = |element: &ast::Value<'_>| match entry.value {
        Some(expected) => is_current(expected, &to_value(element)),
        None => {
            let known = commands_of(element);
            entry.commands.iter().all(|command| known.contains(command))
        }
    };
    if entries.elements.iter().any(is_there) {
        return Ok(EntryChange::None);
    }
    let agent = entry.commands.first().and_then(|command| BridgeCommand::read(command)).map(|call| call.agent);
    let other = entries.elements.iter().find(|element| is_call_for(element, agent.as_deref()));
    if let Some(other) = other {
        return Ok(EntryChange::Replace(other.start()..other.end(), with_line_ends(text, value(3))));
    }
    // A group to which the user added hooks keeps them.
    let shared = entries.elements.iter().flat_map(members_of).find(|hook| is_call_for(hook, agent.as_deref()));
    if let (Some(shared), Some(hook)) = (shared, entry.value.and_then(|value| value.pointer("/hooks/0"))) {
        let hook = serde_json::to_string_pretty(hook).unwrap_or_default();
        let hook = with_line_ends(text, indented(&hook, &unit, 5));
        return Ok(EntryChange::Replace(shared.start()..shared.end(), hook));
    }
    let last = entries.elements.last().map(ast::Value::end);
    Ok(EntryChange::Insert(append(text, last, entries.range.start + 1, &value(3), &unit, 2)))
}

/// The commands in an entry or in a group of entries.
pub(super) fn commands_of<'v>(entry: &'v ast::Value<'_>) -> Vec<&'v str> {
    fn text<'v>(value: Option<&'v ast::Value<'_>>) -> Option<&'v str> {
        match value {
            Some(ast::Value::StringLit(text)) => Some(text.value.as_ref()),
            _ => None,
        }
    }
    let ast::Value::Object(entry) = entry else { return Vec::new() };
    match member(entry, "hooks") {
        Some(ast::Value::Array(hooks)) => hooks.elements.iter().flat_map(commands_of).collect(),
        _ => text(member(entry, "command")).or_else(|| text(member(entry, "bash"))).into_iter().collect(),
    }
}

/// The hooks of a group, or the entry itself if it is no group.
pub(super) fn members_of<'v, 'a>(entry: &'v ast::Value<'a>) -> &'v [ast::Value<'a>] {
    let group = entry.as_object().and_then(|entry| member(entry, "hooks")).and_then(ast::Value::as_array);
    group.map_or(std::slice::from_ref(entry), |group| &group.elements)
}

/// Returns how many hooks an entry has. Callers leave a group alone that also has hooks of others.
pub(super) fn hooks_in(entry: &ast::Value<'_>) -> usize {
    members_of(entry).len()
}

/// Whether any hook of a file calls the bridge.
fn has_bridge_call(text: &str) -> Result<bool, EditError> {
    let root = root(text)?;
    let Some(ast::Value::Object(hooks)) = member(&root, "hooks") else { return Ok(false) };
    Ok(hooks.properties.iter().any(|property| match &property.value {
        ast::Value::Array(list) => {
            let mut commands = list.elements.iter().flat_map(commands_of);
            commands.any(|command| BridgeCommand::read(command).is_some())
        }
        _ => false,
    }))
}

/// Whether an entry is one call of the bridge for an agent and nothing else.
fn is_call_for(entry: &ast::Value<'_>, agent: Option<&str>) -> bool {
    match commands_of(entry).as_slice() {
        [command] => {
            let called = BridgeCommand::read(command).map(|call| call.agent);
            hooks_in(entry) == 1 && agent.is_some() && called.as_deref() == agent
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
