//! Compares entries that call the bridge with the ones that an installation writes.
//!
//! An entry with the right command can still be without effect: a matcher, `async` or a timeout that is a text keeps the
//! agent from asking, and the agent reports nothing.

use std::collections::BTreeSet;

use hookrail::hook::denies_on_failure;
use serde_json::{Map, Value};

use super::call::BridgeCommand;
use super::entries::denies_failure;
use crate::agents::Agent;
use crate::settings::{DifferenceEffect, EntryDifference};

/// The members that change neither whether the agent asks nor whether it waits.
const HARMLESS: [&str; 5] = ["description", "name", "onFailure", "sequential", "statusMessage"];

/// The differences between a hook of a settings file and what an installation writes for its event. The program and the
/// options of the command count as they are, and so does a timeout that is a number. `group` is the entry that has the hook.
pub(super) fn differences_in_file(agent: Agent, event: &str, group: &Value, hook: &Value) -> Vec<EntryDifference> {
    // An event that this version does not know cannot be judged.
    let Some(known) = agent.find_event(event) else { return Vec::new() };
    let command = hook.get("command").or_else(|| hook.get("bash")).and_then(Value::as_str).unwrap_or_default();
    let mut expected = (agent.spec().install.entry)(&known, command, 0);
    let expected_hook = match expected.pointer_mut("/hooks/0") {
        Some(hook) => hook.as_object_mut(),
        None => expected.as_object_mut(),
    };
    for (name, value) in expected_hook.into_iter().flatten() {
        if let Some(timeout) = hook.get(name).filter(|found| value.is_number() && found.is_number()) {
            *value = timeout.clone();
        }
    }
    let mut found = differences(&expected, group, hook);
    let call = BridgeCommand::read(command);
    let is_asked = |call: &BridgeCommand| call.agent == agent.name() && call.event().is_none_or(|named| named == event);
    let of_command = |effect| EntryDifference { member: "command".to_owned(), effect };
    if !call.as_ref().is_some_and(is_asked) {
        found.push(of_command(DifferenceEffect::Disarms));
    } else if denies_failure(&known) && !denies_on_failure(command) {
        // Entries of earlier versions let the operation happen if the program cannot run.
        found.push(of_command(DifferenceEffect::Asks));
    }
    found
}

/// Whether an entry, or one hook of a group of them, is what an installation writes.
pub(super) fn is_current(expected: &Value, entry: &Value) -> bool {
    let hooks = entry.get("hooks").and_then(Value::as_array).map_or(std::slice::from_ref(entry), Vec::as_slice);
    hooks.iter().any(|hook| differences(expected, entry, hook).is_empty())
}

fn differences(expected: &Value, group: &Value, hook: &Value) -> Vec<EntryDifference> {
    let mut found = compare(expected.pointer("/hooks/0").unwrap_or(expected), hook);
    match (expected.get("hooks"), group.get("hooks")) {
        (Some(_), Some(_)) => found.extend(compare(expected, group)),
        // A hook outside of a group in an agent that wants groups, or the other way round.
        (Some(_), None) | (None, Some(_)) => {
            found.push(EntryDifference { member: "hooks".to_owned(), effect: DifferenceEffect::Disarms });
        }
        (None, None) => {}
    }
    found
}

/// Compares two objects but for the hooks in them.
fn compare(expected: &Value, found: &Value) -> Vec<EntryDifference> {
    let none = Map::new();
    let (expected, found) = (expected.as_object().unwrap_or(&none), found.as_object().unwrap_or(&none));
    let names: BTreeSet<&String> = expected.keys().chain(found.keys()).filter(|name| *name != "hooks").collect();
    let differs = |name: &&String| match (expected.get(*name), found.get(*name)) {
        (None, Some(extra)) => !is_without_effect(name, extra),
        (wanted, found) => wanted != found,
    };
    let difference = |name: &String| {
        // Without a timeout the agent waits as long as it waits for any hook.
        let is_missing_timeout = !found.contains_key(name) && expected.get(name).is_some_and(Value::is_number);
        let is_harmless = is_missing_timeout || HARMLESS.contains(&name.as_str());
        let effect = if is_harmless { DifferenceEffect::Asks } else { DifferenceEffect::Disarms };
        EntryDifference { member: name.clone(), effect }
    };
    names.into_iter().filter(differs).map(difference).collect()
}

