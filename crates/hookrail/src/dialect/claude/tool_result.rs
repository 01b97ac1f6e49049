//! Results of tools in the shapes that Claude Code's own tools have, and back.

use crate::event::Event;
use crate::json::{Json, JsonKind, JsonObject};
use crate::payload::ToolResponse;
use serde_json::{Value, json};

/// The result as a hook receives it: that of the tool itself if the host has it in this shape, else one that is made of the text.
pub(super) fn in_own_shape(event: &Event, response: &Json) -> Json {
    let read = ToolResponse::read(response);
    let Some(text) = read.content_text() else { return response.clone() };
    let input = event.field("tool_input").and_then(Json::as_object).unwrap_or_default();
    let given = |name: &str| input.get(name).map_or(Value::Null, Json::to_value);
    let name = super::payload::tool_name(event);
    let shape = match name.as_str() {
        "Bash" | "Monitor" | "PowerShell" => {
            json!({"stdout": text, "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false})
        }
        "Read" => {
            let lines = text.lines().count();
            let file = json!({
                "filePath": given("file_path"), "content": text, "numLines": lines, "startLine": 1, "totalLines": lines,
            });
            json!({"type": "text", "file": file})
        }
        "Write" => json!({
            "type": "create", "filePath": given("file_path"), "content": given("content"), "structuredPatch": [],
            "originalFile": null, "userModified": false,
        }),
        "Edit" => json!({
            "filePath": given("file_path"), "oldString": given("old_string"), "newString": given("new_string"),
            "originalFile": null, "structuredPatch": [], "userModified": false,
            "replaceAll": input.get("replace_all").and_then(Json::as_bool).unwrap_or(false),
        }),
        name if name.starts_with("mcp__") => json!([{"type": "text", "text": text}]),
        _ => return read.content.unwrap_or_else(|| Json::string(&text)),
    };
    Json::from(shape)
}

/// The text that a result in an own shape shows the model; none if it has none of these shapes.
pub(super) fn text_of(shape: &Json) -> Option<String> {
    if let Some(parts) = shape.as_array() {
        let texts: Option<Vec<String>> = parts.iter().map(|part| part.as_object()?.get("text")?.as_str()).collect();
        return texts.map(|texts| texts.join("\n"));
    }
    let members = shape.as_object()?;
    let text = |name: &str| members.get(name).and_then(Json::as_str);
    if let Some(stdout) = text("stdout") {
        let stderr = text("stderr").filter(|text| !text.is_empty());
        return Some(stderr.map_or(stdout.clone(), |stderr| format!("{stdout}\n{stderr}")));
    }
    if let Some(file) = members.get("file").and_then(Json::as_object) {
        return file.get("content").and_then(Json::as_str);
    }
    let path = text("filePath")?;
    Some(format!("The file {path} has been updated."))
}

/// Whether a replaced result has the shape of the tool's own result. The agent ignores any other without a word.
pub(super) fn fits(event: &Event, replaced: &Json) -> bool {
    let name = super::payload::tool_name(event);
    let members: JsonObject = replaced.as_object().unwrap_or_default();
    match name.as_str() {
        "Bash" | "Monitor" | "PowerShell" => members.get("stdout").is_some(),
        "Read" => members.get("file").is_some(),
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => members.get("filePath").is_some(),
        name if name.starts_with("mcp__") => replaced.kind() == JsonKind::Array,
        _ => true,
    }
}
