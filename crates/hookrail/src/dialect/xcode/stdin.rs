//! Writes the JSON line that a plugin's hook receives on standard input.

use std::sync::Arc;

use crate::dialect::{DialectId, camel_case};
use crate::event::{Event, EventKind};
use crate::hook::Hook;
use crate::json::{Json, JsonObject};
use crate::payload::ToolResponse;
use crate::run::RunInput;

pub(super) fn input(hook: &Hook, event: &Event) -> RunInput {
    let mut line = payload(hook, event).to_bytes();
    line.push(b'\n');
    Arc::<[u8]>::from(line).into()
}

fn payload(hook: &Hook, event: &Event) -> JsonObject {
    let Some(column) = event.kind().spec().column(DialectId::Xcode) else { return JsonObject::new() };
    let mut payload = JsonObject::new();
    payload.set("event", Json::string(column.name));
    let mut session = JsonObject::new();
    session.set("cwd", Json::string(&event.cwd().to_string_lossy()));
    session.set("modelId", Json::string(&event.text("model_id").unwrap_or_default()));
    payload.set("session", session.to_json());
    let mut plugin = JsonObject::new();
    if let Some(owner) = &hook.owner {
        plugin.set("id", Json::string(&owner.id));
        plugin.set("dir", Json::string(&owner.dir.to_string_lossy()));
    }
    payload.set("plugin", plugin.to_json());
    let mut tool = JsonObject::new();
    for field in column.fields {
        let Some(value) = event.field_or_empty(field) else { continue };
        match field.name {
            "tool_name" => tool.set("name", value),
            "tool_input" => tool.set("args", value),
            "tool_call_id" => tool.set("callId", value),
            "tool_response" => {
                tool.set("output", output(event, &value));
                tool.set("isError", Json::boolean(ToolResponse::read(&value).is_error()));
            }
            "trigger" => payload.set("trigger", trigger(&value)),
            "agent" => payload.set("agent", agent(event.kind(), &value)),
            name => payload.set(camel_case(name), value),
        }
    }
    if !tool.is_empty() {
        payload.set("tool", tool.to_json());
    }
    payload
}

/// Returns the output of a tool: the replacement by an earlier hook, otherwise the content for the model as text, otherwise
/// the whole response as JSON text.
fn output(event: &Event, response: &Json) -> Json {
    if let Some(replaced) = event.field("tool_output") {
        return replaced.clone();
    }
    let content = ToolResponse::read(response).content_text();
    Json::string(&content.unwrap_or_else(|| response.text().to_owned()))
}

/// Returns the members of a sub-agent in the documented order. Only the start event has its prompt.
fn agent(kind: EventKind, value: &Json) -> Json {
    let given = value.as_object().unwrap_or_default();
    let keys: &[&'static str] = match kind {
        EventKind::SubagentStart => &["name", "description", "prompt"],
        _ => &["name", "description"],
    };
    let member = |key: &&'static str| (*key, given.get(key).cloned().unwrap_or_else(|| Json::string("")));
    keys.iter().map(member).collect::<JsonObject>().to_json()
}

/// Returns the trigger of a compaction in this dialect's words. It knows neither `auto` nor `manual`.
fn trigger(value: &Json) -> Json {
    match value.as_str().as_deref() {
        Some("auto" | "manual") => Json::string("proactive"),
        _ => value.clone(),
    }
}
