//! JSON Schemas of the messages, made from the table.

use serde_json::{Map, Value, json};

use crate::LINE_LIMIT;
use crate::error::ErrorCode;
use crate::spec::{FieldSpec, FieldType, MESSAGES, MessageSpec, Side};

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";
/// The version of the schemas. It changes when a message that was accepted would no longer be.
const VERSION: u32 = 1;

/// Every schema by its name: one for each message, and one for all lines of each side.
#[must_use]
pub fn schemas() -> Vec<(String, Value)> {
    let mut schemas: Vec<(String, Value)> = MESSAGES
        .iter()
        .map(|message| (file_name(message), document(&file_name(message), title(message), body(message))))
        .collect();
    for (side, name) in [(Side::Client, "client"), (Side::Server, "server")] {
        let all: Vec<Value> =
            MESSAGES.iter().filter(|message| message.from == side).map(|message| body(message)).collect();
        let title = format!("A line that a {name} sends");
        schemas.push((name.to_owned(), document(name, title, json!({"oneOf": all}))));
    }
    schemas
}

/// `hello` is said by both sides, so a name also says by whom.
pub(crate) fn file_name(message: &MessageSpec) -> String {
    let side = match message.from {
        Side::Client => "client",
        Side::Server => "server",
    };
    format!("{side}.{}", message.name)
}

fn title(message: &MessageSpec) -> String {
    format!("`{}`", message.name)
}

fn document(name: &str, title: String, mut schema: Value) -> Value {
    if let Value::Object(members) = &mut schema {
        members.insert("$schema".to_owned(), json!(DRAFT));
        members.insert("$id".to_owned(), json!(format!("urn:hookrail:bus:{name}:{VERSION}")));
        members.insert("title".to_owned(), json!(title));
        members.insert("$comment".to_owned(), json!(format!("A line has at most {LINE_LIMIT} bytes.")));
    }
    schema
}

fn body(message: &MessageSpec) -> Value {
    let properties: Map<String, Value> =
        message.fields.iter().map(|field| (field.name.to_owned(), field_schema(field))).collect();
    let required: Vec<&str> = message.fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    // A ping has nothing it must say, so it may leave out its payload.
    let outer = if required.is_empty() { json!(["type"]) } else { json!(["type", "payload"]) };
    json!({
        "type": "object",
        "description": message.about,
        "properties": {
            "type": {"const": message.name},
            "payload": {"type": "object", "properties": properties, "required": required},
        },
        "required": outer,
    })
}

fn field_schema(field: &FieldSpec) -> Value {
    let kind = |name: &str| if field.required { json!(name) } else { json!([name, "null"]) };
    let mut schema = match field.kind {
        FieldType::Text => json!({"type": kind("string")}),
        FieldType::Word(words) if field.required => json!({"enum": words}),
        FieldType::Word(words) => {
            json!({"enum": words.iter().map(|word| json!(word)).chain([Value::Null]).collect::<Vec<_>>()})
        }
        FieldType::Texts => json!({"type": kind("array"), "items": {"type": "string"}}),
        FieldType::Flag => json!({"type": kind("boolean")}),
        FieldType::Count => json!({"type": kind("integer"), "minimum": 0}),
        FieldType::Milliseconds => json!({"type": kind("number"), "minimum": 0}),
        FieldType::Object => json!({"type": kind("object")}),
        FieldType::Error => {
            let codes: Vec<&str> = ErrorCode::ALL.iter().map(|code| code.name()).collect();
            json!({
                "type": kind("object"),
                "properties": {
                    "code": {"type": "string", "examples": codes},
                    "message": {"type": "string"},
                },
                "required": ["code", "message"],
            })
        }
    };
    if let Value::Object(members) = &mut schema {
        members.insert("description".to_owned(), json!(field.about));
    }
    schema
}
