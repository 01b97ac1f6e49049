//! Reads a payload in the shape of any dialect.
//!
//! `--payload` takes the neutral fields, and also what a hook receives: a hook author has a recorded input at hand and wants
//! to fire exactly that. The shape is recognised by the members that only one dialect has. What Claude Code and Codex CLI send is
//! read as their bridge reads it; Gemini CLI sends the neutral fields.

use std::path::Path;

use hookrail::dialect::find_event;
use hookrail::payload::ToolResponse;
use hookrail::sources::nearest;
use hookrail::{Code, Diagnostic, DialectId, Event, EventKind, Json, JsonObject};
use hookrail_bridge::{Agent, Incoming, NoisyEvents, Reading, request};

use crate::failure::{Failure, Result};

/// The members that every hook input may have beside the event's own fields.
const COMMON: [&str; 14] = [
    "session_id",
    "transcript_path",
    "cwd",
    "timestamp",
    "hook_event_name",
    "previous_outputs",
    "model_id",
    "launch",
    "conversation_turn",
    "agent_id",
    "agent_type",
    "permission_mode",
    "prompt_id",
    "tool_output",
];

/// Whose shape a payload has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayloadShape {
    /// The neutral fields, which are also those of a settings file's hook.
    Neutral,
    /// The line that a plugin's hook receives.
    Plugin,
    /// The event that a module's handler receives.
    Module,
    /// What this agent sends to its own hooks.
    Agent(Agent),
}

impl PayloadShape {
    /// Returns the shape of a payload, which the members tell that only one dialect has.
    pub fn of_payload(members: &JsonObject) -> Self {
        let text = |name: &str| members.get(name).and_then(Json::as_str);
        let is_event = |name: &str| text(name).is_some_and(|event| find_event(&event).is_some());
        if is_event("event") && members.get("session").is_some_and(|session| session.as_object().is_some()) {
            Self::Plugin
        } else if is_event("type") && members.get("hook_event_name").is_none() {
            Self::Module
        } else {
            text("hook_event_name").and_then(|event| agent_of(&event, members)).map_or(Self::Neutral, Self::Agent)
        }
    }

    /// Returns the agent that sends this shape.
    pub fn agent(self) -> Option<Agent> {
        match self {
            Self::Agent(agent) => Some(agent),
            Self::Neutral | Self::Plugin | Self::Module => None,
        }
    }

    /// Returns the neutral fields of a payload in this shape.
    pub fn neutral_fields(self, members: JsonObject) -> JsonObject {
        match self {
            Self::Neutral | Self::Agent(_) => members,
            Self::Plugin => plugin_fields(&members),
            Self::Module => module_fields(&members),
        }
    }

    /// Returns the dialect whose hooks receive this shape; none for the neutral one.
    fn dialect(self) -> Option<DialectId> {
        match self {
            Self::Neutral | Self::Agent(_) => None,
            Self::Plugin => Some(DialectId::Xcode),
            Self::Module => Some(DialectId::Xcsh),
        }
    }
}

/// The agent that sends such a payload for an event.
fn agent_of(event: &str, members: &JsonObject) -> Option<Agent> {
    let has = |name: &str| members.get(name).is_some();
    let sends = |agent: &Agent| agent.find_event(event).is_some();
    let is_claudes = ["permission_mode", "prompt_id", "tool_use_id", "transcript_path"].into_iter().any(has);
    let candidates = [(has("turn_id"), DialectId::Codex), (is_claudes && !has("timestamp"), DialectId::Claude)];
    let likely = candidates.into_iter().filter(|(is_likely, _)| *is_likely);
    likely.filter_map(|(_, dialect)| Agent::from_name(dialect.name())).find(sends)
}

