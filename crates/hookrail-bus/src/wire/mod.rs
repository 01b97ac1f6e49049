//! Messages as text: one JSON object with `type` and `payload`.
//!
//! The payloads are derived from the types in `payload`. This module reads and writes the object around them, shortens a
//! response that is too long, and describes what is wrong with a text that is not a message.

mod problem;
mod truncate;

use hookrail::JsonObject;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::correlation_id::CorrelationIdScanner;
use crate::error::{BusError, ErrorCode, MessageRefusal};
use crate::message_kind::MessageKind;
use crate::payload::{DuplicateKeyRecorder, Response, ResponsePayload};

/// The major version of the protocol. A client that requests a higher one is refused; one that requests none gets this.
pub const PROTOCOL: u64 = 1;

/// The longest line in bytes, without its line end.
pub const LINE_LIMIT: usize = 16 * 1024 * 1024;

/// The messages of one side of the protocol. No other crate can add messages.
pub trait Contract: Sized {
    /// The name of this side in file names.
    #[doc(hidden)]
    const SENDER: &'static str;

    /// Every message of this side.
    #[doc(hidden)]
    fn kinds() -> &'static [MessageKind];

    /// Reads the payload of a message of this type; returns `None` if no message has this type.
    #[doc(hidden)]
    fn read<'de, D: Deserializer<'de>>(kind: &str, payload: D) -> Result<Option<Self>, D::Error>;

    #[doc(hidden)]
    fn write(&self, limit: usize) -> String;
}

/// A payload that can be written.
pub(crate) trait Payload {
    /// Returns the message of this type with this payload, without a line end. An answer is cut to this many bytes; other
    /// messages have no parts that could be left out.
    fn line(&self, kind: &str, limit: usize) -> String;
}

impl<T: Serialize> Payload for T {
    fn line(&self, kind: &str, _limit: usize) -> String {
        write_message(kind, self)
    }
}

impl Payload for Response {
    fn line(&self, kind: &str, limit: usize) -> String {
        truncate::write_fitting(self, limit, |result| write_message(kind, &payload(self, result)))
    }
}

fn write_message(kind: &str, payload: &impl Serialize) -> String {
    #[derive(Serialize)]
    struct MessageEnvelope<'a, T> {
        r#type: &'a str,
        payload: &'a T,
    }
    // Every value in a message has a JSON form: keys are strings, and a number that is not finite is written as null.
    serde_json::to_string(&MessageEnvelope { r#type: kind, payload }).unwrap_or_default()
}

fn payload(response: &Response, result: Result<&truncate::ResponseParts, &BusError>) -> ResponsePayload {
    let correlation_id = response.correlation_id.clone();
    let (parts, error) = match result {
        Ok(parts) => (Some(parts), None),
        Err(error) => (None, Some(error.clone())),
    };
    ResponsePayload {
        correlation_id,
        success: parts.is_some(),
        error,
        output: parts.map(|parts| parts.output.clone()),
        outcome: parts.map(|parts| parts.outcome.clone()),
        truncated: parts.and_then(|parts| parts.truncated.then_some(true)),
        queued: parts.map(|_| response.queued),
        took: parts.map(|_| response.took),
        record: parts.and_then(|parts| parts.record.clone()),
    }
}

/// Decodes a message with its fields in any order, and describes what is wrong with any other text.
pub(crate) fn decode<M: Contract>(text: &[u8]) -> Result<M, MessageRefusal> {
    let Ok(text) = std::str::from_utf8(text) else {
        let error = BusError::invalid("the line is not UTF-8");
        return Err(MessageRefusal { correlation_id: CorrelationIdScanner::id_in(text), error });
    };
    let (kind, payload) = read_envelope(text)?;
    let Some(known) = M::kinds().iter().find(|known| known.name == kind) else {
        let message = format!("no message has the type `{}`", problem::shorten(&kind));
        let error = BusError::new(ErrorCode::UnsupportedType, message);
        return Err(MessageRefusal { correlation_id: payload.and_then(correlation_id_of), error });
    };
    let payload_text = match payload {
        Some(payload) => payload.get(),
        // A message without required fields may omit its payload.
        None if !known.has_required_fields() => "{}",
        None => return Err(MessageRefusal::new(BusError::invalid("`payload` is missing"))),
    };
    read_payload(&kind, payload_text).map_err(|error| MessageRefusal {
        correlation_id: payload.and_then(correlation_id_of),
        error: BusError::invalid(problem::describe_payload(known, payload_text, &error)),
    })
}

#[derive(Deserialize)]
struct MessageEnvelope<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Option<&'a RawValue>,
    #[serde(borrow, default)]
    payload: Option<&'a RawValue>,
}

/// Reads the payload of a message of this type.
fn read_payload<M: Contract>(kind: &str, payload: &str) -> Result<M, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_str(payload);
    let mut repeated = None;
    let message = M::read(kind, DuplicateKeyRecorder::new(&mut json, &mut repeated))?;
    match (message, repeated) {
        (Some(message), None) => Ok(message),
        (None, _) => Err(serde_json::Error::custom("no message has this type")),
        (Some(_), Some(_)) => Err(serde_json::Error::custom("duplicate key")),
    }
}

/// Returns the type and the payload of a message.
fn read_envelope(text: &str) -> Result<(String, Option<&RawValue>), MessageRefusal> {
    if !text.trim_start().starts_with('{') {
        return Err(MessageRefusal::new(BusError::invalid("the line is not a JSON object")));
    }
    let envelope: MessageEnvelope<'_> = serde_json::from_str(text).map_err(|error| MessageRefusal {
        correlation_id: CorrelationIdScanner::id_in(text.as_bytes()),
        error: BusError::invalid(format!("the line is not a JSON object: {error}")),
    })?;
    let problem = match envelope.kind {
        None => "`type` is missing",
        Some(kind) => match serde_json::from_str(kind.get()) {
            Ok(Value::String(kind)) => return Ok((kind, envelope.payload)),
            _ => "`type` must be a string",
        },
    };
    Err(MessageRefusal {
        correlation_id: envelope.payload.and_then(correlation_id_of),
        error: BusError::invalid(problem),
    })
}

/// Returns the correlation id of a payload, whatever else is wrong with it.
fn correlation_id_of(payload: &RawValue) -> Option<String> {
    let members: JsonObject = serde_json::from_str(payload.get()).ok()?;
    members.get("correlationId")?.as_str().filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests;
