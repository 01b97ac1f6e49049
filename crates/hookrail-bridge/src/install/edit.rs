//! Adds entries to a settings file and removes them, and leaves every other byte as it is.
//!
//! Adding only ever inserts text. The inserted texts are recorded, so that removing them again gives the file back byte for
//! byte even if other parts of it changed in between.

use jsonc_parser::ast;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::calls_bridge;
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

/// A text that was inserted.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Insertion {
    /// Where, in bytes of the text before the insertion.
    pub offset: usize,
    /// What.
    pub text: String,
}

/// Adds entries at the end of their lists below `hooks`. An entry whose command is already there is left out, so that doing
/// it twice changes nothing.
///
/// # Errors
///
/// The agent could not read the file, or `hooks` has another shape. Nothing is changed then.
pub fn insert_entries(
    text: &str,
    entries: &[SettingsEntry],
    syntax: SettingsSyntax,
) -> Result<(String, Vec<Insertion>), EditError> {
    let mut current = if text.trim().is_empty() { "{}\n".to_owned() } else { text.to_owned() };
    let mut insertions = Vec::new();
    if text.trim().is_empty() {
        insertions.push(Insertion { offset: 0, text: current.clone() });
    }
    check_syntax(&current, syntax)?;
    for entry in entries {
        if let Some(insertion) = insertion_for(&current, entry)? {
            current.insert_str(insertion.offset, &insertion.text);
            insertions.push(insertion);
        }
    }
    // What was written has to be readable for the agent too.
    check_syntax(&current, syntax)?;
    Ok((current, insertions))
}

/// Removes what [`insert_entries`] added. Texts that are still there are taken out as they were put in; if the file was
/// formatted anew in between, the entries are found by their commands.
///
/// # Errors
///
/// The file cannot be read. Nothing is changed then.
pub fn remove_entries(text: &str, insertions: &[Insertion]) -> Result<String, EditError> {
    let mut current = text.to_owned();
    for insertion in insertions.iter().rev() {
        let mut found = current.match_indices(&insertion.text).map(|(at, _)| at);
        // The same text may have been inserted by hand elsewhere; then the recorded place decides.
        let at = match (found.next(), found.next()) {
            (Some(at), None) => Some(at),
            (Some(_), Some(_)) => current
                .get(insertion.offset..)
                .filter(|rest| rest.starts_with(&insertion.text))
                .map(|_| insertion.offset),
            (None, _) => None,
        };
        if let Some(at) = at {
            current.replace_range(at..at + insertion.text.len(), "");
        }
    }
    while !current.trim().is_empty()
        && let Some(range) = bridge_entry(&current)?
    {
        current.replace_range(range, "");
    }
    Ok(current)
}

fn syntax_error(text: &str, at: usize, message: String) -> EditError {
    let line = text.get(..at).unwrap_or(text).matches('\n').count() + 1;
    EditError::Syntax { line, message }
}

fn check_syntax(text: &str, syntax: SettingsSyntax) -> Result<(), EditError> {
    match syntax {
        SettingsSyntax::JsonWithComments => root(text).map(|_| ()),
        SettingsSyntax::StrictJson => match serde_json::from_str::<serde_json::Value>(text) {
            Ok(value) if value.is_object() => Ok(()),
            Ok(_) => Err(EditError::Shape { key: "the file".to_owned(), expected: "an object" }),
            Err(error) => Err(EditError::Syntax { line: error.line(), message: error.to_string() }),
        },
    }
}

fn root(text: &str) -> Result<ast::Object<'_>, EditError> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let parsed = parsed.map_err(|error| syntax_error(text, error.range().start, error.kind().to_string()))?;
    match parsed.value {
        Some(ast::Value::Object(object)) => Ok(object),
        _ => Err(EditError::Shape { key: "the file".to_owned(), expected: "an object" }),
    }
}

fn member<'a, 'b>(object: &'b ast::Object<'a>, name: &str) -> Option<&'b ast::Value<'a>> {
    object.properties.iter().find(|property| property.name.as_str() == name).map(|property| &property.value)
}

