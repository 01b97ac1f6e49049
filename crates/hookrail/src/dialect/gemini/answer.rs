//! Reads what a hook answers as Gemini CLI 0.61.0 does: JSON counts at any exit status, standard error is read where standard output
//! is empty, and text means what the status says. The status 2 denies here without any text too.

use std::sync::Arc;

use super::Gemini;
use crate::config::diagnostic::{Code, Diagnostic, Level};
use crate::dialect::command_hooks::{
    AgentAnswer, HookDecision, HookOutput, NO_REASON, ParsedOutput, Provenance, Reading, StatusTwo, parse_output,
    recognised_in, reply, stricter_than_agent,
};
use crate::dialect::{DialectId, Reply, failure_effects};
use crate::event::{Abilities, EventKind};
use crate::hook::{Hook, OnFailure};
use crate::json::{Json, JsonKind, JsonObject};
use crate::outcome::{Decision, Effects, EndKind, Stop};
use crate::payload::answered_response;
use crate::run::{RawEnd, RunEnd};

const AGENT: &str = "Gemini CLI";

pub(super) fn read(hook: &Arc<Hook>, on_failure: OnFailure, kind: EventKind, end: &RunEnd) -> Reply<AgentAnswer> {
    reply::<Gemini>(hook, on_failure, can(kind), end, || match (end.how(), end.failure()) {
        (RawEnd::Exited(0), None) => Some(read_success(kind, end)),
        (RawEnd::Exited(status @ 1..), _) if !end.stdout().is_truncated() => {
            let policy = failure_effects(hook, on_failure, EndKind::Exited, end.how());
            read_other_status(kind, *status, end, policy)
        }
        _ => None,
    })
}

fn can(kind: EventKind) -> Abilities {
    kind.spec().column(DialectId::Gemini).map_or(Abilities::NONE, |column| column.can)
}

/// What the agent takes for the answer: standard output, and where that is empty standard error.
fn answer_text(end: &RunEnd) -> String {
    let stdout = end.stdout().lossy();
    if stdout.trim().is_empty() { end.stderr().lossy().trim().to_owned() } else { stdout.trim().to_owned() }
}

/// An answer that may be encoded twice.
fn parsed(text: &str) -> ParsedOutput {
    let value = Json::parse(text.trim()).ok();
    match value.as_ref().map(Json::kind) {
        // They are values without a field of an answer.
        Some(JsonKind::Array | JsonKind::Number | JsonKind::Boolean | JsonKind::Null) => ParsedOutput::Nothing,
        Some(JsonKind::String) => parse_output(&value.and_then(|value| value.as_str()).unwrap_or_default()),
        Some(JsonKind::Object) | None => parse_output(text),
    }
}

fn read_success(kind: EventKind, end: &RunEnd) -> Reading {
    let stdout = end.stdout().lossy();
    let text = answer_text(end);
    let message = |text: &str| Effects { system_message: Some(text.to_owned()), ..Effects::default() };
    let reading = match parsed(&text) {
        ParsedOutput::Object(object, found) => read_object(kind, &object).with(found),
        ParsedOutput::Nothing => Reading::silent(),
        ParsedOutput::Text(_) | ParsedOutput::Broken(_) => {
            let found = text_with_decision(&text);
            Reading::answered(message(&text), Provenance::PlainText).with(found)
        }
    };
    let unreadable = match parse_output(&stdout) {
        ParsedOutput::Nothing if stdout.trim().is_empty() => None,
        ParsedOutput::Object(..) => reading.unreadable.clone(),
        ParsedOutput::Broken(why) => Some(format!("it is not JSON ({why})")),
        ParsedOutput::Nothing | ParsedOutput::Text(_) => Some("it is not one JSON object".to_owned()),
    };
    Reading { unreadable, recognised: recognised_in(&stdout), ..reading }
}

/// Reports a decision inside of text, which the agent shows as a message.
fn text_with_decision(text: &str) -> Option<Diagnostic> {
    let decision = recognised_in(text).decision?;
    let message =
        format!("its output contains the decision `{}`, which does NOT count: the output is text", decision.name());
    Some(
        Diagnostic::new(Code::DecisionInText, message)
            .hint("print the JSON object and nothing else to standard output"),
    )
}

