//! What an answer says, in the agent's own rules: which fields count on which event, and which mistakes take a denial away there.
//!
//! The agent ignores an answer whole if a field of it is not valid. A denial counts here all the same, with a diagnostic: its
//! author meant it.

use super::events::{TOOL_FAILED, column};
use crate::config::diagnostic::{Code, Diagnostic};
use crate::dialect::command_hooks::{
    EXIT_CODE_BLOCKING_ERROR, EXIT_CODE_SUCCESS, HookDecision, HookOutput, ParsedOutput, StatusTwo, parse_output,
};
use crate::event::EventKind;
use crate::json::{Json, JsonKind, JsonObject};
use crate::outcome::{Decision, join};
use crate::run::{RawEnd, RunEnd};

/// A member of `hookSpecificOutput`, what it must be, and the events on which it counts.
const MEMBERS: &[(&str, &[JsonKind], &[EventKind])] = &[
    ("permissionDecision", &[JsonKind::String], &[EventKind::BeforeTool]),
    ("permissionDecisionReason", &[JsonKind::String], &[EventKind::BeforeTool]),
    ("updatedInput", &[JsonKind::Object], &[EventKind::BeforeTool]),
    ("decision", &[JsonKind::Object], &[EventKind::PermissionRequest]),
    (
        "additionalContext",
        &[JsonKind::String],
        &[
            EventKind::SessionStart,
            EventKind::Prompt,
            EventKind::BeforeTool,
            EventKind::AfterTool,
            EventKind::AgentEnd,
            EventKind::SubagentStart,
        ],
    ),
    ("updatedToolOutput", ANYTHING, &[EventKind::AfterTool]),
    ("updatedMCPToolOutput", ANYTHING, &[EventKind::AfterTool]),
];

const ANYTHING: &[JsonKind] =
    &[JsonKind::String, JsonKind::Object, JsonKind::Array, JsonKind::Number, JsonKind::Boolean, JsonKind::Null];

/// The member that says for which event an answer is.
const EVENT_NAME: &str = "hookEventName";

/// The members of `hookSpecificOutput` that count on an event.
pub(super) fn known_on(kind: EventKind) -> Vec<&'static str> {
    let on = MEMBERS.iter().filter(|(_, _, events)| events.contains(&kind)).map(|(name, ..)| *name);
    on.chain([EVENT_NAME]).collect()
}

/// Makes the output what it means on an event, and reports what the agent does otherwise.
pub(super) fn check(kind: EventKind, output: &mut HookOutput) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mistake = mistake_in(kind, output, &mut found);
    // A denial in a place where it counts, whatever else is wrong.
    let denies = denial(kind, output);
    output.decision = output.decision.and_then(|word| top_level(kind, word, &mut found));
    if let Some(specific) = &mut output.hook_specific_output {
        let counts = known_on(kind);
        let other: Vec<String> =
            specific.iter().map(|(key, _)| key).filter(|key| !counts.contains(key)).map(str::to_owned).collect();
        for key in other {
            specific.remove(&key);
        }
        if kind == EventKind::BeforeTool && permission(specific) == Some(HookDecision::Block) {
            specific.remove("permissionDecision");
        }
    }
    if kind == EventKind::PermissionRequest && mistake.is_none() {
        read_question(output);
    }
    match (mistake, denies) {
        (Some(mistake), true) => {
            let reason = output.effective_reason().or_else(|| output.system_message.clone());
            found.push(stricter(&mistake));
            *output = HookOutput { decision: Some(HookDecision::Deny), reason, ..HookOutput::default() };
        }
        (Some(mistake), false) => {
            let finding = Diagnostic::new(Code::AnswerField, format!("{mistake}; the answer has no effect"));
            found.push(finding.hint("correct the field: with it the agent ignores the answer as a whole"));
            *output = HookOutput::default();
        }
        (None, _) => {}
    }
    give_reason(output);
    found
}

/// Makes a question of a call that is deferred: the agent does not run it, and waits for a person.
pub(super) fn read_deferral(answer: &mut JsonObject) {
    const SPECIFIC: &str = "hookSpecificOutput";
    let Some(mut specific) = answer.get(SPECIFIC).and_then(Json::as_object) else { return };
    if specific.get("permissionDecision").and_then(Json::as_str).as_deref() == Some("defer") {
        specific.set("permissionDecision", Json::string("ask"));
        answer.set(SPECIFIC, specific.to_json());
    }
}

/// What a hook with `asyncRewake` says: the reason of its denial, else what it prints.
pub(super) fn late_words(end: &RunEnd) -> Option<String> {
    let text = match (end.how(), end.failure()) {
        (RawEnd::Exited(EXIT_CODE_BLOCKING_ERROR), _) => {
            let StatusTwo { on_stderr, on_stdout, found: _ } = StatusTwo::of(end);
            on_stderr.or(on_stdout)
        }
        (RawEnd::Exited(EXIT_CODE_SUCCESS), None) => match parse_output(&end.stdout().lossy()) {
            ParsedOutput::Nothing | ParsedOutput::Broken(_) => None,
            ParsedOutput::Text(text) => Some(text),
            ParsedOutput::Object(object, _) => {
                let output = HookOutput::read(&object).0;
                let mut text = output.get_additional_context();
                join(&mut text, output.effective_reason(), "\n");
                join(&mut text, output.system_message, "\n");
                text
            }
        },
        // A failure is reported, and is nothing that the hook says.
        _ => None,
    };
    text.filter(|text| !text.trim().is_empty())
}

