//! What is wrong with a payload, in words that name the field. The schema knows what each field must be.

use hookrail::document::repeated_member;
use hookrail::{Json, JsonKind, JsonObject};

use super::shortened;
use crate::schema::{FieldSchema, MessageKind};

/// What is wrong with the payload of a message, which could not be read because of this error.
pub(super) fn of_payload(message: &MessageKind, payload: &str, error: &serde_json::Error) -> String {
    let Ok(members) = serde_json::from_str::<JsonObject>(payload) else {
        return "`payload` must be an object".to_owned();
    };
    if let Some(key) = repeated_member(payload) {
        return format!("duplicate key `{}`", shortened(&key));
    }
    let problem = message.fields().find_map(|field| of_field(&field, members.get(field.name)));
    // Every field is as the schema says, and they do not go together.
    problem.unwrap_or_else(|| error.to_string())
}

fn of_field(field: &FieldSchema<'_>, value: Option<&Json>) -> Option<String> {
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
