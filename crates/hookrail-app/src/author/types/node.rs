//! TypeScript types of what command hooks receive and answer, made from the JSON Schemas of the events. A script in JavaScript
//! uses them in comments.

use std::fmt::Write as _;

use hookrail::dialect::llxprt::schemas;
use serde_json::Value;

use super::schema_type::SchemaType;

/// Returns `hook-types.d.ts`.
pub(super) fn declarations() -> String {
    let schemas = schemas();
    let mut text = format!(
        "// Types of command hooks, written by `hookrail types` (hookrail {}). Do not edit: the command replaces this file.\n//\n\
         // A script in JavaScript names them in a comment:\n//\n\
         //     /** @type {{import(\"./hook-types\").BeforeToolInput}} */\n//     const event = JSON.parse(readFileSync(0, \"utf8\"));\n",
        env!("CARGO_PKG_VERSION")
    );
    let events: Vec<&str> = schemas.iter().filter_map(|(name, _)| name.strip_suffix(".stdin")).collect();
    for event in &events {
        for (suffix, end) in [("stdin", "Input"), ("stdout", "Answer")] {
            let name = format!("{event}.{suffix}");
            let Some((_, schema)) = schemas.iter().find(|(known, _)| *known == name) else { continue };
            let about = schema.get("title").and_then(Value::as_str).unwrap_or_default();
            let _ = write!(text, "\n/** {about}. */\nexport interface {event}{end} {}\n", type_of(schema, 0));
        }
    }
    let inputs: Vec<String> = events.iter().map(|event| format!("{event}Input")).collect();
    let _ = write!(
        text,
        "\n/** What any hook receives; `hook_event_name` tells which event it is. */\nexport type HookInput =\n\t| {};\n",
        inputs.join("\n\t| ")
    );
    text
}

/// Returns the type of a value; the lines of an object are indented one level deeper than its first one.
fn type_of(schema: &Value, depth: usize) -> String {
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    let union = |kinds: Vec<String>| kinds.join(" | ");
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return union(values.iter().map(Value::to_string).collect());
    }
    if let Some(kinds) = schema.get("anyOf").and_then(Value::as_array) {
        return union(kinds.iter().map(|kind| type_of(kind, depth)).collect());
    }
    let kinds = SchemaType::all_of(schema);
    if kinds.is_empty() {
        return "unknown".to_owned();
    }
    union(kinds.into_iter().map(|kind| simple(kind, schema, depth)).collect())
}

fn simple(kind: SchemaType, schema: &Value, depth: usize) -> String {
    match kind {
        SchemaType::Text => "string".to_owned(),
        SchemaType::Flag => "boolean".to_owned(),
        SchemaType::Null => "null".to_owned(),
        SchemaType::Integer | SchemaType::Number => "number".to_owned(),
        SchemaType::List => match schema.get("items") {
            Some(items) => format!("({})[]", type_of(items, depth)),
            None => "unknown[]".to_owned(),
        },
        SchemaType::Object => match schema.get("properties").and_then(Value::as_object) {
            Some(properties) => {
                let required = schema.get("required").and_then(Value::as_array);
                let is_required = |key: &str| required.is_some_and(|keys| keys.iter().any(|known| known == key));
                let indent = "\t".repeat(depth + 1);
                let members = properties.iter().map(|(key, schema)| {
                    let mark = if is_required(key) { "" } else { "?" };
                    format!("{indent}{key}{mark}: {};\n", type_of(schema, depth + 1))
                });
                format!("{{\n{}{}}}", members.collect::<String>(), "\t".repeat(depth))
            }
            None => "Record<string, any>".to_owned(),
        },
    }
}
