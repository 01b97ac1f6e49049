//! Adds groups of hooks and members to a settings file for people who write hooks, and leaves every other byte as it is.

use jsonc_parser::ast;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value;

use super::edit::{EntryChange, NewEntry, change_for, commands_of};
use super::layout::{append_member, indentation, quoted};
use super::syntax::{member, root, syntax_error};
use crate::settings::EditError;

/// A group of hooks, as text that can stand in a settings file: JSON in which each level is indented by two blanks. Comments
/// are allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookGroup {
    /// The event, which is the key of the list that gets the group.
    pub event: String,
    /// The group.
    pub text: String,
}

/// Adds groups of hooks to the text of a settings file that may have comments. A group whose commands are all in one group of
/// the file already is left out.
///
/// # Errors
///
/// The file cannot be read, or `hooks` has another shape. Nothing is changed then.
pub fn insert_groups(text: &str, groups: &[HookGroup]) -> Result<String, EditError> {
    let mut current = if text.trim().is_empty() { "{}\n".to_owned() } else { text.to_owned() };
    for group in groups {
        let parsed = parse_to_ast(&group.text, &CollectOptions::default(), &ParseOptions::default());
        let parsed =
            parsed.map_err(|error| syntax_error(&group.text, error.range().start, error.kind().to_string()))?;
        let commands = parsed.value.as_ref().map(commands_of).unwrap_or_default();
        match change_for(&current, &NewEntry { event: &group.event, commands, text: &group.text, value: None })? {
            EntryChange::None => {}
            EntryChange::Insert(insertion) => insertion.apply(&mut current),
            EntryChange::Replace(range, new) => current.replace_range(range, &new),
        }
    }
    root(&current).map(|_| ())?;
    Ok(current)
}

/// Adds a member to an object of a settings file that may have comments, if the object has none of that name. `parent` is a
/// member of the file, which is added too if it is missing; none is the file itself.
///
/// # Errors
///
/// The file cannot be read, or the parent is not an object. Nothing is changed then.
pub fn insert_member(text: &str, parent: Option<&str>, name: &str, value: &Value) -> Result<String, EditError> {
    let mut current = if text.trim().is_empty() { "{}\n".to_owned() } else { text.to_owned() };
    let file = root(&current)?;
    let unit = indentation(&current, &file);
    let insertion = match parent.map(|parent| (parent, member(&file, parent))) {
        None if member(&file, name).is_some() => None,
        None => Some(append_member(&current, &file, name, &value.to_string(), &unit, 0)),
        Some((_, Some(ast::Value::Object(object)))) if member(object, name).is_some() => None,
        Some((_, Some(ast::Value::Object(object)))) => {
            Some(append_member(&current, object, name, &value.to_string(), &unit, 1))
        }
        Some((parent, Some(_))) => return Err(EditError::Shape { key: parent.to_owned(), expected: "an object" }),
        Some((parent, None)) => {
            let object = format!("{{ {}: {value} }}", quoted(name));
            Some(append_member(&current, &file, parent, &object, &unit, 0))
        }
    };
    if let Some(insertion) = insertion {
        insertion.apply(&mut current);
    }
    root(&current).map(|_| ())?;
    Ok(current)
}