fn insertion_for(text: &str, entry: &SettingsEntry) -> Result<Option<Insertion>, EditError> {
    let root = root(text)?;
    let unit = indentation(text, &root);
    let value = |depth: usize| indented(&entry.value, &unit, depth);
    let list = |depth: usize| {
        let inner = unit.repeat(depth + 1);
        format!("[\n{inner}{}\n{}]", value(depth + 1), unit.repeat(depth))
    };
    let Some(hooks) = member(&root, "hooks") else {
        let inner = unit.repeat(2);
        let hooks = format!("{{\n{inner}{}: {}\n{unit}}}", quoted(entry.event), list(2));
        return Ok(Some(append_member(&root, "hooks", &hooks, &unit, 0)));
    };
    let ast::Value::Object(hooks) = hooks else {
        return Err(EditError::Shape { key: "hooks".to_owned(), expected: "an object" });
    };
    let Some(entries) = member(hooks, entry.event) else {
        return Ok(Some(append_member(hooks, entry.event, &list(2), &unit, 1)));
    };
    let ast::Value::Array(entries) = entries else {
        return Err(EditError::Shape { key: format!("hooks.{}", entry.event), expected: "a list" });
    };
    let own = text.get(entries.range.start..entries.range.end).unwrap_or_default();
    if own.contains(&quoted(&entry.command)) {
        return Ok(None);
    }
    let last = entries.elements.last().map(ast::Value::end);
    Ok(Some(append(last, entries.range.start + 1, &value(3), &unit, 2)))
}

fn append_member(object: &ast::Object<'_>, name: &str, value: &str, unit: &str, depth: usize) -> Insertion {
    let last = object.properties.last().map(|property| property.range.end);
    append(last, object.range.start + 1, &format!("{}: {value}", quoted(name)), unit, depth)
}

/// Inserts behind the last item of a list or an object, or as its only one.
fn append(last: Option<usize>, open: usize, item: &str, unit: &str, depth: usize) -> Insertion {
    let inner = unit.repeat(depth + 1);
    match last {
        Some(end) => Insertion { offset: end, text: format!(",\n{inner}{item}") },
        None => Insertion { offset: open, text: format!("\n{inner}{item}\n{}", unit.repeat(depth)) },
    }
}

/// The indentation that the file uses.
fn indentation(text: &str, root: &ast::Object<'_>) -> String {
    let first = root.properties.first().map(|property| property.range.start);
    let line = first.and_then(|at| text.get(..at)).and_then(|before| before.rsplit('\n').next());
    match line {
        Some(blanks) if !blanks.is_empty() && blanks.chars().all(char::is_whitespace) => blanks.to_owned(),
        _ => "  ".to_owned(),
    }
}

fn indented(value: &serde_json::Value, unit: &str, depth: usize) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    let mut lines = text.lines().map(|line| {
        let blanks = line.len() - line.trim_start().len();
        format!("{}{}", unit.repeat(blanks / 2), line.trim_start())
    });
    let first = lines.next().unwrap_or_default();
    lines.fold(first, |text, line| format!("{text}\n{}{line}", unit.repeat(depth)))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The range of an entry that calls the bridge, with the comma that belongs to it.
fn bridge_entry(text: &str) -> Result<Option<std::ops::Range<usize>>, EditError> {
    let root = root(text)?;
    let Some(ast::Value::Object(hooks)) = member(&root, "hooks") else { return Ok(None) };
    for property in &hooks.properties {
        let ast::Value::Array(list) = &property.value else { continue };
        for (index, element) in list.elements.iter().enumerate() {
            if !calls(element) {
                continue;
            }
            let before = index.checked_sub(1).and_then(|index| list.elements.get(index)).map(ast::Value::end);
            let after = list.elements.get(index + 1).map(ast::Value::start);
            let range = element.range();
            return Ok(Some(match (before, after) {
                (Some(end), _) => end..range.end,
                (None, Some(start)) => range.start..start,
                (None, None) => range.start..range.end,
            }));
        }
    }
    Ok(None)
}

