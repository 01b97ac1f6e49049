//! The members of `hookSpecificOutput`: which there are, what they must be, and on which events they do something.

use super::model;
use crate::config::diagnostic::{Code, Diagnostic};
use crate::dialect::DialectId;
use crate::dialect::answer_words::AnswerFields;
use crate::dialect::command_hooks::{FOREIGN_FIELDS, HookOutput};
use crate::dialect::tool_choice::HookToolMode;
use crate::event::{Abilities, EventKind};
use crate::json::{Json, JsonKind, JsonObject};

/// A member, what it must be, and what it takes to have an effect.
pub(super) const MEMBERS: &[(&str, JsonKind, Option<Abilities>)] = &[
    ("hookEventName", JsonKind::String, None),
    ("permissionDecision", JsonKind::String, None),
    ("permissionDecisionReason", JsonKind::String, None),
    ("tool_input", JsonKind::Object, Some(Abilities::REWRITE_TOOL_INPUT)),
    ("additionalContext", JsonKind::String, Some(Abilities::ADD_CONTEXT)),
    ("llm_request", JsonKind::Object, Some(Abilities::REWRITE_REQUEST)),
    ("llm_response", JsonKind::Object, Some(Abilities::GIVE_RESPONSE)),
    ("toolConfig", JsonKind::Object, Some(Abilities::CHOOSE_TOOLS)),
    ("clearContext", JsonKind::Boolean, Some(Abilities::CLEAR_CONTEXT)),
];

/// The members that an event knows.
pub(super) fn known_on(kind: EventKind) -> Vec<&'static str> {
    let can = kind.spec().column(DialectId::Llxprt).map_or(Abilities::NONE, |column| column.can);
    let known = MEMBERS.iter().filter(|(.., ability)| ability.is_none_or(|ability| can.includes(ability)));
    known.map(|(name, ..)| *name).collect()
}

/// Removes members of the wrong type and reports those without an effect, which stay for the aggregate.
pub(super) fn check(kind: EventKind, output: &mut HookOutput) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let Some(column) = kind.spec().column(DialectId::Llxprt) else { return found };
    let Some(specific) = &mut output.hook_specific_output else { return found };
    let mut wrong = Vec::new();
    for (key, value) in specific.iter() {
        let Some((_, expected, ability)) = MEMBERS.iter().find(|(name, ..)| *name == key) else {
            let message = format!("`hookSpecificOutput.{key}` is not known and has no effect");
            let diagnostic = Diagnostic::new(Code::AnswerUnknownField, message);
            let names: Vec<&'static str> = MEMBERS.iter().map(|(name, ..)| *name).collect();
            found.push(AnswerFields { known: &names, foreign: &FOREIGN_FIELDS }.explain(diagnostic, key));
            continue;
        };
        if value.kind() != *expected {
            let (must, is) = (expected.described(), value.kind().described());
            let message = format!("`hookSpecificOutput.{key}` must be {must}, not {is}; it was left out");
            found.push(Diagnostic::new(Code::AnswerField, message));
            wrong.push(key.to_owned());
        } else if ability.is_some_and(|ability| !column.can.includes(ability)) {
            let message = format!("`hookSpecificOutput.{key}` has no effect on {}", column.name);
            found.push(Diagnostic::new(Code::AnswerIgnored, message));
        }
    }
    for key in wrong {
        specific.remove(&key);
    }
    if let Some(name) = specific.get("hookEventName").and_then(Json::as_str)
        && name != column.name
    {
        let message = format!("it answers for `{name}`, but the event is {}", column.name);
        let hint = format!("write `{}`, or leave `hookEventName` out", column.name);
        found.push(Diagnostic::new(Code::EventNameMismatch, message).hint(hint));
    }
    if let Some(mut request) = specific.get("llm_request").and_then(Json::as_object) {
        let wrong = model::sanitize_request(&mut request);
        if !wrong.is_empty() {
            specific.set("llm_request", request.to_json());
            found.extend(wrong.into_iter().map(|message| Diagnostic::new(Code::AnswerField, message)));
        }
    }
    if specific
        .get("llm_response")
        .is_some_and(|response| crate::payload::response_with_text_and_candidates(response).is_none())
    {
        specific.remove("llm_response");
        let message = "`hookSpecificOutput.llm_response` has neither `text` nor `candidates`; it was left out";
        found.push(Diagnostic::new(Code::AnswerField, message));
    }
    if specific.get("llm_response").is_some_and(crate::payload::has_other_parts) {
        let message = "`hookSpecificOutput.llm_response` has parts that are neither text nor a `functionCall`";
        found.push(Diagnostic::new(Code::AnswerIgnored, format!("{message}; they have no effect")));
    }
    if let Some(config) = specific.get("toolConfig").and_then(Json::as_object) {
        let (config, problems) = tool_config(&config);
        specific.set("toolConfig", config.to_json());
        found.extend(problems);
    }
    found
}

/// The tool configuration without what is wrong in it.
fn tool_config(given: &JsonObject) -> (JsonObject, Vec<Diagnostic>) {
    let mut config = given.clone();
    let mut found = Vec::new();
    if let Some(mode) = given.get("mode")
        && mode.decode::<HookToolMode>().is_none()
    {
        config.remove("mode");
        let message = format!("`toolConfig.mode` must be `AUTO`, `ANY` or `NONE`, not {}", mode.text());
        found.push(Diagnostic::new(Code::AnswerField, message));
    }
    if let Some(names) = given.get("allowedFunctionNames") {
        let strings: Option<Vec<String>> =
            names.as_array().map(|names| names.iter().filter_map(Json::as_str).collect());
        let complete = names.as_array().map(|names| names.len()) == strings.as_ref().map(Vec::len);
        if strings.is_none() || !complete {
            let message =
                "`toolConfig.allowedFunctionNames` must be a list of strings; what is not a string was left out";
            found.push(Diagnostic::new(Code::AnswerField, message));
        }
        match strings {
            Some(strings) => config.set("allowedFunctionNames", Json::of(&strings).unwrap_or_else(|_| Json::null())),
            None => {
                config.remove("allowedFunctionNames");
            }
        }
    }
    (config, found)
}

/// Where an operation is denied that it is too late to deny.
const EARLIER: [(EventKind, &str); 3] = [
    (EventKind::AfterTool, "; a tool is denied in `BeforeTool`"),
    (EventKind::AfterModel, "; a call of the model is denied in `BeforeModel`"),
    (EventKind::ToolSelection, "; a call of the model is denied in `BeforeModel`"),
];

/// What an answer can do about an event that cannot be denied, as advice for an author who tried to deny it.
pub(super) fn instead_of_deny(kind: EventKind) -> Option<String> {
    let column = kind.spec().column(DialectId::Llxprt)?;
    let members = MEMBERS.iter().filter(|(.., ability)| ability.is_some_and(|ability| column.can.includes(ability)));
    let mut ways: Vec<String> = members.map(|(name, ..)| format!("`hookSpecificOutput.{name}`")).collect();
    ways.push("`systemMessage`".to_owned());
    if column.can.includes(Abilities::STOP) {
        ways.push("`\"continue\": false`, which stops the agent".to_owned());
    }
    let earlier = EARLIER.iter().find(|(late, _)| *late == kind).map_or("", |(_, earlier)| earlier);
    let last = ways.pop()?;
    let ways = if ways.is_empty() { last } else { format!("{} or {last}", ways.join(", ")) };
    Some(format!("print {ways}{earlier}"))
}
