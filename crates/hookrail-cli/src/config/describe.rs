//! The table of settings as a page of the reference and as a JSON Schema.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use hookrail::module::CAPABILITY_NAMES;

use super::table::{Kind, POLICIES, SECTIONS, Who, of_section};

/// What a setting is when no file says otherwise.
fn default(kind: Kind) -> Value {
    match kind {
        Kind::Number { default, .. } => json!(default),
        Kind::Capabilities => json!(["read", "write", "run", "env"]),
        Kind::Flag { default } => json!(default),
        Kind::Policy => json!("allow"),
        Kind::Sandbox => json!("none"),
        Kind::Address => Value::Null,
    }
}

/// The tables of the reference page.
pub(crate) fn reference() -> String {
    let mut page = String::new();
    for section in SECTIONS {
        let _ = write!(page, "\n## [{section}]\n\n| key | value | default | file | meaning |\n|---|---|---|---|---|\n");
        for row in of_section(section) {
            let who = if row.who == Who::User { "user" } else { "user, project" };
            let default = match default(row.kind) {
                Value::Null => "none".to_owned(),
                value => format!("`{value}`"),
            };
            let _ = writeln!(page, "| `{}` | {} | {default} | {who} | {} |", row.key, row.kind.expected(), row.what);
        }
    }
    page
}

/// The JSON Schema of a configuration file, for editors that check TOML with one.
pub(crate) fn schema() -> Value {
    let sections: Map<String, Value> = SECTIONS
        .iter()
        .map(|section| {
            let keys: Map<String, Value> =
                of_section(section).map(|row| (row.key.to_owned(), described(row.kind, row.what))).collect();
            ((*section).to_owned(), json!({"type": "object", "additionalProperties": false, "properties": keys}))
        })
        .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:hookrail:config:1",
        "title": "hookrail's own configuration",
        "type": "object",
        "additionalProperties": false,
        "properties": sections,
    })
}

fn described(kind: Kind, what: &str) -> Value {
    let mut schema = match kind {
        Kind::Number { least, most, .. } => json!({"type": "integer", "minimum": least, "maximum": most}),
        Kind::Capabilities => json!({"type": "array", "items": {"anyOf": [
            {"enum": CAPABILITY_NAMES},
            {"type": "string", "pattern": "^(read|write|network|env):."},
        ]}}),
        Kind::Flag { .. } => json!({"type": "boolean"}),
        Kind::Policy => json!({"enum": POLICIES}),
        Kind::Sandbox => {
            let paths = json!({"type": "array", "items": {"type": "string", "minLength": 1}});
            let profile = json!({
                "type": "object",
                "properties": {
                    "read": {"anyOf": [{"const": "all"}, paths]},
                    "write": paths,
                    "network": {"type": "boolean"},
                },
                "additionalProperties": false,
            });
            json!({"anyOf": [{"enum": ["none", "guard"]}, profile]})
        }
        Kind::Address => json!({"type": ["string", "integer"], "minimum": 0, "maximum": 65535}),
    };
    if let Value::Object(members) = &mut schema {
        members.insert("description".to_owned(), json!(what));
        if let default @ (Value::Number(_) | Value::Bool(_) | Value::Array(_) | Value::String(_)) = default(kind) {
            members.insert("default".to_owned(), default);
        }
    }
    schema
}
