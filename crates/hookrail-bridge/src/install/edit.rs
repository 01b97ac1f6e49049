//! Adds entries to a settings file, changes them and removes them, and leaves every other byte as it is.
//!
//! What is inserted or replaced is recorded, so that taking it back gives the file back byte for byte even if other parts of
//! it changed in between.

use std::ops::Range;

use hookrail::hook::bridge_program;
use jsonc_parser::ast;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value;

use super::entries::{SettingsEntry, SettingsSyntax};

/// Why a settings file cannot be edited.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The agent could not read the file as it is.
    #[error("line {line}: {message}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A part of the file is not what hooks need it to be.
    #[error("`{key}` is not {expected}")]
    Shape {
        /// The part.
        key: String,
        /// What it has to be.
        expected: &'static str,
    },
}

/// A text that was inserted, or that took the place of another one.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Insertion {
    /// Where, in bytes of the text before the insertion.
    pub offset: usize,
    /// What.
    pub text: String,
    /// The text that stood there before.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub replaced: String,
}

impl Insertion {
    pub(super) fn apply(&self, text: &mut String) {
        text.replace_range(self.offset..self.offset + self.replaced.len(), &self.text);
    }
}

/// Adds entries to the text of a file, or updates them. `recorded` holds the changes of earlier calls. Returns the new text and
/// all changes since before the first call.
///
/// An entry that calls the bridge for the same agent and event is changed where it stands, because Codex CLI trusts a hook
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
        let entry = NewEntry { event: entry.event, commands: vec![&entry.command], text: &pretty };
        match change_for(&current, &entry)? {
            EntryChange::None => {}
            EntryChange::Insert(insertion) => {
                insertion.apply(&mut current);
                insertions.push(insertion);
            }
            EntryChange::Replace(range, new) => {
                let old = current.get(range.clone()).unwrap_or_default().to_owned();
                current.replace_range(range.clone(), &new);
                record_replacement(&mut insertions, range.start, &old, &new);
            }
        }
    }
    // The agent must be able to read the result too.
    check_syntax(&current, syntax)?;
    Ok((current, insertions))
}

/// Records that a text took the place of another. If the old text was itself part of an insertion, that insertion changes.
pub fn record_replacement(insertions: &mut Vec<Insertion>, offset: usize, old: &str, new: &str) {
    match insertions.iter_mut().find(|known| known.text.contains(old)) {
        Some(known) => known.text = known.text.replacen(old, new, 1),
        None => insertions.push(Insertion { offset, text: new.to_owned(), replaced: old.to_owned() }),
    }
}

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
    // Taking an insertion back can leave a trailing comma if the user added a member before it. Claude Code does not read
    // such a file, so a text that was strict JSON must stay strict JSON.
    let is_strict = |text: &str| check_syntax(text, SettingsSyntax::StrictJson).is_ok();
    let is_readable = |text: &str| root(text).is_ok();
    if let Some(before) = take_back(text, insertions)
        && (before.trim().is_empty() || (is_readable(&before) && (is_strict(&before) || !is_strict(text))))
    {
        return Ok(before);
    }
    if text.trim().is_empty() {
        return Ok(text.to_owned());
    }
    let mut current = text.to_owned();
    while let Some((range, replacement)) = recorded_entry(&current, insertions)? {
        current.replace_range(range, &replacement);
    }
    while let Some(range) = emptied_member(&current, insertions)? {
        current.replace_range(range, "");
    }
    let whole_file = insertions.first().is_some_and(|first| first.text == "{}\n");
    let is_empty = root(&current)?.properties.is_empty();
    Ok(if whole_file && is_empty { String::new() } else { current })
}

/// Reads a settings file as its agent does.
///
/// # Errors
///
/// The agent could not read the file.
pub fn read_settings(text: &str, syntax: SettingsSyntax) -> Result<Value, EditError> {
    check_syntax(text, syntax)?;
    root(text).map(|root| to_value(&ast::Value::Object(root)))
}

fn to_value(value: &ast::Value<'_>) -> Value {
    match value {
        ast::Value::StringLit(text) => Value::from(text.value.as_ref()),
        ast::Value::NumberLit(number) => serde_json::from_str(number.value).unwrap_or_default(),
        ast::Value::BooleanLit(boolean) => Value::from(boolean.value),
        ast::Value::Object(object) => {
            let members = object.properties.iter();
            Value::Object(members.map(|member| (member.name.as_str().to_owned(), to_value(&member.value))).collect())
        }
        ast::Value::Array(array) => Value::Array(array.elements.iter().map(to_value).collect()),
        ast::Value::NullKeyword(_) => Value::Null,
    }
}

