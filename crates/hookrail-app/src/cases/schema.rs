//! The JSON Schema of case files, and the page of the reference.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::table::{CASE_KEYS, EXPECT_KEYS, FILE_KEYS, KeyRow, OWN_KEYS, ValueKind};

/// Returns the JSON Schema of a case file. It holds for both formats.
pub fn schema() -> Value {
    let defaults: Map<String, Value> = properties(CASE_KEYS.iter().filter(|row| !OWN_KEYS.contains(&row.name)));
    let mut file = properties(FILE_KEYS.iter());
    file.insert(
        "defaults".to_owned(),
        json!({"type": "object", "additionalProperties": false, "properties": defaults}),
    );
    file.insert("case".to_owned(), json!({"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/case"}}));
    for (name, row) in FILE_KEYS.iter().map(|row| (row.name, row)) {
        if let Some(Value::Object(schema)) = file.get_mut(name) {
            schema.insert("description".to_owned(), json!(row.meaning));
        }
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:hookrail:hooktest:1",
        "title": "cases of `hookrail test`",
        "type": "object",
        "additionalProperties": false,
        "required": ["case"],
        "properties": file,
        "$defs": {
            "case": {
                "type": "object",
                "additionalProperties": false,
                "required": ["name", "expect"],
                "properties": properties(CASE_KEYS.iter()),
            },
            "expect": {
                "type": "object",
                "additionalProperties": false,
                "minProperties": 1,
                "properties": properties(EXPECT_KEYS.iter()),
            },
        },
    })
}

fn properties<'r>(rows: impl Iterator<Item = &'r KeyRow>) -> Map<String, Value> {
    let described = |row: &KeyRow| {
        let mut schema = value_schema(row.kind);
        if let Value::Object(members) = &mut schema {
            members.insert("description".to_owned(), json!(row.meaning));
        }
        (row.name.to_owned(), schema)
    };
    rows.map(described).collect()
}

fn value_schema(kind: ValueKind) -> Value {
    let text = json!({"type": "string"});
    let count = json!({"type": "integer", "minimum": 0});
    let list = |one: &Value| json!({"anyOf": [one, {"type": "array", "items": one}]});
    match kind {
        ValueKind::Text => text,
        ValueKind::Texts => list(&text),
        ValueKind::Word(words) if words.contains(&"none") => {
            json!({"enum": words.iter().map(|word| json!(word)).chain([Value::Null]).collect::<Vec<_>>()})
        }
        ValueKind::Word(words) => json!({"enum": words}),
        ValueKind::Words(words) => list(&json!({"enum": words})),
        ValueKind::Count | ValueKind::Milliseconds => count,
        ValueKind::Counts => list(&count),
        ValueKind::Flag => json!({"type": "boolean"}),
        ValueKind::FlagOrText => json!({"type": ["boolean", "string"]}),
        ValueKind::Table => json!({"type": "object"}),
        ValueKind::Payload => json!({"type": ["object", "string"]}),
        ValueKind::TableOrFalse => json!({"anyOf": [{"type": "object"}, {"const": false}]}),
        ValueKind::TextTable => json!({"type": "object", "additionalProperties": text}),
        ValueKind::CountTable => json!({"type": "object", "additionalProperties": count}),
        ValueKind::Expectations => json!({"$ref": "#/$defs/expect"}),
    }
}

/// Returns the tables of the reference page.
pub fn reference() -> String {
    let mut page = String::new();
    let tables = [("A case file", FILE_KEYS), ("A case", CASE_KEYS), ("Expectations", EXPECT_KEYS)];
    for (title, rows) in tables {
        let _ = write!(page, "\n## {title}\n\n| key | value | meaning |\n|---|---|---|\n");
        for row in rows {
            let _ = writeln!(page, "| `{}` | {} | {} |", row.name, row.kind.expected(), row.meaning);
        }
    }
    page
}
