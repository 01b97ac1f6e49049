use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::agents::Agent;
use crate::install::remove_entries;

fn entry(event: &'static str, command: &str) -> SettingsEntry {
    let value = json!({ "hooks": [{ "command": command, "type": "command" }] });
    SettingsEntry { event, value, command: command.to_owned() }
}

fn entries() -> Vec<SettingsEntry> {
    vec![entry("PreToolUse", "/bin/hookrail bridge claude"), entry("Stop", "/bin/hookrail bridge claude --event Stop")]
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
        assert_eq!(remove_entries(Agent::claude(), &after, &insertions).unwrap(), *text);
    }
}

#[test]
fn comments_and_the_order_of_a_file_are_kept() {
    for (comma, syntax) in [("", SettingsSyntax::JsonWithComments), (",", SettingsSyntax::LenientJson)] {
        let text = format!("{{\n    // mine\n    \"b\": 1, // two\n    \"a\": 2{comma}\n}}\n");
        let (after, insertions) = insert_entries(&text, &entries(), syntax, &[]).unwrap();
        assert!(after.starts_with("{\n    // mine\n    \"b\": 1, // two\n    \"a\": 2,\n    \"hooks\": {"), "{after}");
        assert_eq!(remove_entries(Agent::claude(), &after, &insertions).unwrap(), text);
    }
}

#[test]
fn entries_are_found_after_the_file_was_formatted_anew() {
    let text =
        "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"hooks\": [{\"command\": \"mine\"}]}\n    ]\n  }\n}\n";
    let (after, insertions) = insert_entries(text, &entries(), SettingsSyntax::StrictJson, &[]).unwrap();
    let value: serde_json::Value = serde_json::from_str(&after).unwrap();
    let minified = value.to_string();
    let removed: serde_json::Value =
        serde_json::from_str(&remove_entries(Agent::claude(), &minified, &insertions).unwrap()).unwrap();
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
            let removed = remove_entries(Agent::claude(), &second, &insertions).unwrap();
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
    assert_eq!(remove_entries(Agent::claude(), &after, &insertions).unwrap(), text);
    let minified = serde_json::from_str::<Value>(&after).unwrap().to_string();
    let removed: Value =
        serde_json::from_str(&remove_entries(Agent::claude(), &minified, &insertions).unwrap()).unwrap();
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
        let removed = remove_entries(Agent::claude(), &edited, &insertions).unwrap();
        let with_comment = remove_entries(Agent::claude(), &format!("// mine\n{edited}"), &insertions).unwrap();
        assert_eq!(with_comment, format!("// mine\n{removed}"), "comments do not make it less careful");
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
        let mut parts: Vec<String> = members.into_iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
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
        prop_assert_eq!(remove_entries(Agent::claude(), &after, &insertions).unwrap(), text);
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
        prop_assert_eq!(remove_entries(Agent::claude(), &current, &insertions).unwrap(), text);
    }
}

#[test]
fn an_entry_that_was_disarmed_is_repaired_where_it_stands() {
    let strict = SettingsSyntax::StrictJson;
    let windows = FILES.iter().map(|text| text.replace('\n', "\r\n"));
    for text in FILES.iter().map(|text| (*text).to_owned()).chain(windows) {
        let (first, insertions) = insert_entries(&text, &with_deadline(1), strict, &[]).unwrap();
        let disarm = |from: &str, to: &str| {
            assert!(first.contains(from), "{first}");
            first.replacen(from, to, 1)
        };
        let end = if first.contains("\r\n") { "\r\n" } else { "\n" };
        for (line, disarmed) in [
            ("\"type\": \"command\"", "\"type\": \"command\", \"async\": true"),
            ("\"hooks\": [", "\"matcher\": \"Nothing\", \"hooks\": ["),
        ] {
            let disarmed = disarm(&format!("{line}{end}"), &format!("{disarmed}{end}"));
            let (repaired, again) = insert_entries(&disarmed, &with_deadline(1), strict, &insertions).unwrap();
            assert_eq!(repaired, first);
            assert_eq!(remove_entries(Agent::claude(), &repaired, &again).unwrap(), text);
            // With other options at the same time.
            let (other, again) = insert_entries(&disarmed, &with_deadline(2), strict, &insertions).unwrap();
            assert_eq!((calls(&other), other.matches("--deadline 2").count()), (3, 3), "{other}");
            assert!(!other.contains("async") && !other.contains("matcher"), "{other}");
            let removed = remove_entries(Agent::claude(), &other, &again).unwrap();
            let value = |text: &str| serde_json::from_str::<Value>(text).ok();
            assert_eq!(value(&removed), value(&text), "{removed}");
        }
    }
}

/// The entry that the user wrote has the command of the installation and another option.
#[test]
fn an_entry_of_the_user_with_the_same_command_is_given_back() {
    let strict = SettingsSyntax::StrictJson;
    let own = json!({ "matcher": "Bash", "hooks": [{ "command": "/bin/hookrail bridge claude --event Stop", "type": "command" }] });
    let text = json!({ "hooks": { "Stop": [own] } }).to_string();
    let (after, insertions) = insert_entries(&text, &entries(), strict, &[]).unwrap();
    assert!(!after.contains("matcher"), "{after}");
    assert_eq!(remove_entries(Agent::claude(), &after, &insertions).unwrap(), text);
    let minified = serde_json::from_str::<Value>(&after).unwrap().to_string();
    assert_eq!(remove_entries(Agent::claude(), &minified, &insertions).unwrap(), text);
}

