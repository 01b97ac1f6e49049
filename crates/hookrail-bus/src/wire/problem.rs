//! Describes what is wrong with a payload, by field. The schema has the type of each field.

use hookrail::document::repeated_member;
use hookrail::{Json, JsonKind, JsonObject};

use crate::message_kind::{FieldSchema, MessageKind};

/// Returns what is wrong with a payload that could not be read because of this error.
pub(super) fn describe_payload(message: &MessageKind, payload: &str, error: &serde_json::Error) -> String {
    let Ok(members) = serde_json::from_str::<JsonObject>(payload) else {
        return "`payload` must be an object".to_owned();
    };
    if let Some(key) = repeated_member(payload) {
        return format!("duplicate key `{}`", shorten(&key));
    }
    let problem = message.fields().find_map(|field| describe_field(&field, members.get(field.name)));
    // Every field is valid by itself, but not together with the others.
    problem.unwrap_or_else(|| error.to_string())
}

fn describe_field(field: &FieldSchema<'_>, value: Option<&Json>) -> Option<String> {
    let name = field.name;
    let Some(value) = value.filter(|value| field.is_required || value.kind() != JsonKind::Null) else {
        return field.is_required.then(|| format!("`{name}` is missing"));
    };
    if field.accepts(value) {
        return None;
    }
    let found = if field.has_kind(value.kind()) { "this" } else { value.kind().described() };
    Some(format!("`{name}` must be {}, not {found}", field.described()))
}

/// Returns the beginning of a text, for an error message.
pub(super) fn shorten(text: &str) -> String {
    if text.chars().count() <= 80 { text.to_owned() } else { text.chars().take(80).chain(['…']).collect() }
}
