//! What a hook receives: the agent's own payload, in the order of its members.

use super::events::{TOOL_FAILED, column};
use super::tool_result;
use crate::event::{Event, EventKind};
use crate::hook::condition::ToolEnd;
use crate::json::{Json, JsonObject, ObjectWriter};
use crate::payload::ToolResponse;
use crate::run::RunInput;

/// The prefix of the names of tools that an MCP server brings.
const MCP: &str = "mcp__";

/// The input of a hook.
pub(super) fn input(event: &Event) -> RunInput {
    let mut payload = ObjectWriter::new();
    write(event, &mut payload);
    let mut bytes = payload.finish().whole().to_vec();
    bytes.push(b'\n');
    std::sync::Arc::<[u8]>::from(bytes).into()
}

fn write(event: &Event, payload: &mut ObjectWriter) {
    payload.text("session_id", event.session_id());
    payload.text("transcript_path", event.transcript_path());
    payload.text("cwd", &event.cwd().to_string_lossy());
    if let Some(prompt) = event.text("prompt_id") {
        payload.text("prompt_id", &prompt);
    }
    if has_permission_mode(event.kind()) {
        payload.text("permission_mode", &permission_mode(event));
    }
    let of_subagent = matches!(event.kind(), EventKind::SubagentStart | EventKind::SubagentStop);
    if of_subagent {
        payload.text("agent_id", &agent_id(event));
        payload.text("agent_type", &agent_type(event));
    } else {
        for name in ["agent_id", "agent_type"] {
            if let Some(text) = event.text(name) {
                payload.text(name, &text);
            }
        }
    }
    payload.text("hook_event_name", event_name(event));
    own_fields(event, payload);
}

/// The agent's name for this occurrence of the event.
pub(super) fn event_name(event: &Event) -> &'static str {
    match event.kind() {
        EventKind::AfterTool if ToolEnd::of(event) == ToolEnd::Failed => TOOL_FAILED,
        kind => column(kind).map_or("", |column| column.name),
    }
}

fn has_permission_mode(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::Prompt
            | EventKind::BeforeTool
            | EventKind::PermissionRequest
            | EventKind::AfterTool
            | EventKind::TurnEnd
            | EventKind::AgentEnd
            | EventKind::SubagentStop
    )
}

/// The mode of the host in the agent's words.
fn permission_mode(event: &Event) -> String {
    match event.text("permission_mode").as_deref() {
        None | Some("") => "default".to_owned(),
        Some("yolo" | "auto-high") => "bypassPermissions".to_owned(),
        Some("auto_edit" | "autoEdit" | "auto-edit" | "auto-low" | "auto-medium") => "acceptEdits".to_owned(),
        Some(mode) => mode.to_owned(),
    }
}

fn own_fields(event: &Event, payload: &mut ObjectWriter) {
    let text = |name: &str| event.text(name).unwrap_or_default();
    let given = |name: &str| event.field(name).cloned();
    match event.kind() {
        EventKind::SessionStart => {
            payload.text("source", &subject(event, "source"));
            if let Some(model) = event.text("model_id") {
                payload.text("model", &model);
            }
        }
        EventKind::SessionEnd => payload.text("reason", &subject(event, "reason")),
        EventKind::Prompt => payload.text("prompt", &text("prompt")),
        EventKind::BeforeTool => {
            call(event, payload);
            payload.text("tool_use_id", &text("tool_call_id"));
            mcp_server(event, payload);
        }
        EventKind::PermissionRequest => {
            call(event, payload);
            let none = || Json::from(serde_json::Value::Array(Vec::new()));
            payload.value("permission_suggestions", given("permission_suggestions").unwrap_or_else(none));
            mcp_server(event, payload);
        }
        EventKind::AfterTool => {
            call(event, payload);
            let response = given("tool_response").unwrap_or_else(Json::empty_object);
            let failed = ToolEnd::of(event) == ToolEnd::Failed;
            if !failed {
                payload.value("tool_response", tool_result::in_own_shape(event, &response));
            }
            payload.text("tool_use_id", &text("tool_call_id"));
            if failed {
                payload.text("error", &error_text(&response));
                payload.value("is_interrupt", given("is_interrupt").unwrap_or_else(|| Json::boolean(false)));
            }
            if let Some(duration) = given("duration_ms") {
                payload.value("duration_ms", duration);
            }
            mcp_server(event, payload);
        }
        EventKind::TurnEnd => {
            let none = || Json::from(serde_json::Value::Array(Vec::new()));
            payload.value("tool_calls", given("tool_results").unwrap_or_else(none));
        }
        EventKind::AgentEnd => {
            payload.value("stop_hook_active", given("stop_hook_active").unwrap_or_else(|| Json::boolean(false)));
            payload.text("last_assistant_message", &text("prompt_response"));
            background(event, payload);
        }
        EventKind::BeforeCompact => {
            payload.text("trigger", &subject(event, "trigger"));
            payload.value("custom_instructions", given("custom_instructions").unwrap_or_else(Json::null));
        }
        EventKind::AfterCompact => {
            payload.text("trigger", &subject(event, "trigger"));
            payload.text("compact_summary", &text("summary"));
        }
        EventKind::SubagentStop => {
            payload.value("stop_hook_active", given("stop_hook_active").unwrap_or_else(|| Json::boolean(false)));
            payload.text("agent_transcript_path", &text("agent_transcript_path"));
            payload.text("last_assistant_message", &text("last_assistant_message"));
            background(event, payload);
        }
        EventKind::Notification => {
            payload.text("message", &text("message"));
            payload.text("notification_type", &subject(event, "notification_type"));
        }
        _ => {}
    }
}