pub(super) fn syntax_error(text: &str, at: usize, message: String) -> EditError {
    let line = text.get(..at).unwrap_or(text).matches('\n').count() + 1;
    EditError::Syntax { line, message }
}

fn check_syntax(text: &str, syntax: SettingsSyntax) -> Result<(), EditError> {
    match syntax {
        SettingsSyntax::JsonWithComments => root(text).map(|_| ()),
        SettingsSyntax::StrictJson => match serde_json::from_str::<Value>(text) {
            Ok(value) if value.is_object() => Ok(()),
            Ok(_) => Err(EditError::Shape { key: "the file".to_owned(), expected: "an object" }),
            Err(error) => Err(EditError::Syntax { line: error.line(), message: error.to_string() }),
        },
    }
}

pub(super) fn root(text: &str) -> Result<ast::Object<'_>, EditError> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let parsed = parsed.map_err(|error| syntax_error(text, error.range().start, error.kind().to_string()))?;
    match parsed.value {
        Some(ast::Value::Object(object)) => Ok(object),
        _ => Err(EditError::Shape { key: "the file".to_owned(), expected: "an object" }),
    }
}

/// The member that counts: the last one of its name.
pub(super) fn member<'a, 'b>(object: &'b ast::Object<'a>, name: &str) -> Option<&'b ast::Value<'a>> {
    object.properties.iter().rfind(|property| property.name.as_str() == name).map(|property| &property.value)
}

/// An entry that a file should have.
pub(super) struct NewEntry<'e> {
    pub(super) event: &'e str,
    pub(super) commands: Vec<&'e str>,
    /// The entry as JSON in which each level is indented by two blanks.
    pub(super) text: &'e str,
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
    let has_all = |element: &ast::Value<'_>| {
        let known = commands_of(element);
        entry.commands.iter().all(|command| known.contains(command))
    };
    if entries.elements.iter().any(has_all) {
        return Ok(EntryChange::None);
    }
    let agent = entry.commands.first().and_then(|command| agent_word(command));
    let other = entries.elements.iter().find(|element| is_call_for(element, agent));
    if let Some(other) = other {
        return Ok(EntryChange::Replace(other.start()..other.end(), value(3)));
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

/// Returns how many hooks an entry has. Callers leave a group alone that also has hooks of others.
fn hooks_in(entry: &ast::Value<'_>) -> usize {
    let ast::Value::Object(entry) = entry else { return 0 };
    match member(entry, "hooks") {
        Some(ast::Value::Array(hooks)) => hooks.elements.len(),
        _ => 1,
    }
}

/// Whether any hook of a file calls the bridge.
fn has_bridge_call(text: &str) -> Result<bool, EditError> {
    let root = root(text)?;
    let Some(ast::Value::Object(hooks)) = member(&root, "hooks") else { return Ok(false) };
    Ok(hooks.properties.iter().any(|property| match &property.value {
        ast::Value::Array(list) => {
            let mut commands = list.elements.iter().flat_map(commands_of);
            commands.any(|command| bridge_program(command).is_some())
        }
        _ => false,
    }))
}

/// Returns the agent's name in a command that calls the bridge.
fn agent_word(command: &str) -> Option<&str> {
    bridge_program(command)?;
    command.rsplit_once(" bridge ")?.1.split_whitespace().next()
}

/// Whether an entry is one call of the bridge for an agent and nothing else.
fn is_call_for(entry: &ast::Value<'_>, agent: Option<&str>) -> bool {
    match commands_of(entry).as_slice() {
        [command] => hooks_in(entry) == 1 && agent.is_some() && agent_word(command) == agent,
        _ => false,
    }
}

pub(super) fn append_member(
    text: &str,
    object: &ast::Object<'_>,
    name: &str,
    value: &str,
    unit: &str,
    depth: usize,
) -> Insertion {
    let last = object.properties.last().map(|property| property.range.end);
    append(text, last, object.range.start + 1, &format!("{}: {value}", quoted(name)), unit, depth)
}

/// Inserts an item after the last one of a list or an object, or as its only one. `open` is the offset after the opening
/// bracket, and `unit` is one level of indentation. A comment behind the last item stays behind it.
fn append(text: &str, last: Option<usize>, open: usize, item: &str, unit: &str, depth: usize) -> Insertion {
    let inner = unit.repeat(depth + 1);
    let (offset, new, replaced) = match last {
        Some(end) => match comment_behind(text, end) {
            Some(comment) if comment.trim_start().starts_with(',') => {
                (end, format!("{comment}\n{inner}{item}"), comment.to_owned())
            }
            Some(comment) => (end, format!(",{comment}\n{inner}{item}"), comment.to_owned()),
            None => (end, format!(",\n{inner}{item}"), String::new()),
        },
        None => (open, format!("\n{inner}{item}\n{}", unit.repeat(depth)), String::new()),
    };
    let new = if text.contains("\r\n") { new.replace('\n', "\r\n") } else { new };
    Insertion { offset, text: new, replaced }
}

/// The rest of a line from an item on, if it is a comment, perhaps behind a comma.
fn comment_behind(text: &str, end: usize) -> Option<&str> {
    let line = text.get(end..)?.split('\n').next()?.trim_end();
    let rest = line.trim_start();
    let rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    let is_comment = rest.starts_with("//") || (rest.starts_with("/*") && rest.find("*/")? + 2 == rest.len());
    is_comment.then_some(line)
}

/// Returns one level of the indentation that the file uses; two blanks if that is not known.
pub(super) fn indentation(text: &str, root: &ast::Object<'_>) -> String {
    let margin = |property: &ast::ObjectProp<'_>| {
        let blanks = text.get(..property.range.start)?.rsplit('\n').next()?;
        (!blanks.is_empty() && blanks.chars().all(char::is_whitespace)).then(|| blanks.to_owned())
    };
    // A member that begins its line says it. Where none does, a tab before anything else does.
    let tab = || text.lines().any(|line| line.starts_with('\t')).then(|| "\t".to_owned());
    root.properties.iter().find_map(margin).or_else(tab).unwrap_or_else(|| "  ".to_owned())
}

