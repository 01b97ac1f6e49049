//! What a hook receives on standard input, key by key as Codex CLI 0.166.0 writes it.

use crate::dialect::DialectId;
use crate::event::{Event, EventKind};
use crate::json::{Json, ObjectWriter};
use crate::payload::{ToolResponse, list, object};
use crate::run::RunInput;

pub(super) fn input(event: &Event) -> RunInput {
    let kind = event.kind();
    let Some(column) = kind.spec().column(DialectId::Codex) else { return ObjectWriter::new().finish().into() };
    let mut payload = ObjectWriter::new();
    payload.text("session_id", event.session_id());
    if has_turn(kind) {
        payload.text("turn_id", &event.text("turn_id").unwrap_or_default());
    }
    for name in ["agent_id", "agent_type"] {
        if let Some(value) = agent_field(event, name) {
            payload.text(name, &value);
        }
    }
    payload.value("transcript_path", text_or_null(event.transcript_path()));
    payload.text("cwd", &event.cwd().to_string_lossy());
    payload.text("hook_event_name", column.name);
    if kind != EventKind::SessionEnd {
        payload.text("model", &model(event));
    }
    if has_permission_mode(kind) {
        payload.text("permission_mode", event.text("permission_mode").as_deref().unwrap_or("default"));
    }
    for field in column.fields {
        let given = event.field_or_empty(field);
        match (field.name, given) {
            ("agent_id" | "agent_type" | "agent", _) | (_, None) => {}
            ("tool_call_id", Some(id)) => payload.value("tool_use_id", id),
            ("tool_name", Some(_)) => payload.text("tool_name", &tool_name(event)),
            ("tool_input", Some(input)) => payload.value("tool_input", arguments(event, input)),
            ("tool_response", Some(response)) => payload.value("tool_response", response_of(event, &response)),
            ("prompt_response", Some(text)) => {
                let text = text.as_str().unwrap_or_default();
                payload.value("last_assistant_message", text_or_null(&text));
            }
            ("source" | "reason" | "trigger", Some(word)) => payload.text(field.name, own_word(&word)),
            (name, Some(value)) => payload.value(name, value),
        }
    }
    if kind == EventKind::AfterModel {
        add_end_of_request(&mut payload, event);
    }
    payload.finish().into()
}

/// The text that a matcher is compared with, as the hook receives it.
pub(super) fn matched_text(event: &Event, field: &str) -> String {
    match (field, event.field(field)) {
        ("tool_name", _) => tool_name(event),
        ("agent", _) => agent_field(event, "agent_type").unwrap_or_default(),
        ("source" | "reason" | "trigger", Some(word)) => own_word(word).to_owned(),
        (_, value) => value.and_then(Json::as_str).unwrap_or_default(),
    }
}

/// The shell, as hooks know it.
const SHELL: &str = "Bash";

/// The name of the tool. A tool of an MCP server has the server's name in it.
fn tool_name(event: &Event) -> String {
    let name = event.text("tool_name").unwrap_or_default();
    let context = event.field("mcp_context").and_then(Json::as_object).unwrap_or_default();
    let member = |name: &str| context.get(name).and_then(Json::as_str).filter(|text| !text.is_empty());
    match (member("server_name"), member("tool_name")) {
        (Some(server), Some(tool)) if !name.starts_with(MCP) => format!("{MCP}{server}__{tool}"),
        _ => name,
    }
}

/// The beginning of the names of tools that a server brings.
const MCP: &str = "mcp__";

/// The words of this dialect for what started a session or a compaction, and for why a session ended.
fn own_word(word: &Json) -> &'static str {
    const KNOWN: [(&str, &str); 12] = [
        ("startup", "startup"),
        ("resume", "resume"),
        ("clear", "clear"),
        ("compress", "compact"),
        ("compact", "compact"),
        ("exit", "other"),
        ("logout", "other"),
        ("auto", "auto"),
        ("proactive", "auto"),
        ("reactive", "auto"),
        ("manual", "manual"),
        ("prompt_input_exit", "other"),
    ];
    let word = word.as_str().unwrap_or_default();
    KNOWN.iter().find(|(neutral, _)| *neutral == word).map_or("other", |(_, own)| own)
}

fn has_turn(kind: EventKind) -> bool {
    !matches!(kind, EventKind::SessionStart | EventKind::SessionEnd)
}

fn has_permission_mode(kind: EventKind) -> bool {
    !matches!(
        kind,
        EventKind::SessionEnd
            | EventKind::BeforeCompact
            | EventKind::AfterCompact
            | EventKind::BeforeModel
            | EventKind::AfterModel
    )
}

