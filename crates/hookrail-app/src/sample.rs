//! Sample events, for hooks that are tried before an agent has fired anything.

use hookrail::event::{FieldKind, FieldSpec};
use hookrail::{EventKind, Hook, Json, JsonObject};
use hookrail_bridge::{Agent, tools};
use serde_json::{Value, json};

use crate::lint::{known_tools, usual_values};

/// The tool of a sample if nothing says which one is meant.
const USUAL_TOOL: &str = "write_file";

/// Returns the neutral fields of an event as a host could fire it, about this tool if it is about one.
pub fn fields(kind: EventKind, tool: Option<&str>) -> JsonObject {
    let tool = tool.unwrap_or(USUAL_TOOL);
    let mut fields = JsonObject::new();
    for field in kind.spec().fields.iter().filter(|field| field.required || field.needed) {
        if let Some(value) = value(field, tool) {
            fields.set(field.name, Json::from(value));
        }
    }
    fields
}

/// Returns the fields with the tool and its arguments in the words of an agent, if there is one and it has the tool.
pub fn in_words_of(agent: Option<Agent>, mut fields: JsonObject) -> JsonObject {
    let Some(agent) = agent else { return fields };
    let tool = fields.get("tool_name").and_then(Json::as_str);
    let call = tool.zip(fields.get("tool_input").cloned());
    let told = call.and_then(|(tool, input)| tools::table().call_for(agent.tools(), &tool, &input));
    if let Some((tool, input)) = told {
        fields.set("tool_name", Json::string(&tool));
        fields.set("tool_input", input);
    }
    fields
}

/// Returns the neutral fields of an event that a hook's matcher selects.
pub fn fields_for(hook: &Hook) -> JsonObject {
    let matched = hook.event.spec().matched_on(hook.dialect);
    let is_matched = |text: &&str| hook.matcher.test(text).is_match();
    let tool = known_tools(hook.dialect).into_iter().find(is_matched);
    // A matcher that no known tool has may name a tool of its own.
    let tool = tool.or_else(|| hook.matcher.pattern().filter(is_matched));
    let mut fields = fields(hook.event, tool);
    if let Some(field) = matched.filter(|field| *field != "tool_name") {
        let usual = usual_values(field).iter().copied().find(is_matched);
        if let Some(text) = usual.or_else(|| hook.matcher.pattern().filter(is_matched)) {
            fields.set(field, Json::string(text));
        }
    }
    fields
}

fn value(field: &FieldSpec, tool: &str) -> Option<Value> {
    if let Some(usual) = usual_values(field.name).first() {
        return Some(json!(usual));
    }
    Some(match field.name {
        "tool_name" => json!(tool),
        "tool_input" => tool_input(tool),
        "tool_call_id" => json!("sample-call"),
        "tool_response" => json!({ "llmContent": "done", "returnDisplay": "done" }),
        "prompt" => json!("Summarise README.md"),
        "prompt_response" => json!("README.md describes the project."),
        "message" if field.kind == FieldKind::Text => json!("The agent asks for a permission"),
        "llm_request" => json!({
            "model": "sample-model",
            "messages": [{ "role": "user", "content": "Summarise README.md" }],
        }),
        "llm_response" => json!({
            "text": "README.md describes the project.",
            "candidates": [{ "content": { "role": "model", "parts": ["README.md describes the project."] }, "finishReason": "STOP" }],
        }),
        _ => match field.kind {
            FieldKind::Text => json!("sample"),
            FieldKind::Object => json!({}),
            FieldKind::List => json!([]),
            FieldKind::Flag => json!(false),
            FieldKind::Number => json!(1),
            FieldKind::Any => return None,
        },
    })
}

/// The arguments of a tool, by its name in any vocabulary.
fn tool_input(tool: &str) -> Value {
    let is = |names: &[&str]| names.iter().any(|name| tool.eq_ignore_ascii_case(name));
    if is(&["run_shell_command", "shell", "bash"]) {
        json!({ "command": "git status" })
    } else if is(&["replace", "edit", "multiedit"]) {
        json!({ "path": "notes.txt", "file_path": "notes.txt", "old_string": "one", "new_string": "two" })
    } else if is(&["web_fetch", "webfetch", "fetch"]) {
        json!({ "url": "https://example.com" })
    } else if is(&["glob", "grep", "search_file_content", "find"]) {
        json!({ "pattern": "TODO" })
    } else if is(&["read_file", "readfile", "read", "list_directory", "ls", "listdir"]) {
        json!({ "path": "notes.txt", "file_path": "notes.txt" })
    } else {
        json!({ "path": "notes.txt", "file_path": "notes.txt", "content": "hello\n" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload_shape::{PayloadShape, report_fields};
    use hookrail::Event;

    #[test]
    fn every_event_has_a_sample_without_findings() {
        for kind in EventKind::all() {
            let fields = fields(kind, None);
            assert!(report_fields(kind, kind.name(), PayloadShape::of_payload(&fields), &fields).is_empty(), "{kind}");
            assert!(Event::new(kind, "/").with_payload(&fields.to_json()).is_ok(), "{kind}");
        }
    }
}
