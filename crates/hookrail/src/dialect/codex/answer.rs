//! Reads what a hook answers as Codex CLI 0.166.0 does: an answer with anything that it does not know or support is void as a
//! whole. A denial counts all the same where only a typing mistake makes it void.

use std::sync::Arc;

use super::Codex;
use crate::config::diagnostic::{Code, Diagnostic, Level};
use crate::dialect::command_hooks::{
    AgentAnswer, NO_REASON, ParsedOutput, Provenance, Reading, StatusTwo, parse_output, recognised_in, reply,
    stricter_than_agent,
};
use crate::dialect::{DialectId, Reply};
use crate::event::{Abilities, EventKind};
use crate::hook::{Hook, OnFailure};
use crate::json::{Json, JsonKind, JsonObject};
use crate::outcome::{Decision, Effects, EndKind, Stop};
use crate::run::{RawEnd, RunEnd};

const AGENT: &str = "Codex CLI";

pub(super) fn read(hook: &Arc<Hook>, on_failure: OnFailure, kind: EventKind, end: &RunEnd) -> Reply<AgentAnswer> {
    reply::<Codex>(hook, on_failure, can(kind), end, || match (end.how(), end.failure()) {
        (RawEnd::Exited(2), _) if status_two_denies(kind) => Some(denied_by_status(kind, end)),
        (RawEnd::Exited(0), None) => Some(read_output(kind, &end.stdout().lossy())),
        _ => None,
    })
}

fn can(kind: EventKind) -> Abilities {
    kind.spec().column(DialectId::Codex).map_or(Abilities::NONE, |column| column.can)
}

/// Whether the status 2 is a denial; in other events it is a failure.
pub(super) fn status_two_denies(kind: EventKind) -> bool {
    can(kind).includes(Abilities::DENY) || kind == EventKind::AfterTool
}

/// The status 2: its reason stands on standard error. Without one the agent goes on.
fn denied_by_status(kind: EventKind, end: &RunEnd) -> Reading {
    let status = StatusTwo::of(end);
    let mistake = status.on_stderr.is_none().then(|| "exits with 2 and says nothing on standard error".to_owned());
    let reason = status.on_stderr.or(status.on_stdout);
    let mut reading = Reading { end: EndKind::Exited, ..denial(kind, reason, Provenance::ExitCode) };
    reading.found.extend(status.found);
    reading.found.extend(mistake.map(|what| stricter_than_agent(AGENT, &[what], "write the reason to standard error")));
    reading
}

/// What a denial does to an event.
fn denial(kind: EventKind, reason: Option<String>, provenance: Provenance) -> Reading {
    let reason = reason.filter(|text| !text.trim().is_empty()).unwrap_or_else(|| NO_REASON.to_owned());
    let effects = match kind {
        // The tool has run; its result is replaced by the reason.
        EventKind::AfterTool => Effects { tool_output: Some(Json::string(&reason)), ..Effects::default() },
        _ => Effects::deny(reason),
    };
    Reading { decision: Some(Decision::Deny), ..Reading::answered(effects, provenance) }
}

fn read_output(kind: EventKind, stdout: &str) -> Reading {
    let unreadable = |why: String| Reading { recognised: recognised_in(stdout), ..Reading::unreadable(why) };
    match parse_output(stdout) {
        ParsedOutput::Nothing if stdout.trim().is_empty() => Reading::silent(),
        ParsedOutput::Object(object, found) => read_object(kind, &object, stdout).with(found),
        ParsedOutput::Text(text) if can(kind).includes(Abilities::ADD_CONTEXT) && takes_text(kind) => {
            Reading::answered(Effects::default().with_context(text), Provenance::PlainText)
        }
        ParsedOutput::Broken(why) => unreadable(format!("it is not JSON ({why})")),
        ParsedOutput::Nothing | ParsedOutput::Text(_) => unreadable("it is not one JSON object".to_owned()),
    }
}

/// Whether text in the place of an answer is context for the model.
fn takes_text(kind: EventKind) -> bool {
    matches!(kind, EventKind::Prompt | EventKind::SessionStart | EventKind::SubagentStart)
}