/// The sub-agent that an event is about or that uses a tool.
fn agent_field(event: &Event, name: &str) -> Option<String> {
    let own = event.text(name);
    own.or_else(|| {
        let agent = event.field("agent")?.as_object()?;
        let names: &[&str] =
            if name == "agent_id" { &["id", "agent_id", "description"] } else { &["type", "agent_type", "name"] };
        Some(names.iter().find_map(|name| agent.get(name)?.as_str()).unwrap_or_default())
    })
}

fn model(event: &Event) -> String {
    let of_request = || event.field("llm_request")?.as_object()?.get("model")?.as_str();
    event.text("model").or_else(|| event.text("model_id")).or_else(of_request).unwrap_or_default()
}

fn text_or_null(text: &str) -> Json {
    if text.is_empty() { Json::null() } else { Json::string(text) }
}

/// The result of a tool: a text, and for the tool of a server a list of its parts.
fn response_of(event: &Event, response: &Json) -> Json {
    let replaced = event.field("tool_output").cloned();
    let content = replaced.or_else(|| ToolResponse::read(response).content);
    let is_of_server = tool_name(event).starts_with(MCP);
    let Some(content) = content else { return response.clone() };
    let text = |text: &str| object([("type", Json::string("text")), ("text", Json::string(text))]);
    let part = |part: &Json| match (part.as_str(), part.as_object()) {
        (Some(own), _) => text(&own),
        (None, Some(members)) if members.get("type").is_none() => {
            members.get("text").and_then(Json::as_str).map_or_else(|| part.clone(), |own| text(&own))
        }
        (None, _) => part.clone(),
    };
    match (is_of_server, content.as_str(), content.as_array()) {
        (true, Some(own), _) => object([("content", list([text(&own)]))]),
        (true, None, Some(parts)) => object([("content", list(parts.iter().map(part)))]),
        (false, Some(_), _) => content,
        (false, None, Some(parts)) => {
            let texts =
                parts.iter().filter_map(|part| part.as_str().or_else(|| part.as_object()?.get("text")?.as_str()));
            Json::string(&texts.collect::<Vec<_>>().concat())
        }
        (_, None, None) => content,
    }
}

/// A rewrite as it is laid over what the event has. Of a shell call a hook knows the command alone; the other arguments stay.
pub(super) fn lay_over(event: &Event, field: &'static str, value: &Json) -> Option<Json> {
    let is_shell_call = field == "tool_input" && event.text("tool_name").as_deref() == Some(SHELL);
    match (event.field(field).and_then(Json::as_object), value.as_object()) {
        (Some(mut current), Some(change)) if is_shell_call => {
            current.merge(&change);
            Some(current.to_json())
        }
        _ => Some(value.clone()),
    }
}

/// The arguments of a call. Of a shell call hooks are told the command alone.
fn arguments(event: &Event, input: Json) -> Json {
    let command = || input.as_object()?.get("command").cloned();
    match event.text("tool_name").as_deref() {
        Some(SHELL) => command().map_or(input.clone(), |command| object([("command", command)])),
        _ => input,
    }
}

/// How a request to the model ended, which hooks are told and nothing else of it.
fn add_end_of_request(payload: &mut ObjectWriter, event: &Event) {
    payload.text("status", event.text("status").as_deref().unwrap_or("completed"));
    payload.value("error", event.field("error").cloned().unwrap_or_else(Json::null));
    let usage = event.field("token_usage").cloned();
    payload.value("token_usage", usage.unwrap_or_else(|| token_usage(event)));
}

/// The tokens of a response in the words of this dialect; those that the host does not count are zero.
fn token_usage(event: &Event) -> Json {
    let response = event.field("llm_response").and_then(Json::as_object).unwrap_or_default();
    let given = response.get("usageMetadata").and_then(Json::as_object).unwrap_or_default();
    let count = |name: &str| given.get(name).and_then(Json::decode::<u64>).unwrap_or_default();
    let (input, output) = (count("promptTokenCount"), count("candidatesTokenCount"));
    let (cached, thought) = (count("cachedContentTokenCount"), count("thoughtsTokenCount"));
    let total = count("totalTokenCount").max(input.saturating_add(output));
    let members = [
        ("input_tokens", input),
        ("cached_input_tokens", cached),
        ("cache_write_input_tokens", 0),
        ("output_tokens", output),
        ("reasoning_output_tokens", thought),
        ("total_tokens", total),
    ];
    object(members.map(|(name, count)| (name, Json::from(serde_json::Value::from(count)))))
}
