//! Entries that ask a group of workers elsewhere: their keys, and their answers in the fields of a command's answer.

use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::{Document, PlacedValue, ValueShape};
use crate::event::effects::Effects;
use crate::hook::remote::{GroupName, RemoteTarget};
use crate::json::{Json, JsonObject};
use crate::outcome::Decision;

use super::output::{HookDecision, HookOutput};

/// The value of `type`.
pub(crate) const TYPE: &str = "remote";
/// The key of the group that is asked.
pub(crate) const GROUP_KEY: &str = "group";
/// The key that says how often a question is sent again.
pub(crate) const RETRIES_KEY: &str = "retries";

/// The keys that are about a process.
pub(crate) const PROCESS_KEYS: [&str; 5] = ["command", "args", "mode", "sandbox", "sandboxRequired"];

/// Whether an entry is a remote hook.
pub(super) fn is_remote(node: &PlacedValue) -> bool {
    node.get("type").and_then(PlacedValue::text) == Some(TYPE)
}

/// Reads what an entry asks. The problem of an entry that cannot be used is among the findings too.
pub(super) fn read(document: &Document, node: &PlacedValue) -> (Result<RemoteTarget, String>, Vec<Diagnostic>) {
    let mut found = Vec::new();
    for (key, value) in PROCESS_KEYS.iter().filter_map(|key| Some((key, node.get(key)?))) {
        let message = format!("`{key}` has no effect on a remote hook, which starts no process here");
        found.push(document.finding(Code::SettingValue, &value.span, message));
    }
    let group = node.get(GROUP_KEY);
    let name = match group {
        Some(value) => match value.text().map(GroupName::new) {
            Some(Ok(name)) => Ok(name),
            Some(Err(error)) => Err(format!("`{GROUP_KEY}` cannot be used: {error}")),
            None => Err(format!("`{GROUP_KEY}` must be a string, not {}", value.described())),
        },
        None => Err(format!("a hook of type `{TYPE}` needs a `{GROUP_KEY}`")),
    };
    let target = name.map(|group| {
        let retries = retries(document, node, &mut found);
        RemoteTarget { group, retries }
    });
    if let Err(message) = &target {
        let span = group.map_or(&node.span, |group| &group.span);
        let finding = document.finding(Code::HookCommand, span, message.clone());
        found.push(finding.hint(format!("name the group of workers, as in `\"{GROUP_KEY}\": \"guards\"`")));
    }
    (target, found)
}

fn retries(document: &Document, node: &PlacedValue, found: &mut Vec<Diagnostic>) -> u8 {
    let Some(value) = node.get(RETRIES_KEY) else { return RemoteTarget::DEFAULT_RETRIES };
    let given = match &value.shape {
        ValueShape::Number(number) => number.parse::<f64>().ok(),
        _ => None,
    };
    let count = given.and_then(|given| (0..=RemoteTarget::MOST_RETRIES).find(|count| f64::from(*count) == given));
    count.unwrap_or_else(|| {
        let (most, default) = (RemoteTarget::MOST_RETRIES, RemoteTarget::DEFAULT_RETRIES);
        let message = format!("`{RETRIES_KEY}` must be a whole number from 0 to {most}; {default} applies");
        found.push(document.finding(Code::SettingValue, &value.span, message));
        default
    })
}

/// Reports the keys of a remote hook in another entry.
pub(super) fn report_keys_without_effect(document: &Document, node: &PlacedValue) -> Vec<Diagnostic> {
    let keys = [GROUP_KEY, RETRIES_KEY].into_iter().filter_map(|key| Some((key, node.get(key)?)));
    let report = |(key, value): (&str, &PlacedValue)| {
        let message = format!("`{key}` has no effect here: it belongs to a hook of type `{TYPE}`");
        document.finding(Code::SettingValue, &value.span, message)
    };
    keys.map(report).collect()
}

/// Writes effects in the fields of an answer, and reports those that an answer cannot have.
pub(super) fn output_of(effects: &Effects) -> (HookOutput, Vec<Diagnostic>) {
    // Destructured, so that a new effect cannot be forgotten here.
    let Effects {
        decision,
        reason,
        stop,
        system_message,
        suppress_output,
        clear_context,
        additional_context,
        tool_input,
        tool_output,
        prompt,
        messages,
        entries,
        llm_request,
        llm_response,
        tool_config,
        result,
    } = effects;
    let context = additional_context.as_ref().map(|text| Json::string(text));
    let clear = clear_context.then(|| Json::boolean(true));
    let mut specific = JsonObject::new();
    let members = [
        ("additionalContext", context.as_ref()),
        ("tool_input", tool_input.as_ref()),
        ("llm_request", llm_request.as_ref()),
        ("llm_response", llm_response.as_ref()),
        ("toolConfig", tool_config.as_ref()),
        ("clearContext", clear.as_ref()),
    ];
    for (key, value) in members {
        if let Some(value) = value {
            specific.set(key, value.clone());
        }
    }
    let output = HookOutput {
        r#continue: stop.is_some().then_some(false),
        stop_reason: stop.as_ref().map(|stop| stop.reason.clone()),
        suppress_output: suppress_output.then_some(true),
        system_message: system_message.clone(),
        decision: decision.map(|decision| match decision {
            Decision::Allow => HookDecision::Allow,
            Decision::Ask => HookDecision::Ask,
            Decision::Deny => HookDecision::Deny,
        }),
        reason: reason.clone(),
        hook_specific_output: (!specific.is_empty()).then_some(specific),
    };
    let without_place = [
        ("toolOutput", tool_output.is_some()),
        ("prompt", prompt.is_some()),
        ("messages", !messages.is_empty()),
        ("entries", !entries.is_empty()),
        ("result", result.is_some()),
    ];
    let ignored = without_place.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| {
        let message = format!("`{name}` of the answer has no effect: a hook in settings cannot have it");
        Diagnostic::new(Code::AnswerIgnored, message)
    });
    (output, ignored.collect())
}