/// Reads what an agent sends as its bridge does.
///
/// # Errors
///
/// It is of another event, or the bridge would refuse it.
pub fn event_of_agent(agent: Agent, kind: EventKind, mut members: JsonObject, project: &Path) -> Result<Event> {
    let named = members.get("hook_event_name").and_then(Json::as_str).unwrap_or_default();
    if agent.find_event(&named).is_some_and(|event| event.kind != kind) {
        let message = format!("the payload is one of `{named}`, and {kind} is fired");
        return Err(Failure::new(message).hint(format!("fire `{named}`, or remove `hook_event_name`")));
    }
    if members.get("cwd").is_none() {
        members.set("cwd", Json::string(&project.to_string_lossy()));
    }
    let payload = members.to_json();
    let incoming = Incoming {
        agent,
        event: None,
        payload: payload.text().as_bytes(),
        variable: &|_| None,
        noisy: NoisyEvents::Fired,
    };
    let title = agent.title();
    let unusable = |why: String| Failure::new(format!("the payload cannot be read as one of {title}: {why}"));
    match request::read(&incoming) {
        Ok(Reading::Fire(request)) => {
            request.events.into_iter().next().ok_or_else(|| unusable("nothing is fired for it".to_owned()))
        }
        Ok(Reading::Pass(pass)) => Err(unusable(format!("nothing is fired for it: {pass:?}"))),
        Err(refused) => Err(unusable(refused.error.to_string())),
    }
}

/// The fields of the line that a plugin's hook receives.
fn plugin_fields(members: &JsonObject) -> JsonObject {
    let mut fields = JsonObject::new();
    for (name, value) in members.iter() {
        match (name, value.as_object()) {
            ("event" | "plugin", _) => {}
            ("session", Some(session)) => {
                for (own, neutral) in [("cwd", "cwd"), ("modelId", "model_id"), ("id", "session_id")] {
                    if let Some(value) = session.get(own) {
                        fields.set(neutral, value.clone());
                    }
                }
            }
            ("tool", Some(tool)) => {
                for (own, neutral) in [("name", "tool_name"), ("args", "tool_input"), ("callId", "tool_call_id")] {
                    if let Some(value) = tool.get(own) {
                        fields.set(neutral, value.clone());
                    }
                }
                if let Some(output) = tool.get("output") {
                    fields.set("tool_response", response(output, None, tool.get("isError")));
                }
            }
            _ => fields.set(snake_case(name), value.clone()),
        }
    }
    fields
}

/// The fields of the event that a module's handler receives.
fn module_fields(members: &JsonObject) -> JsonObject {
    let mut fields = JsonObject::new();
    for (name, value) in members.iter() {
        match name {
            // The signal is the engine's own.
            "type" | "details" | "isError" | "signal" => {}
            "input" => fields.set("tool_input", value.clone()),
            "content" => {
                let text = content_text(value);
                fields.set("tool_response", response(&text, members.get("details"), members.get("isError")));
            }
            _ => fields.set(snake_case(name), value.clone()),
        }
    }
    fields
}

fn response(content: &Json, display: Option<&Json>, is_error: Option<&Json>) -> Json {
    let response = ToolResponse::new(content.clone(), display.unwrap_or(content).clone());
    let failed = is_error.and_then(Json::as_bool).unwrap_or(false);
    let text = content.as_str().unwrap_or_else(|| content.text().to_owned());
    if failed { response.with_error(&text).to_json() } else { response.to_json() }
}

/// The text of a list of content parts; anything else stays as it is.
fn content_text(content: &Json) -> Json {
    let Some(parts) = content.as_array() else { return content.clone() };
    let text = |part: &Json| part.as_object().and_then(|part| part.get("text")?.as_str());
    Json::string(&parts.iter().filter_map(text).collect::<Vec<_>>().join("\n"))
}

fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}