/// Whether every command of an entry calls the bridge. A group that also has other hooks stays.
fn calls(entry: &ast::Value<'_>) -> bool {
    let ast::Value::Object(entry) = entry else { return false };
    let is_bridge = |value: Option<&ast::Value<'_>>| match value {
        Some(ast::Value::StringLit(command)) => calls_bridge(&command.value),
        _ => false,
    };
    match member(entry, "hooks") {
        Some(ast::Value::Array(hooks)) => {
            let hook = |hook: &ast::Value<'_>| match hook {
                ast::Value::Object(hook) => is_bridge(member(hook, "command")),
                _ => false,
            };
            !hooks.elements.is_empty() && hooks.elements.iter().all(hook)
        }
        _ => is_bridge(member(entry, "command")) || is_bridge(member(entry, "bash")),
    }
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
            let (after, insertions) = insert_entries(text, &entries(), SettingsSyntax::StrictJson).unwrap();
            let value: serde_json::Value = serde_json::from_str(&after).unwrap();
            for list in ["PreToolUse", "Stop"] {
                let list = value["hooks"][list].as_array().unwrap();
                assert!(list.last().unwrap().to_string().contains("hookrail bridge"), "{after}");
            }
            let (again, nothing) = insert_entries(&after, &entries(), SettingsSyntax::StrictJson).unwrap();
            assert_eq!((again.as_str(), nothing.len()), (after.as_str(), 0));
            assert_eq!(remove_entries(&after, &insertions).unwrap(), *text);
        }
    }

    #[test]
    fn comments_and_the_order_of_a_file_are_kept() {
        let text = "{\n    // mine\n    \"b\": 1, // two\n    \"a\": 2,\n}\n";
        let (after, insertions) = insert_entries(text, &entries(), SettingsSyntax::JsonWithComments).unwrap();
        assert!(after.starts_with("{\n    // mine\n    \"b\": 1, // two\n    \"a\": 2,\n    \"hooks\": {"), "{after}");
        assert_eq!(remove_entries(&after, &insertions).unwrap(), text);
    }

    #[test]
    fn entries_are_found_after_the_file_was_formatted_anew() {
        let text =
            "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"hooks\": [{\"command\": \"mine\"}]}\n    ]\n  }\n}\n";
        let (after, insertions) = insert_entries(text, &entries(), SettingsSyntax::StrictJson).unwrap();
        let value: serde_json::Value = serde_json::from_str(&after).unwrap();
        let minified = value.to_string();
        let removed: serde_json::Value =
            serde_json::from_str(&remove_entries(&minified, &insertions).unwrap()).unwrap();
        assert_eq!(removed["hooks"]["PreToolUse"], json!([{"hooks": [{"command": "mine"}]}]));
        assert_eq!(removed["hooks"]["Stop"], json!([]));
    }

    #[test]
    fn a_file_that_the_agent_could_not_read_is_refused() {
        for text in ["{\n  // no\n}", "{\"a\": 1,}", "[]", "{", "{\"hooks\": []}", "{\"hooks\": {\"Stop\": {}}}"] {
            assert!(insert_entries(text, &entries(), SettingsSyntax::StrictJson).is_err(), "{text}");
        }
        let error = insert_entries("{\n  // no\n}", &entries(), SettingsSyntax::StrictJson).unwrap_err();
        assert!(matches!(error, EditError::Syntax { line: 2, .. }), "{error}");
    }

    #[test]
    fn only_commands_that_call_the_bridge_are_recognised() {
        for command in ["/a/hookrail bridge claude", "'/a b/hookrail' bridge x", "hookrail bridge pi"] {
            assert!(calls_bridge(command), "{command}");
        }
        for command in ["hookrail fire", "hookrails bridge x", "echo hookrail bridge x", "hookrail bridge ", ""] {
            assert!(!calls_bridge(command), "{command}");
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
            let (after, insertions) = insert_entries(&text, &entries(), SettingsSyntax::StrictJson).unwrap();
            prop_assert_eq!(remove_entries(&after, &insertions).unwrap(), text);
        }
    }
}
