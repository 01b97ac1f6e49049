//! The JSON object a hook receives on standard input, and the way back from such an object to an event.

use std::path::Path;

use super::answer::Answer;
use super::model;
use crate::dialect::columns::event_named;
use crate::dialect::{DialectId, Reply};
use crate::event::{Event, EventError};
use crate::json::{Json, JsonObject, ObjectWriter};
use crate::run::RunInput;

/// The bytes for one hook. The links of a chain also see the answers so far.
pub(super) fn input(event: &Event, before: &[Reply<Answer>]) -> RunInput {
    let Some(column) = event.kind().spec().column(DialectId::Llxprt) else {
        return JsonObject::new().to_shared_bytes().into();
    };
    let mut payload = ObjectWriter::new();
    payload.text("session_id", event.session_id());
    payload.text("transcript_path", event.transcript_path());
    payload.text("cwd", &event.cwd().to_string_lossy());
    payload.text("hook_event_name", column.name);
    payload.text("timestamp", event.timestamp());
    for field in column.fields {
        if let Some(value) = event.field_or_empty(field) {
            payload.value(field.name, field_on_stdin(field.name, &value));
        }
    }
    if !before.is_empty() {
        let outputs: Vec<Json> = before.iter().filter_map(|reply| reply.answer.as_ref()).map(Answer::to_json).collect();
        payload.value("previous_outputs", Json::of(&outputs).unwrap_or_else(|_| Json::null()));
    }
    payload.finish().into()
}

/// The object a hook of this dialect receives for an event. Empty when the dialect does not have the event.
#[must_use]
pub fn payload_of_event(event: &Event) -> Json {
    let text = input(event, &[]);
    Json::parse(&String::from_utf8_lossy(&text)).unwrap_or_else(|_| Json::empty_object())
}

/// The event behind an object that a host of this dialect would give its hooks.
///
/// # Errors
/// When the object is not one, names no event of this dialect, or has a field of the wrong type.
pub fn event_of_payload(payload: &Json) -> Result<Option<Event>, EventError> {
    let object = payload.as_object().ok_or(EventError::NotAnObject { found: payload.kind() })?;
    let name = object.get("hook_event_name").and_then(Json::as_str).unwrap_or_default();
    match event_named(DialectId::Llxprt, &name) {
        Some(kind) => Event::new(kind, Path::new("")).with_payload(payload).map(Some),
        None => Ok(None),
    }
}

/// A field in this dialect's own words.
pub(super) fn field_on_stdin(name: &str, value: &Json) -> Json {
    match name {
        "llm_request" => model::request_on_stdin(value),
        "llm_response" => model::response_on_stdin(value),
        "trigger" => compression_trigger(value),
        _ => value.clone(),
    }
}

/// Compression that the agent started by itself is `auto` here, whatever another dialect calls it.
fn compression_trigger(value: &Json) -> Json {
    match value.as_str().as_deref() {
        Some("proactive" | "reactive") => Json::string("auto"),
        _ => value.clone(),
    }
}
