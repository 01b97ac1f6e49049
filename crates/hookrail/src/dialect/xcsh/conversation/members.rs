//! Members of messages, by which every part of this folder reads them.

use crate::json::Json;
use crate::payload::object;

pub(super) fn member(value: &Json, key: &str) -> Option<Json> {
    value.as_object()?.get(key).cloned()
}

pub(super) fn text_member(value: &Json, key: &str) -> Option<String> {
    member(value, key)?.as_str()
}

pub(super) fn role(message: &Json) -> String {
    text_member(message, "role").unwrap_or_else(|| "user".to_owned())
}

pub(super) fn is_system(message: &Json) -> bool {
    matches!(role(message).as_str(), "system" | "developer")
}

/// The content of a message as a list of blocks.
pub(super) fn blocks_of(message: &Json) -> Vec<Json> {
    match member(message, "content") {
        Some(content) => match content.as_str() {
            Some(text) => vec![text_block(&text)],
            None => content.as_array().unwrap_or_default(),
        },
        None => Vec::new(),
    }
}

pub(super) fn text_block(text: &str) -> Json {
    object([("type", Json::string("text")), ("text", Json::string(text))])
}
