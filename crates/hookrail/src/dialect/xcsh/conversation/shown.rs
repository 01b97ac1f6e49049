//! The host's messages in the shapes of modules.

use super::members::{member, role, text_block, text_member};
use crate::json::{Json, JsonObject};
use crate::payload::{list, object};

/// One message of an entry.
pub(super) struct ShownMessage {
    pub(super) message: Json,
    /// The parts of the entry that it shows, each with the block that shows it.
    pub(super) blocks: Vec<(Json, Json)>,
}

/// An entry of `messages`: `{role: "model", content: "text"}` as `{role: "assistant", content: [{type: "text", text}]}`.
pub(super) fn shown_message(own: &Json) -> Json {
    let Some(mut members) = own.as_object() else {
        return own.as_str().map_or_else(|| own.clone(), |text| message_of("user", own, list([text_block(&text)])));
    };
    match members.get("role").and_then(Json::as_str).as_deref() {
        Some("model") => members.set("role", Json::string("assistant")),
        Some("user") if members.get("customType").is_some() => members.set("role", Json::string("custom")),
        _ => {}
    }
    if let Some(text) = members.get("content").and_then(Json::as_str) {
        members.set("content", list([text_block(&text)]));
    }
    members.to_json()
}

/// The messages of an entry of `contents`: every tool result is one of its own, and everything else is another one.
pub(super) fn shown_content(own: &Json) -> Vec<ShownMessage> {
    let parts = member(own, "parts").and_then(|parts| parts.as_array()).unwrap_or_default();
    let parts = if let Some(text) = own.as_str() { vec![Json::string(&text)] } else { parts };
    let mut shown = Vec::new();
    let mut blocks: Vec<(Json, Json)> = Vec::new();
    for part in parts {
        if let Some(result) = member(&part, "functionResponse") {
            shown.push(tool_result(own, part, &result));
        } else if let Some(block) = block_of(&part) {
            blocks.push((part, block));
        }
    }
    if !blocks.is_empty() {
        let role = match role(own).as_str() {
            "model" | "assistant" => "assistant",
            _ if member(own, "customType").is_some() => "custom",
            _ => "user",
        };
        let content = list(blocks.iter().map(|(_, block)| block.clone()));
        shown.push(ShownMessage { message: message_of(role, own, content), blocks });
    }
    shown
}

/// A message with what the host says about it beside its content.
fn message_of(role: &str, own: &Json, content: Json) -> Json {
    let mut message: JsonObject = [("role", Json::string(role))].into_iter().collect();
    if role == "custom"
        && let Some(kind) = member(own, "customType")
    {
        message.set("customType", kind);
    }
    message.set("content", content);
    for key in ["display", "details", "timestamp", "api", "provider", "model", "usage", "stopReason"] {
        if let Some(value) = member(own, key) {
            message.set(key, value);
        }
    }
    message.to_json()
}

fn tool_result(own: &Json, part: Json, result: &Json) -> ShownMessage {
    let response = member(result, "response").unwrap_or_else(Json::null);
    let error = member(&response, "error");
    let output = error.clone().or_else(|| member(&response, "output")).unwrap_or(response);
    let is_typed = |block: &Json| member(block, "type").is_some();
    let blocks = output.as_array().filter(|blocks| blocks.iter().all(is_typed));
    let block = text_block(&output.as_str().unwrap_or_else(|| output.text().to_owned()));
    let content = blocks.map_or_else(|| list([block.clone()]), list);
    let null = || Json::null();
    let mut message: JsonObject = [
        ("role", Json::string("toolResult")),
        ("toolCallId", member(result, "id").unwrap_or_else(null)),
        ("toolName", member(result, "name").unwrap_or_else(null)),
        ("content", content),
        ("isError", Json::boolean(error.is_some())),
    ]
    .into_iter()
    .collect();
    if let Some(timestamp) = member(own, "timestamp") {
        message.set("timestamp", timestamp);
    }
    ShownMessage { message: message.to_json(), blocks: vec![(part, block)] }
}

/// A part as a module sees it; none for parts that modules have no shape for.
fn block_of(part: &Json) -> Option<Json> {
    if let Some(text) = part.as_str() {
        return Some(text_block(&text));
    }
    if let Some(text) = text_member(part, "text") {
        let is_thought = member(part, "thought").is_some_and(|thought| thought.text() == "true");
        let thinking = || object([("type", Json::string("thinking")), ("thinking", Json::string(&text))]);
        return Some(if is_thought { thinking() } else { text_block(&text) });
    }
    if let Some(call) = member(part, "functionCall") {
        let of = |key: &str| member(&call, key).unwrap_or_else(Json::null);
        let arguments = member(&call, "args").unwrap_or_else(|| JsonObject::new().to_json());
        let kind = Json::string("toolCall");
        return Some(object([("type", kind), ("id", of("id")), ("name", of("name")), ("arguments", arguments)]));
    }
    let data = member(part, "inlineData")?;
    let of = |key: &str| member(&data, key).unwrap_or_else(Json::null);
    Some(object([("type", Json::string("image")), ("data", of("data")), ("mimeType", of("mimeType"))]))
}