fn call(event: &Event, payload: &mut ObjectWriter) {
    payload.text("tool_name", &tool_name(event));
    payload.value("tool_input", event.field("tool_input").cloned().unwrap_or_else(Json::empty_object));
}

/// The tool's name. A tool of an MCP server has the server's name in it.
pub(super) fn tool_name(event: &Event) -> String {
    let name = event.text("tool_name").unwrap_or_default();
    let context = event.field("mcp_context").and_then(Json::as_object).unwrap_or_default();
    let member = |name: &str| context.get(name).and_then(Json::as_str).filter(|text| !text.is_empty());
    match (member("server_name"), member("tool_name")) {
        (Some(server), Some(tool)) if !name.starts_with(MCP) => format!("{MCP}{server}__{tool}"),
        _ => name,
    }
}

fn mcp_server(event: &Event, payload: &mut ObjectWriter) {
    let context = event.field("mcp_context").and_then(Json::as_object).unwrap_or_default();
    if let Some(name) = context.get("server_name") {
        let server: JsonObject = [("name".to_owned(), name.clone())].into_iter().collect();
        payload.value("mcp_server", server.to_json());
    }
}

fn background(event: &Event, payload: &mut ObjectWriter) {
    for name in ["background_tasks", "session_crons"] {
        let none = || Json::from(serde_json::Value::Array(Vec::new()));
        payload.value(name, event.field(name).cloned().unwrap_or_else(none));
    }
}

fn error_text(response: &Json) -> String {
    let response = ToolResponse::read(response);
    let error = response.error.as_ref();
    let message = error.and_then(|error| error.as_object()?.get("message")?.as_str());
    message.or_else(|| error?.as_str()).or_else(|| response.content_text()).unwrap_or_default()
}

/// A member of the sub-agent that an event is about.
fn of_agent(event: &Event, names: &[&str]) -> String {
    let agent = event.field("agent").and_then(Json::as_object).unwrap_or_default();
    names.iter().find_map(|name| agent.get(name)?.as_str()).unwrap_or_default()
}

fn agent_id(event: &Event) -> String {
    event.text("agent_id").unwrap_or_else(|| of_agent(event, &["id", "description"]))
}

fn agent_type(event: &Event) -> String {
    event.text("agent_type").unwrap_or_else(|| of_agent(event, &["name"]))
}

/// The text that a matcher is compared with: the field in the agent's words.
pub(super) fn subject(event: &Event, field: &str) -> String {
    let value = event.text(field).unwrap_or_default();
    match (field, value.as_str()) {
        ("tool_name", _) => tool_name(event),
        ("agent", _) => agent_type(event),
        ("source", "compress") => "compact".to_owned(),
        ("reason", "exit" | "") => "other".to_owned(),
        ("trigger", "proactive" | "reactive") => "auto".to_owned(),
        ("notification_type", "ToolPermission") => "permission_prompt".to_owned(),
        _ => value,
    }
}