/// The members of an answer that an event has beside those of every event.
fn members_of(kind: EventKind) -> (&'static [&'static str], &'static [&'static str]) {
    const DECISION: &[&str] = &["decision", "reason"];
    match kind {
        EventKind::BeforeTool => (
            DECISION,
            &["hookEventName", "permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"],
        ),
        EventKind::PermissionRequest => (&[], &["hookEventName", "decision"]),
        EventKind::AfterTool => (DECISION, &["hookEventName", "additionalContext", "updatedMCPToolOutput"]),
        EventKind::Prompt => (DECISION, &["hookEventName", "additionalContext"]),
        EventKind::AgentEnd => (DECISION, &[]),
        EventKind::SessionStart | EventKind::SubagentStart => (&[], &["hookEventName", "additionalContext"]),
        _ => (&[], &[]),
    }
}

/// The members of every answer.
const UNIVERSAL: [&str; 4] = ["continue", "stopReason", "suppressOutput", "systemMessage"];

/// The member with what only one event has.
const SPECIFIC: &str = "hookSpecificOutput";

/// The type of a member that an event has; none if any value will do.
fn type_of(kind: EventKind, member: &str) -> Option<JsonKind> {
    match (member, kind) {
        ("continue" | "suppressOutput", _) => Some(JsonKind::Boolean),
        (SPECIFIC, _) | ("decision", EventKind::PermissionRequest) => Some(JsonKind::Object),
        ("updatedInput" | "updatedMCPToolOutput", _) => None,
        _ => Some(JsonKind::String),
    }
}

/// An answer while it is read.
struct ObjectReader<'o> {
    kind: EventKind,
    object: &'o JsonObject,
    specific: JsonObject,
    /// What an author mistyped: a denial counts all the same.
    mistakes: Vec<String>,
    /// What the agent does not support, so that the answer is void.
    unsupported: Vec<String>,
}

/// A decision of an answer.
enum Said {
    Deny(Option<String>),
    Allow,
}

fn read_object(kind: EventKind, object: &JsonObject, stdout: &str) -> Reading {
    let specific = object.get(SPECIFIC).and_then(Json::as_object).unwrap_or_default();
    let mut reader = ObjectReader { kind, object, specific, mistakes: Vec::new(), unsupported: Vec::new() };
    reader.check_types();
    reader.check_names();
    let said = reader.decision();
    reader.check_support(said.as_ref());
    let ObjectReader { mistakes, unsupported, .. } = &reader;
    let denies = matches!(said, Some(Said::Deny(_)));
    if unsupported.is_empty() && (mistakes.is_empty() || denies) {
        let found = (!mistakes.is_empty()).then(|| stricter_than_agent(AGENT, mistakes, HINT));
        return reader.effects(said).with(found);
    }
    let why = mistakes.iter().chain(unsupported).cloned().collect::<Vec<_>>().join("; ");
    let message = format!("{AGENT} ignores the whole answer: {why}");
    let mut finding = Diagnostic::new(Code::AnswerIgnored, message).hint(HINT);
    finding.level = Level::Warning;
    Reading {
        end: EndKind::BadOutput,
        found: vec![finding],
        unreadable: Some(why),
        recognised: recognised_in(stdout),
        ..Reading::silent()
    }
}

/// What to do about an answer that Codex CLI voids.
const HINT: &str = "answer with the members that Codex CLI knows for this event, and no others";