/// Why the agent ignores an answer whole; none if it does not.
fn mistake_in(kind: EventKind, output: &HookOutput, found: &mut Vec<Diagnostic>) -> Option<String> {
    let specific = output.hook_specific_output.as_ref()?;
    let name = column(kind).map_or("", |column| column.name);
    let given = specific.get(EVENT_NAME).map(|given| given.as_str().unwrap_or_default());
    let is_own = |given: &str| given == name || (kind == EventKind::AfterTool && given == TOOL_FAILED);
    match &given {
        None => return Some(format!("`hookSpecificOutput` needs `{EVENT_NAME}`, here `{name}`")),
        Some(given) if !is_own(given) => {
            return Some(format!("it answers for `{given}`, but the event is {name}"));
        }
        Some(_) => {}
    }
    for (key, value) in specific.iter().filter(|(key, _)| *key != EVENT_NAME) {
        match MEMBERS.iter().find(|(member, ..)| *member == key) {
            None => {
                let message = format!("`hookSpecificOutput.{key}` is not known and has no effect");
                found.push(Diagnostic::new(Code::AnswerUnknownField, message));
            }
            Some((_, kinds, _)) if !kinds.contains(&value.kind()) => {
                let is = value.kind().described();
                return Some(format!("`hookSpecificOutput.{key}` must not be {is}"));
            }
            Some((_, _, events)) if !events.contains(&kind) => {
                let message = format!("`hookSpecificOutput.{key}` has no effect on {name}");
                found.push(Diagnostic::new(Code::AnswerIgnored, message));
            }
            Some(_) => {}
        }
    }
    None
}

/// Whether an answer denies in one of the places in which an answer to the event can.
fn denial(kind: EventKind, output: &HookOutput) -> bool {
    let top = output.decision.is_some_and(|word| word.decision() == Decision::Deny);
    let specific = output.hook_specific_output.as_ref();
    let inner = match kind {
        EventKind::BeforeTool => specific.and_then(permission) == Some(HookDecision::Deny),
        EventKind::PermissionRequest => specific
            .and_then(|specific| specific.get("decision")?.as_object()?.get("behavior")?.as_str())
            .is_some_and(|behaviour| behaviour == "deny"),
        _ => false,
    };
    top || inner
}

fn permission(specific: &JsonObject) -> Option<HookDecision> {
    specific.get("permissionDecision").and_then(Json::as_str).as_deref().and_then(HookDecision::from_word)
}

/// The meaning of the top-level decision. The agent knows `block` and `approve`.
fn top_level(kind: EventKind, word: HookDecision, found: &mut Vec<Diagnostic>) -> Option<HookDecision> {
    match word {
        HookDecision::Block => Some(word),
        HookDecision::Deny => {
            found.push(stricter("`decision` is `deny` where the agent wants `block`"));
            Some(word)
        }
        // It goes on, and skips no question of the host.
        HookDecision::Approve => None,
        HookDecision::Allow | HookDecision::Ask => {
            let name = column(kind).map_or("", |column| column.name);
            let message = format!("`decision` must be `block` or `approve` on {name}, not `{}`", word.word());
            let finding = Diagnostic::new(Code::AnswerField, format!("{message}; it has no effect"));
            found.push(match kind {
                EventKind::BeforeTool => finding.hint("answer with `hookSpecificOutput.permissionDecision`"),
                _ => finding,
            });
            None
        }
    }
}

/// Reads the answer to the host's question, which is an object.
fn read_question(output: &mut HookOutput) {
    let Some(specific) = &mut output.hook_specific_output else { return };
    let Some(decision) = specific.get("decision").and_then(Json::as_object) else { return };
    let text = |name: &str| decision.get(name).and_then(Json::as_str);
    match text("behavior").as_deref() {
        Some("allow") => output.decision = Some(HookDecision::Allow),
        Some("deny") => {
            output.decision = Some(HookDecision::Block);
            output.reason = text("message").or(output.reason.take());
        }
        _ => {}
    }
    if decision.get("interrupt").and_then(Json::as_bool) == Some(true) {
        output.r#continue = Some(false);
        output.stop_reason = output.stop_reason.take().or_else(|| text("message"));
    }
    let input = decision.get("updatedInput").filter(|input| input.kind() == JsonKind::Object).cloned();
    specific.remove("decision");
    if let Some(input) = input {
        specific.set("updatedInput", input);
    }
}

/// Gives a denial without a reason the text that the user is shown.
fn give_reason(output: &mut HookOutput) {
    if !output.is_blocking_decision() || output.effective_reason().is_some() {
        return;
    }
    if let Some(text) = output.system_message.as_ref().filter(|text| !text.trim().is_empty()) {
        output.reason = Some(text.clone());
    }
}

fn stricter(mistake: &str) -> Diagnostic {
    let message = format!("{mistake}; the agent would let this pass, and here the denial counts");
    Diagnostic::new(Code::StricterThanAgent, message)
}