/// Returns the groups of hooks in a settings file, in their order and as they are written there.
///
/// # Errors
///
/// The file cannot be read.
pub fn groups_in(text: &str) -> Result<Vec<HookGroup>, EditError> {
    let file = root(text)?;
    let Some(ast::Value::Object(hooks)) = member(&file, "hooks") else { return Ok(Vec::new()) };
    let mut groups = Vec::new();
    for property in &hooks.properties {
        let ast::Value::Array(list) = &property.value else { continue };
        for element in &list.elements {
            let written = text.get(element.start()..element.end()).unwrap_or_default();
            // The lines after the first have the indentation of the list.
            let before = text.get(..element.start()).and_then(|before| before.rsplit('\n').next()).unwrap_or_default();
            let margin = before.len() - before.trim_start().len();
            let margin = before.get(..margin).unwrap_or_default();
            let lines: Vec<&str> = written.lines().map(|line| line.strip_prefix(margin).unwrap_or(line)).collect();
            groups.push(HookGroup { event: property.name.as_str().to_owned(), text: lines.join("\n") });
        }
    }
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;
    use crate::install::{SettingsSyntax, read_settings};

    fn group(event: &str, command: &str) -> HookGroup {
        let text = format!("{{\n  // why\n  \"hooks\": [{{ \"command\": {} }}]\n}}", quoted(command));
        HookGroup { event: event.to_owned(), text }
    }

    #[test]
    fn groups_are_added_once_and_every_other_byte_stays() {
        for text in [
            "{}",
            "{\n  \"a\": 1 // one\n}\n",
            "{\n  \"a\": 1, // one\n}\n",
            "{\n  \"a\": 1 /* one */\n}\n",
            "{\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [] // none\r\n\t}\r\n}\r\n",
            "{\n    \"hooks\": {\n        \"Stop\": [\n            { \"hooks\": [] }, // mine\n        ],\n    },\n}\n",
        ] {
            let after = insert_groups(text, &[group("Stop", "new"), group("Other", "new")]).unwrap();
            assert_eq!(insert_groups(&after, &[group("Stop", "new")]).unwrap(), after, "not added again");
            // What was there is there in its order: the old text is the new one without what was inserted.
            let mut rest = after.as_str();
            for character in text.chars() {
                let at = rest.find(character).unwrap_or_else(|| panic!("{character:?} is missing in {after}"));
                rest = &rest[at + character.len_utf8()..];
            }
            let windows = after.matches("\r\n").count();
            assert_eq!(windows, if text.contains('\r') { after.matches('\n').count() } else { 0 });
            let value = read_settings(&after, SettingsSyntax::LenientJson).unwrap();
            let list = value["hooks"]["Stop"].as_array().unwrap();
            assert_eq!(list.last().unwrap()["hooks"][0]["command"], "new", "{after}");
            for comment in ["\"a\": 1, // one\n", "\"a\": 1, /* one */\n", "{ \"hooks\": [] }, // mine\n"] {
                let plain = comment.replacen(',', "", 1);
                assert!(!(text.contains(comment) || text.contains(&plain)) || after.contains(comment), "{after}");
            }
        }
    }

    #[test]
    fn the_last_of_two_members_of_one_name_gets_the_group() {
        let after = insert_groups("{\"hooks\": {\"Stop\": []}, \"hooks\": {}}", &[group("Stop", "new")]).unwrap();
        assert!(after.starts_with("{\"hooks\": {\"Stop\": []}, \"hooks\": {\n"), "{after}");
    }

    #[test]
    fn members_are_added_where_they_are_missing() {
        let on = json!(true);
        let add = |text: &str| insert_member(text, Some("hooksConfig"), "enabled", &on);
        assert_eq!(add("{}").unwrap(), "{\n  \"hooksConfig\": { \"enabled\": true }\n}");
        assert_eq!(add("{\"hooksConfig\": {\"enabled\": false}}").unwrap(), "{\"hooksConfig\": {\"enabled\": false}}");
        let grown = "{\"hooksConfig\": {\"x\": 1,\n    \"enabled\": true}}";
        assert_eq!(add("{\"hooksConfig\": {\"x\": 1}}").unwrap(), grown);
        let error = add("{\"hooksConfig\": []}").unwrap_err();
        assert_eq!(error, EditError::Shape { key: "hooksConfig".to_owned(), expected: "an object" });
        let schema = insert_member("", None, "$schema", &json!("./s.json")).unwrap();
        assert_eq!(schema, "{\n  \"$schema\": \"./s.json\"\n}\n");
    }

    #[test]
    fn the_groups_of_a_file_can_be_added_to_another() {
        let group = "{\n  \"matcher\": \"a\",\n  \"hooks\": [{ \"command\": \"c\" }]\n}";
        let file = insert_groups("{}", &[HookGroup { event: "Stop".to_owned(), text: group.to_owned() }]).unwrap();
        assert_eq!(groups_in(&file).unwrap(), [HookGroup { event: "Stop".to_owned(), text: group.to_owned() }]);
    }
}