impl ObjectReader<'_> {
    fn event_name(&self) -> &'static str {
        self.kind.spec().column(DialectId::Codex).map_or("", |column| column.name)
    }

    fn text(&self, name: &str) -> Option<String> {
        self.object.get(name).and_then(Json::as_str)
    }

    fn specific_text(&self, name: &str) -> Option<String> {
        self.specific.get(name).and_then(Json::as_str)
    }

    /// Notes values of a type that the agent does not read. It takes `null` for a member that is not there.
    fn check_types(&mut self) {
        let (top, inner) = members_of(self.kind);
        let is_known = |key: &&str| UNIVERSAL.contains(key) || *key == SPECIFIC || top.contains(key);
        let known = self.object.iter().filter(|(key, _)| is_known(key)).map(|(key, value)| ("", key, value));
        let of_event = self.specific.iter().filter(|(key, _)| inner.contains(key));
        let of_event = of_event.map(|(key, value)| ("hookSpecificOutput.", key, value));
        for (place, key, value) in known.chain(of_event) {
            let Some(wanted) = type_of(self.kind, key) else { continue };
            if ![wanted, JsonKind::Null].contains(&value.kind()) {
                let is = value.kind().described();
                self.mistakes.push(format!("`{place}{key}` must be {}, not {is}", wanted.described()));
            }
        }
    }

    /// Notes members that the event does not have, and an answer that is not for the event.
    fn check_names(&mut self) {
        let (top, inner) = members_of(self.kind);
        for (key, _) in self.object.iter() {
            let is_known = UNIVERSAL.contains(&key) || top.contains(&key) || key == SPECIFIC && !inner.is_empty();
            if !is_known {
                self.mistakes.push(format!("`{}` is no member of an answer to {}", short(key), self.event_name()));
            }
        }
        if self.object.get(SPECIFIC).is_none() || inner.is_empty() {
            return;
        }
        for (key, _) in self.specific.iter().filter(|(key, _)| !inner.contains(key)) {
            let event = self.event_name();
            self.mistakes.push(format!("`hookSpecificOutput.{}` is no member of an answer to {event}", short(key)));
        }
        match self.specific_text("hookEventName") {
            Some(name) if name == self.event_name() => {}
            Some(name) => {
                self.mistakes.push(format!("`hookEventName` is `{}`, not `{}`", short(&name), self.event_name()));
            }
            None => self.mistakes.push(format!("`hookEventName` is missing; it is `{}`", self.event_name())),
        }
    }

    /// The decision, which may stand in two places. A denial in one of them denies.
    fn decision(&mut self) -> Option<Said> {
        let (top, _) = members_of(self.kind);
        let message = self.text("systemMessage");
        let with_reason = |reason: Option<String>, reader: &mut Self, name: &str| {
            let reason = reason.filter(|text| !text.trim().is_empty());
            if reason.is_none() {
                reader.mistakes.push(format!("`{name}` is missing or empty"));
            }
            Some(Said::Deny(reason.or_else(|| message.clone())))
        };
        let specific = match self.kind {
            EventKind::BeforeTool => match self.specific_text("permissionDecision").as_deref() {
                Some("deny") => {
                    let reason = self.specific_text("permissionDecisionReason");
                    with_reason(reason, self, "permissionDecisionReason")
                }
                Some("allow") => Some(Said::Allow),
                Some(other) => {
                    self.unsupported.push(format!("`permissionDecision` `{}` is not supported", short(other)));
                    None
                }
                None => None,
            },
            EventKind::PermissionRequest => self.answered_question(),
            _ => None,
        };
        if let Some(Said::Deny(_)) = specific {
            return specific;
        }
        let word = self.text("decision").filter(|_| top.contains(&"decision"));
        match word.as_deref() {
            Some("block") => with_reason(self.text("reason"), self, "reason"),
            Some("deny") => {
                self.mistakes.push("`decision` is `deny`, which is `block` here".to_owned());
                with_reason(self.text("reason"), self, "reason")
            }
            Some(other) => {
                self.unsupported.push(format!("`decision` `{}` is not supported", short(other)));
                specific
            }
            None => specific,
        }
    }

    /// The answer to the agent's own question to its user.
    fn answered_question(&mut self) -> Option<Said> {
        let decision = self.specific.get("decision").and_then(Json::as_object)?;
        let text = |name: &str| decision.get(name).and_then(Json::as_str);
        for name in ["updatedInput", "updatedPermissions", "interrupt"] {
            let is_given = decision.get(name).is_some_and(|value| !matches!(value.text(), "null" | "false"));
            if is_given {
                self.unsupported.push(format!("`decision.{name}` is not supported"));
            }
        }
        match text("behavior").as_deref() {
            Some("deny") => Some(Said::Deny(text("message").filter(|text| !text.trim().is_empty()))),
            Some("allow") => Some(Said::Allow),
            other => {
                let word = other.map_or_else(|| "missing".to_owned(), |word| format!("`{}`", short(word)));
                self.unsupported.push(format!("`decision.behavior` is {word}, not `allow` or `deny`"));
                None
            }
        }
    }

    /// Notes what the agent knows and does not support on this event.
    fn check_support(&mut self, said: Option<&Said>) {
        let is = |name: &str, flag: bool| self.object.get(name).and_then(Json::as_bool) == Some(flag);
        let of_call = matches!(self.kind, EventKind::BeforeTool | EventKind::PermissionRequest);
        let mut found = Vec::new();
        if of_call && is("continue", false) {
            found.push("`continue: false` is not supported");
        }
        if of_call && self.object.get("stopReason").is_some_and(|value| value.text() != "null") {
            found.push("`stopReason` is not supported");
        }
        if (of_call || self.kind == EventKind::AfterTool) && is("suppressOutput", true) {
            found.push("`suppressOutput` is not supported");
        }
        let rewrites = self.specific.get("updatedInput").is_some_and(|value| value.text() != "null");
        match (self.kind, said, rewrites) {
            (EventKind::BeforeTool, Some(Said::Allow), false) => {
                found.push("`permissionDecision` `allow` counts only beside `updatedInput`");
            }
            (EventKind::BeforeTool, Some(Said::Deny(_)) | None, true) => {
                found.push("`updatedInput` counts only beside `permissionDecision` `allow`");
            }
            _ => {}
        }
        if self.kind == EventKind::AfterTool && self.specific.get("updatedMCPToolOutput").is_some() {
            found.push("`updatedMCPToolOutput` is not supported");
        }
        self.unsupported.extend(found.into_iter().map(str::to_owned));
    }

    /// What the answer does.
    fn effects(&self, said: Option<Said>) -> Reading {
        let stops = self.object.get("continue").and_then(Json::as_bool) == Some(false);
        let stop_reason = self.text("stopReason").filter(|text| !text.is_empty());
        let mut reading = match said {
            // To end the work is stronger than to make the agent go on.
            Some(Said::Deny(_)) if self.kind == EventKind::AgentEnd && stops => Reading::silent(),
            Some(Said::Deny(reason)) => denial(self.kind, reason, Provenance::Explicit),
            // Beside a rewrite the word decides nothing.
            Some(Said::Allow) if self.kind == EventKind::PermissionRequest => {
                Reading::answered(Effects::allow(), Provenance::Explicit)
            }
            Some(Said::Allow) | None => Reading::silent(),
        };
        let mut effects = reading.answer.take().map(|answer| answer.effects).unwrap_or_default();
        effects.system_message = self.text("systemMessage").filter(|text| !text.is_empty());
        effects.suppress_output = self.object.get("suppressOutput").and_then(Json::as_bool) == Some(true);
        if can(self.kind).includes(Abilities::ADD_CONTEXT) {
            effects.additional_context = self.specific_text("additionalContext").filter(|text| !text.is_empty());
        }
        if self.kind == EventKind::BeforeTool && effects.decision.is_none() {
            effects.tool_input = self.specific.get("updatedInput").filter(|value| value.text() != "null").cloned();
        }
        if stops {
            let reason = stop_reason.unwrap_or_else(|| "a hook asked the agent to stop".to_owned());
            match self.kind {
                // The result becomes the reason, and the turn goes on.
                EventKind::AfterTool => effects.tool_output = Some(Json::string(&reason)),
                _ if can(self.kind).includes(Abilities::STOP) => effects.stop = Some(Stop { reason }),
                _ => {}
            }
        }
        let decision = reading.decision;
        Reading { decision, ..Reading::answered(effects, Provenance::Explicit) }
    }
}

/// What a hook printed, short enough to be quoted.
fn short(text: &str) -> String {
    const LONGEST: usize = 80;
    let cut: String = text.chars().take(LONGEST).collect();
    if cut.len() < text.len() { format!("{cut}…") } else { cut }
}