/// Reports fields that no hook of the event receives, and fields that hooks of the event rely on and do not get.
pub fn report_fields(kind: EventKind, event_name: &str, shape: PayloadShape, fields: &JsonObject) -> Vec<Diagnostic> {
    let spec = kind.spec();
    let columns = || DialectId::CONFIGURED.into_iter().filter_map(|dialect| spec.column(dialect));
    let of_dialects = || columns().flat_map(|column| column.fields).map(|field| field.name);
    let known: Vec<&str> = spec.fields.iter().map(|field| field.name).chain(of_dialects()).chain(COMMON).collect();
    let mut findings = Vec::new();
    for (name, _) in fields.iter().filter(|(name, _)| !known.contains(name)) {
        let finding = Diagnostic::new(Code::UnknownKey, format!("`{name}` is not a field of {}", spec.name));
        let meant = nearest(&snake_case(name), known.iter().copied());
        findings.push(match meant {
            Some(meant) => finding.hint(format!("did you mean `{meant}`?")),
            None => finding.hint("remove it; `hookrail reference events` lists the fields"),
        });
    }
    let is_wanted = |field: &str| {
        let has = |column: &hookrail::event::DialectEvent| column.fields.iter().any(|known| known.name == field);
        // What a hook received is whole if its own dialect's fields are there.
        if let Some(column) = shape.dialect().and_then(|dialect| spec.column(dialect)) {
            has(column)
        } else if spec.name == event_name {
            columns().all(has)
        } else {
            columns().any(|column| column.name == event_name && has(column))
        }
    };
    // A matcher that is compared with nothing never matches, so the event would miss its hooks.
    let is_subject = |name: &str| spec.subject == Some(name);
    let is_needed = |field: &hookrail::event::FieldSpec| field.needed || is_subject(field.name);
    for field in spec.fields.iter().filter(|field| is_needed(field) && is_wanted(field.name)) {
        let non_empty = field.non_empty || is_subject(field.name);
        let message = match fields.get(field.name) {
            None => format!("`{}` is missing; hooks of {} rely on it", field.name, spec.name),
            Some(value) if non_empty && value.as_str().is_some_and(|text| text.is_empty()) => {
                format!("`{}` is empty; hooks of {} rely on it", field.name, spec.name)
            }
            Some(_) => continue,
        };
        findings.push(Diagnostic::new(Code::FieldMissing, message).hint(how_to_give(field.name)));
    }
    findings
}

/// Reports that the field is missing that matchers of the event are compared with.
pub fn missing_subject(kind: EventKind, fields: &JsonObject) -> Option<Diagnostic> {
    let spec = kind.spec();
    let subject = spec.subject?;
    let is_given = fields.get(subject).and_then(Json::as_str).is_some_and(|text| !text.is_empty());
    let message = format!("`{subject}` is missing; matchers of {} are compared with it", spec.name);
    (!is_given).then(|| Diagnostic::new(Code::FieldMissing, message).hint(how_to_give(subject)))
}

/// Reports that the field is missing that conditions of the event look at.
pub fn missing_input(kind: EventKind, fields: &JsonObject) -> Option<Diagnostic> {
    const INPUT: &str = "tool_input";
    let spec = kind.spec();
    let is_missing = spec.fields.iter().any(|field| field.name == INPUT) && fields.get(INPUT).is_none();
    let message = format!("`{INPUT}` is missing; conditions of {} look at it", spec.name);
    is_missing.then(|| Diagnostic::new(Code::FieldMissing, message).hint(how_to_give(INPUT)))
}