/// A status other than zero: an object counts, and text denies unless the status is 1. Nothing for what is a failure and no more.
fn read_other_status(kind: EventKind, status: i32, end: &RunEnd, policy: Option<Effects>) -> Option<Reading> {
    let text = answer_text(end);
    let failed = |reading: Reading| Reading { end: EndKind::Exited, ..reading };
    match parsed(&text) {
        ParsedOutput::Object(object, found) => {
            let said = HookOutput::read(&object).0.decision;
            if status == 2 && said.is_none() {
                return Some(denied_by_status(kind, end));
            }
            let reading = read_object(kind, &object).with(found);
            let has_answer = reading.answer.is_some() && policy.is_none();
            let stays = reading.decision >= policy.as_ref().and_then(|policy| policy.decision);
            (has_answer || stays && reading.decision.is_some()).then(|| failed(with_other_word(reading, status)))
        }
        _ if status == 2 => Some(denied_by_status(kind, end)),
        ParsedOutput::Nothing => None,
        ParsedOutput::Text(_) | ParsedOutput::Broken(_) if status == 1 => {
            let mut effects = policy.unwrap_or_default();
            effects.system_message = Some(format!("Warning: {text}"));
            Some(failed(Reading::answered(effects, Provenance::Failure)))
        }
        ParsedOutput::Text(_) | ParsedOutput::Broken(_) => {
            let reading = denial(kind, Some(text), None, Provenance::ExitCode);
            Some(failed(reading))
        }
    }
}

/// Notes an object that says something else than the status 2.
fn with_other_word(reading: Reading, status: i32) -> Reading {
    let allows = status == 2 && matches!(reading.decision, Some(Decision::Allow | Decision::Ask));
    let message = "it exited with 2, which denies, and its output says otherwise; as in Gemini CLI the output counts";
    reading.with(allows.then(|| Diagnostic::new(Code::DecisionDiscarded, message)))
}

fn denied_by_status(kind: EventKind, end: &RunEnd) -> Reading {
    let status = StatusTwo::of(end);
    let said_nothing = "exits with 2 and prints no reason".to_owned();
    let mistake = (status.on_stderr.is_none() && status.on_stdout.is_none()).then_some(said_nothing);
    let reason = status.on_stdout.or(status.on_stderr);
    let mut reading = Reading { end: EndKind::Exited, ..denial(kind, reason, None, Provenance::ExitCode) };
    reading.found.extend(status.found);
    reading.found.extend(mistake.map(|what| stricter_than_agent(AGENT, &[what], "write the reason to standard error")));
    reading
}

/// What a denial does to an event.
fn denial(kind: EventKind, reason: Option<String>, message: Option<&str>, provenance: Provenance) -> Reading {
    let given = [reason.as_deref(), message].into_iter().flatten().find(|text| !text.trim().is_empty());
    let reason = given.unwrap_or(NO_REASON).to_owned();
    let effects = match kind {
        // The tool has run; its result is replaced by the reason.
        EventKind::AfterTool => Effects { tool_output: Some(Json::string(&reason)), ..Effects::default() },
        // The response is not used, and the turn ends.
        EventKind::AfterModel => Effects::none().and_stop(reason),
        _ => Effects::deny(reason),
    };
    Reading { decision: Some(Decision::Deny), ..Reading::answered(effects, provenance) }
}

/// A member of `hookSpecificOutput`, what it must be, and what it takes to have an effect.
const MEMBERS: &[(&str, JsonKind, Option<Abilities>)] = &[
    ("hookEventName", JsonKind::String, None),
    ("tool_input", JsonKind::Object, Some(Abilities::REWRITE_TOOL_INPUT)),
    ("additionalContext", JsonKind::String, Some(Abilities::ADD_CONTEXT)),
    ("llm_request", JsonKind::Object, Some(Abilities::REWRITE_REQUEST)),
    ("llm_response", JsonKind::Object, Some(Abilities::GIVE_RESPONSE)),
    ("toolConfig", JsonKind::Object, Some(Abilities::CHOOSE_TOOLS)),
    ("clearContext", JsonKind::Boolean, Some(Abilities::CLEAR_CONTEXT)),
];

