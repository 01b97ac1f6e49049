//! The table of settings as a page of the reference and as a JSON Schema.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use hookrail::module::CAPABILITY_NAMES;
use hookrail::sources::one_of;
use hookrail::tools::ToolUse;

use super::table::{
    POLICIES, SECTIONS, SettingKind, SettingScope, TOOLS_MEANING, TOOLS_SECTION, settings_of_section,
    switchable_dialects,
};

/// Returns the value of a setting that no file sets.
fn default_value(kind: SettingKind) -> Value {
    match kind {
        SettingKind::Number { default, .. } => json!(default),
        SettingKind::Capabilities => json!(["read", "write", "run", "env"]),
        SettingKind::Flag { default } => json!(default),
        SettingKind::Policy => json!("allow"),
        SettingKind::Sandbox => json!("none"),
        SettingKind::Word { default, .. } => json!(default),
        SettingKind::Address | SettingKind::Names | SettingKind::Dialects | SettingKind::Path | SettingKind::Url => {
            Value::Null
        }
    }
}

/// Returns the tables of the reference page.
pub fn reference() -> String {
    let mut page = String::new();
    for section in SECTIONS {
        let _ = write!(page, "\n## [{section}]\n\n| key | value | default | file | meaning |\n|---|---|---|---|---|\n");
        if section == TOOLS_SECTION {
            let words = one_of(&ToolUse::ALL.map(ToolUse::name));
            let _ = writeln!(page, "| name of a tool | {words} | none | user | {TOOLS_MEANING} |");
        }
        for row in settings_of_section(section) {
            let files = match row.scope {
                SettingScope::UserOnly => "user",
                SettingScope::UserAndSystem => "user, system",
                SettingScope::UserAndProject => "user, project",
            };
            let default = match default_value(row.kind) {
                Value::Null => "none".to_owned(),
                value => format!("`{value}`"),
            };
            let _ =
                writeln!(page, "| `{}` | {} | {default} | {files} | {} |", row.key, row.kind.expected(), row.meaning);
        }
    }
    page
}

/// Returns the JSON Schema of a configuration file, for editors that check TOML with one.
pub fn schema() -> Value {
    let sections: Map<String, Value> = SECTIONS
        .iter()
        .map(|section| {
            if *section == TOOLS_SECTION {
                let words = json!({"enum": ToolUse::ALL.map(ToolUse::name), "description": TOOLS_MEANING});
                return ((*section).to_owned(), json!({"type": "object", "additionalProperties": words}));
            }
            let keys: Map<String, Value> = settings_of_section(section)
                .map(|row| (row.key.to_owned(), value_schema(row.kind, row.meaning)))
                .collect();
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

fn value_schema(kind: SettingKind, meaning: &str) -> Value {
    let mut schema = match kind {
        SettingKind::Number { least, most, .. } => json!({"type": "integer", "minimum": least, "maximum": most}),
        SettingKind::Capabilities => json!({"type": "array", "items": {"anyOf": [
            {"enum": CAPABILITY_NAMES},
            {"type": "string", "pattern": "^(read|write|network|env):."},
        ]}}),
        SettingKind::Flag { .. } => json!({"type": "boolean"}),
        SettingKind::Policy => json!({"enum": POLICIES}),
        SettingKind::Sandbox => {
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
        SettingKind::Word { words, .. } => json!({"enum": words}),
        SettingKind::Names => json!({"type": "array", "items": {"type": "string", "minLength": 1}}),
        SettingKind::Dialects => json!({"type": "array", "items": {"enum": switchable_dialects()}}),
        SettingKind::Path => json!({"type": "string", "pattern": "^/"}),
        SettingKind::Url => json!({"type": "string", "pattern": "^https?://."}),
        SettingKind::Address => json!({"type": ["string", "integer"], "minimum": 0, "maximum": 65535}),
    };
    if let Value::Object(members) = &mut schema {
        members.insert("description".to_owned(), json!(meaning));
        if let default @ (Value::Number(_) | Value::Bool(_) | Value::Array(_) | Value::String(_)) = default_value(kind)
        {
            members.insert("default".to_owned(), default);
        }
    }
    schema
}