/// Says how a field is given on the command line, in the shortest way.
fn how_to_give(field: &str) -> String {
    let how = match field {
        "tool_name" => "--tool write_file".to_owned(),
        "tool_input" => "--tool-input '{…}'".to_owned(),
        "tool_response" => "--tool-response '{…}'".to_owned(),
        "prompt" => "--prompt '…'".to_owned(),
        _ => format!("--payload '{{\"{field}\": …}}'"),
    };
    format!("a host always gives it; add `{how}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> String {
        let members = Json::parse(text).unwrap().as_object().unwrap();
        PayloadShape::of_payload(&members).neutral_fields(members).to_json().text().to_owned()
    }

    #[test]
    fn the_input_of_every_dialect_becomes_the_neutral_fields() {
        let neutral = r#"{"tool_name":"bash","tool_input":{"a":1}}"#;
        assert_eq!(fields(neutral), neutral);
        let line = r#"{"event":"PreToolUse","session":{"cwd":"/p","modelId":"m"},"plugin":{"id":"x"},"tool":{"name":"bash","args":{"a":1},"callId":"c"}}"#;
        let expected = r#"{"cwd":"/p","model_id":"m","tool_name":"bash","tool_input":{"a":1},"tool_call_id":"c"}"#;
        assert_eq!(fields(line), expected);
        let event = r#"{"type":"tool_call","toolName":"bash","toolCallId":"c","input":{"a":1}}"#;
        assert_eq!(fields(event), r#"{"tool_name":"bash","tool_call_id":"c","tool_input":{"a":1}}"#);
        let result =
            r#"{"type":"tool_result","toolName":"bash","content":[{"type":"text","text":"out"}],"isError":true}"#;
        let expected = r#"{"tool_name":"bash","tool_response":{"llmContent":"out","returnDisplay":"out","error":{"message":"out"}}}"#;
        assert_eq!(fields(result), expected);
    }

    #[test]
    fn what_an_agent_sends_is_recognised() {
        let shape = |text: &str| PayloadShape::of_payload(&Json::parse(text).unwrap().as_object().unwrap());
        for (payload, expected) in [
            (r#"{"hook_event_name":"PreToolUse","permission_mode":"default"}"#, PayloadShape::Agent(Agent::claude())),
            (r#"{"hook_event_name":"SessionStart","transcript_path":"/t"}"#, PayloadShape::Agent(Agent::claude())),
            (
                r#"{"hook_event_name":"PreToolUse","turn_id":"t","permission_mode":"x"}"#,
                PayloadShape::Agent(Agent::codex()),
            ),
            (r#"{"hook_event_name":"BeforeTool","timestamp":"t","transcript_path":"/t"}"#, PayloadShape::Neutral),
            (r#"{"hook_event_name":"SessionStart","timestamp":"t","transcript_path":"/t"}"#, PayloadShape::Neutral),
            (r#"{"tool_name":"x","permission_mode":"default"}"#, PayloadShape::Neutral),
        ] {
            assert_eq!(shape(payload), expected, "{payload}");
        }
    }

    #[test]
    fn unknown_missing_and_empty_fields_are_reported() {
        let report = |text: &str| -> Vec<String> {
            let members = Json::parse(text).unwrap().as_object().unwrap();
            let findings = report_fields(EventKind::BeforeTool, "BeforeTool", PayloadShape::Neutral, &members);
            findings
                .into_iter()
                .map(|finding| format!("{} {}", finding.message, finding.hint.unwrap_or_default()))
                .collect()
        };
        assert_eq!(report(r#"{"tool_name":"x","tool_input":{},"cwd":"/"}"#), [""; 0]);
        let wrong = report(r#"{"toolName":"x","tool_input":{}}"#);
        assert!(
            wrong[0].contains("did you mean `tool_name`?") && wrong[1].contains("`tool_name` is missing"),
            "{wrong:?}"
        );
        assert!(report(r#"{"tool_name":"","tool_input":{}}"#)[0].contains("is empty"));
        for (text, expected) in [("{}", "missing"), (r#"{"source":""}"#, "empty")] {
            let members = Json::parse(text).unwrap().as_object().unwrap();
            let findings = report_fields(EventKind::SessionStart, "SessionStart", PayloadShape::Neutral, &members);
            assert!(findings[0].message.contains(&format!("`source` is {expected}")), "{findings:?}");
            let whole = |shape| report_fields(EventKind::SessionStart, "SessionStart", shape, &members).is_empty();
            assert!(whole(PayloadShape::Plugin) && whole(PayloadShape::Module), "these have no source");
        }
    }
}