/// What the user may have changed in an entry does not keep it from being taken out, and nothing else changes.
#[test]
fn an_edited_entry_is_taken_out_and_the_rest_stays_byte_for_byte() {
    let strict = SettingsSyntax::StrictJson;
    let windows = FILES.iter().map(|text| text.replace('\n', "\r\n"));
    for text in FILES.iter().map(|text| (*text).to_owned()).chain(windows) {
        let (after, insertions) = insert_entries(&text, &with_deadline(48000), strict, &[]).unwrap();
        for (from, to) in [
            ("PreToolUse --deadline 48000", "PreToolUse --deadline 30000"),
            ("/bin/hookrail", "/usr/local/bin/hookrail"),
            ("/bin/hookrail", "/opt/a-new-name"),
        ] {
            let edited = after.replace(from, to);
            assert_ne!(edited, after);
            assert_eq!(remove_entries(Agent::claude(), &edited, &insertions).unwrap(), text, "{from} {to}");
        }
    }
}

#[test]
fn a_hook_in_the_group_of_an_entry_stays() {
    let strict = SettingsSyntax::StrictJson;
    let theirs = json!({ "type": "command", "command": "theirs" });
    for (at, text) in (0..2).flat_map(|at| FILES.iter().map(move |text| (at, *text))) {
        let (after, insertions) = insert_entries(text, &with_deadline(1), strict, &[]).unwrap();
        let mut edited: Value = serde_json::from_str(&after).unwrap();
        let group = edited["hooks"]["Stop"].as_array_mut().unwrap().last_mut().unwrap();
        group["hooks"].as_array_mut().unwrap().insert(at, theirs.clone());
        let edited = serde_json::to_string_pretty(&edited).unwrap();
        // Another installation changes the entry inside of the group.
        let (again, grown) = insert_entries(&edited, &with_deadline(2), strict, &insertions).unwrap();
        assert_eq!((calls(&again), again.matches("theirs").count()), (3, 1), "{again}");
        let twice = remove_entries(Agent::claude(), &again, &grown).unwrap();
        let removed = remove_entries(Agent::claude(), &edited, &insertions).unwrap();
        assert_eq!(calls(&removed), 0, "{removed}");
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(read(&twice), read(&removed));
        let mut expected: Value = serde_json::from_str(text).unwrap_or(json!({}));
        expected["hooks"]["Stop"] = json!([{ "hooks": [theirs] }]);
        assert_eq!(serde_json::from_str::<Value>(&removed).unwrap(), expected, "{edited}");
    }
}

/// The entry that an installation replaced comes back, also if the one in its place was edited.
#[test]
fn a_call_of_the_user_is_given_back_although_the_entry_was_edited() {
    let text = r#"{"hooks": {"Stop": [{"matcher": "x", "hooks": [{"command": "hookrail bridge claude"}]}]}}"#;
    let (after, insertions) = insert_entries(text, &with_deadline(1), SettingsSyntax::StrictJson, &[]).unwrap();
    let edited = after.replace("--deadline 1", "--deadline 7");
    assert_eq!(remove_entries(Agent::claude(), &edited, &insertions).unwrap(), text);
    let mut grown: Value = serde_json::from_str(&edited).unwrap();
    grown["hooks"]["Stop"][0]["hooks"].as_array_mut().unwrap().push(json!({ "command": "theirs" }));
    let removed = remove_entries(Agent::claude(), &grown.to_string(), &insertions).unwrap();
    let removed: Value = serde_json::from_str(&removed).unwrap();
    let mut expected: Value = serde_json::from_str(text).unwrap();
    expected["hooks"]["Stop"].as_array_mut().unwrap().push(json!({ "hooks": [{ "command": "theirs" }] }));
    assert_eq!(removed, expected);
}

/// A comment that was moved behind a comma is no entry that was replaced.
#[test]
fn a_comment_before_an_edited_entry_stays_a_comment() {
    let text = "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": []} // mine\n    ]\n  }\n}\n";
    let syntax = SettingsSyntax::JsonWithComments;
    let (after, insertions) = insert_entries(text, &with_deadline(1), syntax, &[]).unwrap();
    let edited = after.replace("--deadline 1", "--deadline 7");
    let removed = remove_entries(Agent::claude(), &edited, &insertions).unwrap();
    assert_eq!(removed.matches("// mine").count(), 1, "{removed}");
    assert_eq!(calls(&removed), 0);
    let read = |text: &str| crate::install::read_settings(text, SettingsSyntax::LenientJson).unwrap();
    assert_eq!(read(&removed), read(text));
    assert_eq!(removed, text);
    assert!(crate::install::read_settings(&removed, syntax).is_ok(), "{removed}");
}

/// Copies under another name are changed where they stand, as those of the usual name are.
#[test]
fn a_renamed_program_is_not_added_twice() {
    let named = |deadline: u32| {
        let entries = with_deadline(deadline).into_iter();
        entries.map(|known| entry(known.event, &known.command.replace("hookrail", "hookrail-0.2"))).collect::<Vec<_>>()
    };
    let strict = SettingsSyntax::StrictJson;
    let (first, insertions) = insert_entries("{}", &named(1), strict, &[]).unwrap();
    let (second, insertions) = insert_entries(&first, &named(2), strict, &insertions).unwrap();
    assert_eq!(second.matches("hookrail-0.2 bridge").count(), 3, "{second}");
    assert_eq!(remove_entries(Agent::claude(), &second, &insertions).unwrap(), "{}");
}
