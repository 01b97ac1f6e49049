//! Python types of what command hooks receive and answer, made from the JSON Schemas of the events.
//!
//! They are dictionaries with types (`TypedDict`), which cost nothing when a hook runs and need Python 3.8 or newer.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use hookrail::dialect::llxprt::schemas;
use serde_json::{Map, Value};

use super::schema_type::SchemaType;

/// Returns the stub `hook_types.pyi`, which type checkers read and Python does not.
pub(super) fn module() -> String {
    let mut writer = Writer::default();
    let schemas = schemas();
    let events: Vec<&str> = schemas.iter().filter_map(|(name, _)| name.strip_suffix(".stdin")).collect();
    for event in &events {
        for (suffix, end) in [("stdin", "Input"), ("stdout", "Answer")] {
            let name = format!("{event}.{suffix}");
            let Some((_, schema)) = schemas.iter().find(|(known, _)| *known == name) else { continue };
            let about = schema.get("title").and_then(Value::as_str).unwrap_or_default();
            writer.class(&format!("{event}{end}"), schema, about);
        }
    }
    let inputs: Vec<String> = events.iter().map(|event| format!("{event}Input")).collect();
    format!(
        "\"\"\"Types of command hooks, written by `hookrail types` (hookrail {}). Do not edit: the command replaces this file.\n\n\
         A hook imports them for its type checker only, so it runs without this file:\n\n    \
         from typing import TYPE_CHECKING\n    if TYPE_CHECKING:\n        from hook_types import BeforeToolAnswer, BeforeToolInput\n\
         \"\"\"\nfrom typing import Any, Dict, List, Literal, Optional, TypedDict, Union\n{}\n\n\
         HookInput = Union[\n    {},\n]\n\"\"\"What any hook receives; `hook_event_name` tells which event it is.\"\"\"\n",
        env!("CARGO_PKG_VERSION"),
        writer.text,
        inputs.join(",\n    ")
    )
}

/// Writes classes. Objects of the same shape are one class.
#[derive(Default)]
struct Writer {
    text: String,
    /// The classes of inner objects: the schema as text, and the name.
    inner: BTreeMap<String, String>,
}

impl Writer {
    fn class(&mut self, name: &str, schema: &Value, about: &str) {
        let empty = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let required: Vec<&str> =
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let lines: Vec<(&String, String)> = properties
            .iter()
            .map(|(key, schema)| (key, self.type_of(schema, &format!("{}{}", base_name(name), pascal_case(key)))))
            .collect();
        let (must, may): (Vec<_>, Vec<_>) = lines.into_iter().partition(|(key, _)| required.contains(&key.as_str()));
        // A name that Python keeps for itself can only stand in the other way to write a class.
        let has_keyword = may.iter().any(|(key, _)| is_keyword(key));
        let mut parent = "TypedDict".to_owned();
        if !must.is_empty() && !may.is_empty() {
            parent = format!("_{name}Required");
            let _ = write!(self.text, "\n\nclass {parent}(TypedDict):\n{}", members(&must));
        }
        if has_keyword {
            let keywords: Vec<String> = may
                .iter()
                .filter(|(key, _)| is_keyword(key))
                .map(|(key, type_name)| format!("\"{key}\": {type_name}"))
                .collect();
            let base = format!("_{name}Keywords");
            let _ = write!(self.text, "\n\n{base} = TypedDict(\"{base}\", {{{}}}, total=False)\n", keywords.join(", "));
            parent = if parent == "TypedDict" { base } else { format!("{parent}, {base}") };
        }
        let own: Vec<_> = if may.is_empty() { must } else { may };
        let own: Vec<_> = own.into_iter().filter(|(key, _)| !is_keyword(key)).collect();
        let total = if required.is_empty() || parent != "TypedDict" { ", total=False" } else { "" };
        let _ = write!(self.text, "\n\nclass {name}({parent}{total}):\n    \"\"\"{about}.\"\"\"\n\n{}", members(&own));
    }

    /// Returns the type of a value. An object with known members gets a class of its own.
    fn type_of(&mut self, schema: &Value, name: &str) -> String {
        if let Some(value) = schema.get("const") {
            return format!("Literal[{}]", literal(value));
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            let (nulls, others): (Vec<&Value>, Vec<&Value>) = values.iter().partition(|value| value.is_null());
            let words: Vec<String> = others.into_iter().map(literal).collect();
            let literal = format!("Literal[{}]", words.join(", "));
            return if nulls.is_empty() { literal } else { format!("Optional[{literal}]") };
        }
        if let Some(kinds) = schema.get("anyOf").and_then(Value::as_array) {
            let kinds: Vec<String> = kinds.iter().map(|kind| self.type_of(kind, name)).collect();
            return format!("Union[{}]", kinds.join(", "));
        }
        match SchemaType::all_of(schema).as_slice() {
            [] => "Any".to_owned(),
            [kind] => self.simple(*kind, schema, name),
            [kind, SchemaType::Null] | [SchemaType::Null, kind] => {
                format!("Optional[{}]", self.simple(*kind, schema, name))
            }
            several => {
                let kinds: Vec<String> = several.iter().map(|kind| self.simple(*kind, schema, name)).collect();
                format!("Union[{}]", kinds.join(", "))
            }
        }
    }

    fn simple(&mut self, kind: SchemaType, schema: &Value, name: &str) -> String {
        match kind {
            SchemaType::Text => "str".to_owned(),
            SchemaType::Flag => "bool".to_owned(),
            SchemaType::Null => "None".to_owned(),
            SchemaType::Integer => "int".to_owned(),
            SchemaType::Number => "float".to_owned(),
            SchemaType::List => {
                let items =
                    schema.get("items").map_or("Any".to_owned(), |items| self.type_of(items, &format!("{name}Item")));
                format!("List[{items}]")
            }
            SchemaType::Object if schema.get("properties").is_some() => self.inner_class(schema, name),
            SchemaType::Object => "Dict[str, Any]".to_owned(),
        }
    }

    fn inner_class(&mut self, schema: &Value, name: &str) -> String {
        let shape = schema.to_string();
        if let Some(known) = self.inner.get(&shape) {
            return known.clone();
        }
        let taken = self.inner.values().filter(|known| known.as_str() == name).count();
        let name = if taken == 0 { name.to_owned() } else { format!("{name}{}", taken + 1) };
        self.inner.insert(shape, name.clone());
        self.class(&name, schema, "A part of an event or an answer");
        name
    }
}

fn members(lines: &[(&String, String)]) -> String {
    if lines.is_empty() {
        return "    pass\n".to_owned();
    }
    lines.iter().map(|(key, type_name)| format!("    {key}: {type_name}\n")).collect()
}

fn literal(value: &Value) -> String {
    match value {
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        other => other.to_string(),
    }
}

/// The names of inner classes do not repeat whether they belong to an input or an answer.
fn base_name(name: &str) -> &str {
    name.strip_suffix("Input").or_else(|| name.strip_suffix("Answer")).unwrap_or(name)
}

fn pascal_case(name: &str) -> String {
    let words = name.split('_');
    words
        .map(|word| {
            let mut letters = word.chars();
            letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
        })
        .collect()
}

/// The keys of the schemas that are words of Python's own.
fn is_keyword(key: &str) -> bool {
    [
        "continue", "class", "from", "import", "in", "is", "not", "or", "and", "if", "else", "for", "while", "with",
        "pass",
    ]
    .contains(&key)
}