/// Formats JSON, in which each level is indented by two blanks, with the file's indentation.
fn indented(text: &str, unit: &str, depth: usize) -> String {
    let mut lines = text.lines().map(|line| {
        let blanks = line.len() - line.trim_start().len();
        format!("{}{}", unit.repeat(blanks / 2), line.trim_start())
    });
    let first = lines.next().unwrap_or_default();
    lines.fold(first, |text, line| format!("{text}\n{}{line}", unit.repeat(depth)))
}

pub(super) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
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

/// The range of an entry that was recorded, and what stood there before.
fn recorded_entry(text: &str, insertions: &[Insertion]) -> Result<Option<(Range<usize>, String)>, EditError> {
    let root = root(text)?;
    let Some(ast::Value::Object(hooks)) = member(&root, "hooks") else { return Ok(None) };
    for property in &hooks.properties {
        let ast::Value::Array(list) = &property.value else { continue };
        for (index, element) in list.elements.iter().enumerate() {
            let [command] = commands_of(element)[..] else { continue };
            let recorded = insertions.iter().find(|insertion| insertion.text.contains(&quoted(command)));
            let Some(recorded) = recorded.filter(|_| hooks_in(element) == 1 && bridge_program(command).is_some())
            else {
                continue;
            };
            if !recorded.replaced.is_empty() {
                return Ok(Some((element.start()..element.end(), recorded.replaced.clone())));
            }
            let before = index.checked_sub(1).and_then(|index| list.elements.get(index)).map(ast::Value::end);
            let after = list.elements.get(index + 1).map(ast::Value::start);
            let range = item_range(text, before, element.start()..element.end(), after);
            return Ok(Some((range, String::new())));
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

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;
    use serde_json::json;

    fn entry(event: &'static str, command: &str) -> SettingsEntry {
        let value = json!({ "hooks": [{ "command": command, "type": "command" }] });
        SettingsEntry { event, value, command: command.to_owned() }
    }

    fn entries() -> Vec<SettingsEntry> {
        vec![
            entry("PreToolUse", "/bin/hookrail bridge claude"),
            entry("Stop", "/bin/hookrail bridge claude --event Stop"),
        ]
    }

    const FILES: &[&str] = &[
        "",
        "{}",
        "{}\n",
        "{\n  \"model\": \"x\"\n}\n",
        "{\"hooks\":{}}",
        "{\"hooks\": {\"PreToolUse\": []}, \"a\": [1, 2]}",
        "{\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t{\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}\n\t\t]\n\t}\n}",
    ];

    #[test]
    fn entries_are_added_once_and_taken_out_byte_for_byte() {
        for text in FILES {
            let (after, insertions) = insert_entries(text, &entries(), SettingsSyntax::StrictJson, &[]).unwrap();
            let value: serde_json::Value = serde_json::from_str(&after).unwrap();
            for list in ["PreToolUse", "Stop"] {
                let list = value["hooks"][list].as_array().unwrap();
                assert!(list.last().unwrap().to_string().contains("hookrail bridge"), "{after}");
            }
            let (again, nothing) = insert_entries(&after, &entries(), SettingsSyntax::StrictJson, &insertions).unwrap();
            assert_eq!((again.as_str(), &nothing), (after.as_str(), &insertions));
            assert_eq!(remove_entries(&after, &insertions).unwrap(), *text);
        }
    }

    #[test]
    fn comments_and_the_order_of_a_file_are_kept() {
        let text = "{\n    // mine\n    \"b\": 1, // two\n    \"a\": 2,\n}\n";
        let (after, insertions) = insert_entries(text, &entries(), SettingsSyntax::JsonWithComments, &[]).unwrap();
        assert!(after.starts_with("{\n    // mine\n    \"b\": 1, // two\n    \"a\": 2,\n    \"hooks\": {"), "{after}");
        assert_eq!(remove_entries(&after, &insertions).unwrap(), text);
    }

    #[test]
    fn entries_are_found_after_the_file_was_formatted_anew() {
        let text =
            "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"hooks\": [{\"command\": \"mine\"}]}\n    ]\n  }\n}\n";
        let (after, insertions) = insert_entries(text, &entries(), SettingsSyntax::StrictJson, &[]).unwrap();
        let value: serde_json::Value = serde_json::from_str(&after).unwrap();
        let minified = value.to_string();
        let removed: serde_json::Value =
            serde_json::from_str(&remove_entries(&minified, &insertions).unwrap()).unwrap();
        assert_eq!(removed["hooks"]["PreToolUse"], json!([{"hooks": [{"command": "mine"}]}]));
        assert_eq!(removed["hooks"].get("Stop"), None, "a list that was added goes with its entry");
    }

    #[test]
    fn a_file_that_the_agent_could_not_read_is_refused() {
        for text in ["{\n  // no\n}", "{\"a\": 1,}", "[]", "{", "{\"hooks\": []}", "{\"hooks\": {\"Stop\": {}}}"] {
            assert!(insert_entries(text, &entries(), SettingsSyntax::StrictJson, &[]).is_err(), "{text}");
        }
        let error = insert_entries("{\n  // no\n}", &entries(), SettingsSyntax::StrictJson, &[]).unwrap_err();
        assert!(matches!(error, EditError::Syntax { line: 2, .. }), "{error}");
    }

    fn with_deadline(deadline: u32) -> Vec<SettingsEntry> {
        let command = |event| format!("/bin/hookrail bridge claude --event {event} --deadline {deadline}");
        ["PreToolUse", "Stop", "SessionStart"].map(|event| entry(event, &command(event))).to_vec()
    }

    fn calls(text: &str) -> usize {
        text.matches("hookrail bridge").count()
    }

    #[test]
    fn other_options_change_the_entries_where_they_stand() {
        for text in FILES {
            let strict = SettingsSyntax::StrictJson;
            let (first, insertions) = insert_entries(text, &with_deadline(1), strict, &[]).unwrap();
            // Codex CLI trusts a hook by its position, so a hook of the user behind ours must not move.
            let mut edited: Value = serde_json::from_str(&first).unwrap();
            edited["hooks"]["Stop"].as_array_mut().unwrap().push(json!({ "hooks": [{ "command": "theirs" }] }));
            for before in [first.clone(), edited.to_string()] {
                let (second, insertions) = insert_entries(&before, &with_deadline(2), strict, &insertions).unwrap();
                assert_eq!((calls(&second), second.matches("--deadline 2").count()), (3, 3), "{second}");
                let value: Value = serde_json::from_str(&second).unwrap();
                if before != first {
                    let stop = value["hooks"]["Stop"].as_array().unwrap();
                    assert!(stop[0].to_string().contains("hookrail") && stop[1].to_string().contains("theirs"));
                }
                let removed = remove_entries(&second, &insertions).unwrap();
                if before == first {
                    assert_eq!(removed, *text);
                } else {
                    let mut expected: Value = serde_json::from_str(text).unwrap_or(json!({}));
                    expected["hooks"]["Stop"] = json!([{ "hooks": [{ "command": "theirs" }] }]);
                    assert_eq!(serde_json::from_str::<Value>(&removed).unwrap(), expected, "{second}");
                }
            }
        }
    }

    #[test]
    fn a_call_that_the_user_wrote_is_given_back() {
        let text = r#"{"hooks": {"Stop": [{"hooks": [{"command": "hookrail bridge claude"}]}, {"hooks": [{"command":
            "hookrail bridge codex"}]}], "Other": [{"hooks": [{"command": "/x/hookrail bridge claude"}]}]}}"#;
        let (after, insertions) = insert_entries(text, &with_deadline(1), SettingsSyntax::StrictJson, &[]).unwrap();
        assert_eq!(calls(&after), 5, "one call is changed and two are added: {after}");
        assert_eq!(remove_entries(&after, &insertions).unwrap(), text);
        let minified = serde_json::from_str::<Value>(&after).unwrap().to_string();
        let removed: Value = serde_json::from_str(&remove_entries(&minified, &insertions).unwrap()).unwrap();
        assert_eq!(removed, serde_json::from_str::<Value>(text).unwrap());
    }

    /// What users do to a file between an installation and its removal.
    #[test]
    fn edits_of_the_user_survive() {
        let strict = SettingsSyntax::StrictJson;
        let edits: [(&str, &str, &str, &str); 5] = [
            ("{}", "{\n  \"hooks\"", "{\n  \"z\": 1,\n  \"hooks\"", r#"{"z": 1}"#),
            ("{}", "\n  }\n}", "\n  },\n  \"z\": 1\n}", r#"{"z": 1}"#),
            ("{\"a\": 1}", "\"a\": 1,", "", "{}"),
            ("{\"a\": 1}", "\"a\": 1", "\"a\": 2", r#"{"a": 2}"#),
            (
                "{\"hooks\": {\"Stop\": []}}",
                "\"Stop\": [",
                "\"Stop\": [{\"hooks\": []},",
                r#"{"hooks": {"Stop": [{"hooks": []}]}}"#,
            ),
        ];
        for (text, from, to, expected) in edits {
            let (after, insertions) = insert_entries(text, &with_deadline(1), strict, &[]).unwrap();
            assert!(after.contains(from), "{after}");
            let edited = after.replacen(from, to, 1);
            let removed = remove_entries(&edited, &insertions).unwrap();
            let value: Value = serde_json::from_str(&removed).unwrap_or_else(|error| panic!("{error}: {removed}"));
            assert_eq!(value, serde_json::from_str::<Value>(expected).unwrap(), "{edited}");
        }
    }

    fn any_settings() -> impl Strategy<Value = String> {
        let leaf =
            prop_oneof![Just("1".to_owned()), Just("\"x\"".to_owned()), Just("[]".to_owned()), Just("{}".to_owned())];
        let members = proptest::collection::btree_map("[a-z]{1,6}", leaf, 0..4);
        (members, any::<bool>(), any::<bool>()).prop_map(|(members, lines, hooks)| {
            let (open, between, close) = if lines { ("{\n  ", ",\n  ", "\n}\n") } else { ("{", ", ", "}") };
            let mut parts: Vec<String> =
                members.into_iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
            if hooks {
                parts.insert(0, "\"hooks\": {\"Stop\": [{\"hooks\": []}]}".to_owned());
            }
            if parts.is_empty() { "{}".to_owned() } else { format!("{open}{}{close}", parts.join(between)) }
        })
    }

    proptest! {
        #[test]
        fn installing_and_uninstalling_is_the_identity(text in any_settings()) {
            let (after, insertions) = insert_entries(&text, &entries(), SettingsSyntax::StrictJson, &[]).unwrap();
            prop_assert_eq!(remove_entries(&after, &insertions).unwrap(), text);
        }

        #[test]
        fn any_number_of_installations_is_taken_back_by_one_removal(
            text in any_settings(), deadlines in proptest::collection::vec(1..4u32, 1..5),
        ) {
            let (mut current, mut insertions) = (text.clone(), Vec::new());
            for deadline in deadlines {
                let strict = SettingsSyntax::StrictJson;
                (current, insertions) = insert_entries(&current, &with_deadline(deadline), strict, &insertions).unwrap();
                prop_assert_eq!(calls(&current), 3);
            }
            prop_assert_eq!(remove_entries(&current, &insertions).unwrap(), text);
        }
    }
}
