//! What a hook receives on standard input, key by key as Gemini CLI 0.61.0 writes it.

use crate::dialect::DialectId;
use crate::event::{Event, EventKind};
use crate::json::{Json, JsonObject, ObjectWriter};
use crate::payload::{ModelRequest, ToolResponse, answered_response, object, request_with_contents, shown_response};
use crate::run::RunInput;

pub(super) fn input(event: &Event) -> RunInput {
    let mut payload = ObjectWriter::new();
    let Some(column) = event.kind().spec().column(DialectId::Gemini) else { return payload.finish().into() };
    payload.text("session_id", event.session_id());
    payload.text("transcript_path", event.transcript_path());
    payload.text("cwd", &event.cwd().to_string_lossy());
    payload.text("hook_event_name", column.name);
    payload.text("timestamp", event.timestamp());
    for field in column.fields {
        let Some(value) = event.field_or_empty(field) else { continue };
        let shown = match field.name {
            "llm_request" => ModelRequest::read(&value).without_others().to_json(),
            "llm_response" => shown_response(&value),
            "tool_name" => Json::string(&tool_name(event)),
            "tool_response" => response_of(event, &value),
            "source" | "reason" | "trigger" => Json::string(&own_word(event.kind(), &value)),
            _ => value,
        };
        payload.value(field.name, shown);
    }
    if is_about_a_tool(event.kind()) && event.field("mcp_context").is_none() {
        let context = server_and_tool(&event.text("tool_name").unwrap_or_default())
            .map(|(server, tool)| object([("server_name", Json::string(server)), ("tool_name", Json::string(tool))]));
        if let Some(context) = context {
            payload.value("mcp_context", context);
        }
    }
    if is_about_a_tool(event.kind())
        && let Some(name) = event.field("original_request_name")
    {
        payload.value("original_request_name", name.clone());
    }
    payload.finish().into()
}

/// The server and the tool of a name such as `mcp__demo__echo`, which other agents have for a tool of a server.
fn server_and_tool(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("mcp__")?.split_once("__").filter(|(server, tool)| !server.is_empty() && !tool.is_empty())
}

/// The name of the tool. That of a tool of a server has the names of both, as `mcp_demo_echo`.
fn tool_name(event: &Event) -> String {
    let name = event.text("tool_name").unwrap_or_default();
    server_and_tool(&name).map(|(server, tool)| format!("mcp_{server}_{tool}")).unwrap_or(name)
}

fn is_about_a_tool(kind: EventKind) -> bool {
    matches!(kind, EventKind::BeforeTool | EventKind::AfterTool)
}

/// The text that a matcher is compared with, as the hook receives it.
pub(super) fn matched_text(event: &Event, field: &str) -> String {
    match (field, event.field(field)) {
        ("tool_name", _) => tool_name(event),
        ("source" | "reason" | "trigger", Some(word)) => own_word(event.kind(), word),
        (_, value) => value.and_then(Json::as_str).unwrap_or_default(),
    }
}

/// The words of this dialect for what started a session or a compression. Others are passed on.
fn own_word(kind: EventKind, word: &Json) -> String {
    let word = word.as_str().unwrap_or_default();
    match (kind, word.as_str()) {
        (EventKind::BeforeCompact, "proactive" | "reactive") => "auto".to_owned(),
        _ => word,
    }
}

/// The result of a tool, with what an earlier hook put in its place.
fn response_of(event: &Event, response: &Json) -> Json {
    let Some(replaced) = event.field("tool_output") else { return response.clone() };
    ToolResponse { content: Some(replaced.clone()), ..ToolResponse::read(response) }.to_json()
}

/// A rewrite as it is laid over what the event has: arguments, results and responses count whole, of a request the members that are
/// given do, each whole.
#[expect(clippy::unnecessary_wraps, reason = "other dialects have rewrites that change nothing")]
pub(super) fn lay_over(event: &Event, field: &'static str, value: &Json) -> Option<Json> {
    match (field, event.field(field)) {
        ("llm_request", Some(current)) => Some(changed_request(current, value)),
        ("llm_response", Some(current)) => Some(changed_response(current, value)),
        _ => Some(value.clone()),
    }
}

fn changed_request(current: &Json, change: &Json) -> Json {
    let Some(change) = change.as_object() else { return current.clone() };
    let old = ModelRequest::read(current);
    let given = ModelRequest::read(&change.to_json());
    let has = |name: &str| change.get(name).is_some();
    let new = ModelRequest {
        model: given.model.or(old.model.clone()),
        messages: if given.messages.is_empty() { old.messages.clone() } else { given.messages },
        config: if has("config") { given.config } else { old.config.clone() },
        tool_config: given.tool_config.or(old.tool_config.clone()),
        others: old.others.clone(),
    };
    let (new, old) = (new.to_json(), old.to_json());
    if new.same_as(&old) { current.clone() } else { request_with_contents(new, current) }
}

/// The response with the members that are given. Text and candidates stay in step.
fn changed_response(current: &Json, change: &Json) -> Json {
    let Some(change) = change.as_object() else { return current.clone() };
    let mut members: JsonObject = current.as_object().unwrap_or_default();
    if change.get("candidates").is_some() {
        members.remove("text");
    } else if change.get("text").is_some() {
        members.remove("candidates");
    }
    members.merge(&change);
    let new = members.to_json();
    answered_response(&new).unwrap_or(new)
}