/// Whether a member says what is the case without it.
fn is_without_effect(name: &str, value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => name == "matcher" && matches!(text.as_str(), "" | "*" | ".*"),
        Value::Bool(true) | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use hookrail::hook::denying_on_failure;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn found(agent: Agent, event: &str, group: &Value) -> Vec<(String, DifferenceEffect)> {
        let hook = group.pointer("/hooks/0").unwrap_or(group);
        let found = differences_in_file(agent, event, group, hook);
        found.into_iter().map(|difference| (difference.member, difference.effect)).collect()
    }

    #[test]
    fn a_difference_is_named_with_its_effect() {
        let call = "/bin/hookrail bridge claude --event PreToolUse --deadline 48000";
        let command = denying_on_failure(call, "it failed");
        let hook = json!({ "type": "command", "command": command, "timeout": 60, "onFailure": "block" });
        let with = |name: &str, value: Value| {
            let mut hook = hook.clone();
            hook[name] = value;
            json!({ "hooks": [hook] })
        };
        let disarms = |member: &str| vec![(member.to_owned(), DifferenceEffect::Disarms)];
        let claude = |group: &Value| found(Agent::claude(), "PreToolUse", group);
        assert_eq!(claude(&json!({ "hooks": [hook] })), []);
        assert_eq!(claude(&json!({ "matcher": "*", "hooks": [hook] })), []);
        assert_eq!(claude(&with("async", json!(false))), []);
        assert_eq!(claude(&with("timeout", json!(30))), []);
        assert_eq!(claude(&json!({ "matcher": "Nothing", "hooks": [hook] })), disarms("matcher"));
        assert_eq!(claude(&with("async", json!(true))), disarms("async"));
        assert_eq!(claude(&with("once", json!(true))), disarms("once"));
        assert_eq!(claude(&with("timeout", json!("60"))), disarms("timeout"));
        assert_eq!(claude(&with("type", json!("prompt"))), disarms("type"));
        assert_eq!(claude(&with("onFailure", json!("allow"))), [("onFailure".to_owned(), DifferenceEffect::Asks)]);
        assert_eq!(claude(&with("statusMessage", json!("a"))), [("statusMessage".to_owned(), DifferenceEffect::Asks)]);
        let mut without_timeout = json!({ "hooks": [hook] });
        without_timeout["hooks"][0].as_object_mut().unwrap().remove("timeout");
        assert_eq!(claude(&without_timeout), [("timeout".to_owned(), DifferenceEffect::Asks)]);
        assert_eq!(claude(&hook), disarms("hooks"));
        let other = with("command", json!("hookrail bridge claude --event Stop"));
        assert_eq!(claude(&other), disarms("command"));
        assert_eq!(claude(&with("command", json!("hookrail bridge codex"))), disarms("command"));
        // An entry of an earlier version is asked, and lets the operation happen if the program cannot run.
        assert_eq!(claude(&with("command", json!(call))), [("command".to_owned(), DifferenceEffect::Asks)]);
        assert_eq!(found(Agent::claude(), "EventOfTomorrow", &hook), []);
    }

    #[test]
    fn copilot_lists_hooks_without_groups() {
        let command =
            denying_on_failure("/bin/hookrail bridge copilot --event preToolUse --deadline 48000", "it failed");
        let hook = json!({ "type": "command", "bash": command, "timeoutSec": 60 });
        assert_eq!(found(Agent::copilot(), "preToolUse", &hook), []);
        let text = json!({ "type": "command", "bash": command, "timeoutSec": "60" });
        assert_eq!(
            found(Agent::copilot(), "preToolUse", &text),
            [("timeoutSec".to_owned(), DifferenceEffect::Disarms)]
        );
    }
}