fn read_object(kind: EventKind, object: &JsonObject) -> Reading {
    let (output, mut found) = HookOutput::read(object);
    let specific = output.hook_specific_output.clone().unwrap_or_default();
    let (members, problems) = known_members(kind, &specific);
    found.extend(problems);
    let member = |name: &str| members.get(name).cloned();
    let word = output.decision.map(HookDecision::decision);
    let denies = word == Some(Decision::Deny);
    let mut reading = match word {
        Some(Decision::Deny) if is_decided(kind) => {
            denial(kind, output.reason.clone(), output.system_message.as_deref(), Provenance::Explicit)
        }
        Some(Decision::Ask) if kind == EventKind::BeforeTool => {
            let reason = [&output.reason, &output.system_message].into_iter().flatten().next().cloned();
            Reading::answered(Effects::ask(reason.unwrap_or_else(|| NO_REASON.to_owned())), Provenance::Explicit)
        }
        Some(Decision::Allow) if can(kind).includes(Abilities::DENY) => {
            let allow = Effects { reason: output.reason.clone(), ..Effects::allow() };
            Reading::answered(allow, Provenance::Explicit)
        }
        Some(_) => {
            found.push(ignored("`decision`", kind));
            Reading::silent()
        }
        None => Reading::silent(),
    };
    let decision = reading.decision;
    let mut effects = reading.answer.take().map(|answer| answer.effects).unwrap_or_default();
    effects.system_message = output.system_message.clone().filter(|text| !text.is_empty());
    effects.suppress_output = output.suppress_output == Some(true);
    if output.should_stop_execution() {
        match can(kind).includes(Abilities::STOP) {
            true => effects.stop = Some(Stop { reason: output.get_effective_reason() }),
            false => found.push(ignored("`continue`", kind)),
        }
    }
    effects.tool_input = member("tool_input").filter(|_| !denies);
    // A result that is replaced takes its context along.
    effects.additional_context = member("additionalContext")
        .filter(|_| kind != EventKind::AfterTool || !denies)
        .and_then(|text| text.as_str())
        .filter(|text| !text.is_empty());
    effects.llm_request = member("llm_request").filter(|_| !denies);
    effects.llm_response = response_given(kind, denies, member("llm_response"), &mut found);
    effects.tool_config = member("toolConfig");
    effects.clear_context = member("clearContext").and_then(|flag| flag.as_bool()) == Some(true);
    let unreadable = found.iter().find(|found| found.code == Code::AnswerField).map(|found| found.message.clone());
    let says_nothing =
        object.iter().next().is_some() && effects == Effects::default() && output == HookOutput::default();
    let unreadable =
        unreadable.or_else(|| says_nothing.then(|| "it has no field of an answer to this event".to_owned()));
    Reading { decision, unreadable, ..Reading::answered(effects, Provenance::Explicit) }.with(found)
}

/// A response in the place of the model's counts only beside a denial of the call.
fn response_given(kind: EventKind, denies: bool, given: Option<Json>, found: &mut Vec<Diagnostic>) -> Option<Json> {
    let response = given?;
    if kind == EventKind::BeforeModel && !denies {
        let message = "`llm_response` has an effect only beside `\"decision\": \"deny\"`; the model is called";
        found.push(loud(message.to_owned()));
        return None;
    }
    answered_response(&response)
}

/// Whether the agent reads a decision on that event.
fn is_decided(kind: EventKind) -> bool {
    can(kind).includes(Abilities::DENY) || matches!(kind, EventKind::AfterTool | EventKind::AfterModel)
}

/// The members of `hookSpecificOutput` that have an effect on that event, and what is wrong with the others.
fn known_members(kind: EventKind, specific: &JsonObject) -> (JsonObject, Vec<Diagnostic>) {
    let (mut known, mut found) = (JsonObject::new(), Vec::new());
    for (key, value) in specific.iter() {
        match MEMBERS.iter().find(|(name, ..)| *name == key) {
            None if key == "tailToolCallRequest" => {
                found.push(loud("`tailToolCallRequest` is not supported here; no further tool is called".to_owned()));
            }
            None if key.starts_with("permissionDecision") || key == "updatedInput" => {
                let instead = if key == "updatedInput" { "tool_input" } else { "decision" };
                let message = format!("{AGENT} does not read `hookSpecificOutput.{key}`, so it has no effect");
                found.push(loud(message).hint(format!("write `{instead}`, as Gemini CLI wants it")));
            }
            None => {
                let message = format!("`hookSpecificOutput.{key}` is not known and has no effect");
                found.push(Diagnostic::new(Code::AnswerUnknownField, message));
            }
            Some((_, expected, _)) if value.kind() != *expected => {
                let (must, is) = (expected.described(), value.kind().described());
                let message = format!("`hookSpecificOutput.{key}` must be {must}, not {is}; it was left out");
                found.push(Diagnostic::new(Code::AnswerField, message));
            }
            Some((_, _, Some(ability))) if !can(kind).includes(*ability) => {
                found.push(ignored(&format!("`hookSpecificOutput.{key}`"), kind));
            }
            Some(_) => known.set(key, value.clone()),
        }
    }
    (known, found)
}

fn ignored(what: &str, kind: EventKind) -> Diagnostic {
    Diagnostic::new(Code::AnswerIgnored, format!("{what} has no effect on {kind} in {AGENT}"))
}

/// The finding about an answer without the effect that its author wanted.
fn loud(message: String) -> Diagnostic {
    Diagnostic { level: Level::Warning, ..Diagnostic::new(Code::AnswerIgnored, message) }
}
