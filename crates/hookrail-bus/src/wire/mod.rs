//! Messages as text: one JSON object with `type` and `payload`.
//!
//! The payloads are derived from the types in `message`. What is read here is the object around them, and what is wrong
//! with text that is no message.

pub(crate) mod field;
mod fit;
mod keys;
mod name;
mod problem;

use std::fmt;
use std::marker::PhantomData;

use hookrail::JsonObject;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::{BusError, ErrorCode};
use crate::message::{Contract, Response, ResponsePayload};
use crate::transport::Refusal;

pub(crate) use keys::NotedKeys;
use keys::Text;
pub(crate) use name::NameScanner;

/// A payload that can be written.
pub(crate) trait Payload {
    /// The message of this type with this payload, without a line end. An answer is cut to so many bytes; nothing else has
    /// parts that could be left out.
    fn line(&self, kind: &str, limit: usize) -> String;
}

impl<T: Serialize> Payload for T {
    fn line(&self, kind: &str, _limit: usize) -> String {
        written(kind, self)
    }
}

impl Payload for Response {
    fn line(&self, kind: &str, limit: usize) -> String {
        fit::fitting(self, limit, |result| written(kind, &payload(self, result)))
    }
}

fn written(kind: &str, payload: &impl Serialize) -> String {
    #[derive(Serialize)]
    struct Envelope<'a, T> {
        r#type: &'a str,
        payload: &'a T,
    }
    // Nothing in a message has a form that JSON lacks: keys are text, and a number that is not finite is written as null.
    serde_json::to_string(&Envelope { r#type: kind, payload }).unwrap_or_default()
}

fn payload(response: &Response, result: Result<&fit::Parts, &BusError>) -> ResponsePayload {
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
    }
}

/// The message in a text, or why the text is not a message.
pub(crate) fn decode<M: Contract>(text: &[u8]) -> Result<M, Refusal> {
    let Ok(text) = std::str::from_utf8(text) else {
        let error = BusError::invalid("the line is not UTF-8");
        return Err(Refusal { correlation_id: NameScanner::name_in(text), error });
    };
    match decode_in_one_pass(text) {
        Some(message) => Ok(message),
        None => decode_in_steps(text),
    }
}

/// The message in a text whose `type` comes before its `payload`, as all clients write it. None for every other text, and
/// for every text that is no message; a long one is not gone over twice before it is used.
fn decode_in_one_pass<M: Contract>(text: &str) -> Option<M> {
    let mut json = serde_json::Deserializer::from_str(text);
    let message = json.deserialize_map(MessageVisitor(PhantomData)).ok()?;
    json.end().ok()?;
    Some(message)
}

struct MessageVisitor<M>(PhantomData<M>);

impl<'de, M: Contract> Visitor<'de> for MessageVisitor<M> {
    type Value = M;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<M, A::Error> {
        let (mut kind, mut message) = (None, None);
        while let Some(Text(key)) = map.next_key::<Text<'de>>()? {
            match (&*key, &kind, &message) {
                ("type", None, _) => kind = Some(map.next_value::<Text<'de>>()?),
                ("payload", Some(kind), None) => message = Some(map.next_value_seed(PayloadSeed::new(&kind.0))?),
                ("type" | "payload", ..) => return Err(A::Error::custom("in another order, or twice")),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        message.ok_or_else(|| A::Error::custom("no payload"))
    }
}

/// Reads the payload of a message of this type.
struct PayloadSeed<'a, M> {
    kind: &'a str,
    message: PhantomData<M>,
}

impl<'a, M> PayloadSeed<'a, M> {
    fn new(kind: &'a str) -> Self {
        Self { kind, message: PhantomData }
    }
}

impl<'de, M: Contract> DeserializeSeed<'de> for PayloadSeed<'_, M> {
    type Value = M;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<M, D::Error> {
        let mut repeated = None;
        let message = M::read(self.kind, NotedKeys::new(deserializer, &mut repeated))?;
        match (message, repeated) {
            (Some(message), None) => Ok(message),
            (None, _) => Err(D::Error::custom("no message has this type")),
            (Some(_), Some(_)) => Err(D::Error::custom("duplicate key")),
        }
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Option<&'a RawValue>,
    #[serde(borrow, default)]
    payload: Option<&'a RawValue>,
}

/// The same for any text, with what is wrong in words.
fn decode_in_steps<M: Contract>(text: &str) -> Result<M, Refusal> {
    let (kind, payload) = open(text)?;
    let Some(known) = M::kinds().iter().find(|known| known.name == kind) else {
        let message = format!("no message has the type `{}`", shortened(&kind));
        let error = BusError::new(ErrorCode::UnsupportedType, message);
        return Err(Refusal { correlation_id: payload.and_then(name_in), error });
    };
    let payload_text = match payload {
        Some(payload) => payload.get(),
        // A message that need not say anything may leave out its payload.
        None if !known.has_required_fields() => "{}",
        None => return Err(Refusal::new(BusError::invalid("`payload` is missing"))),
    };
    let mut json = serde_json::Deserializer::from_str(payload_text);
    PayloadSeed::new(&kind).deserialize(&mut json).map_err(|error| Refusal {
        correlation_id: payload.and_then(name_in),
        error: BusError::invalid(problem::of_payload(known, payload_text, &error)),
    })
}

/// The type and the payload of a message.
fn open(text: &str) -> Result<(String, Option<&RawValue>), Refusal> {
    if !text.trim_start().starts_with('{') {
        return Err(Refusal::new(BusError::invalid("the line is not a JSON object")));
    }
    let envelope: Envelope<'_> = serde_json::from_str(text).map_err(|error| Refusal {
        correlation_id: NameScanner::name_in(text.as_bytes()),
        error: BusError::invalid(format!("the line is not a JSON object: {error}")),
    })?;
    let problem = match envelope.kind {
        None => "`type` is missing",
        Some(kind) => match serde_json::from_str(kind.get()) {
            Ok(Value::String(kind)) => return Ok((kind, envelope.payload)),
            _ => "`type` must be a string",
        },
    };
    Err(Refusal { correlation_id: envelope.payload.and_then(name_in), error: BusError::invalid(problem) })
}

/// The name a payload has, whatever else is wrong with it.
fn name_in(payload: &RawValue) -> Option<String> {
    let members: JsonObject = serde_json::from_str(payload.get()).ok()?;
    members.get("correlationId")?.as_str().filter(|name| !name.is_empty())
}

/// Enough of a stranger's text to recognise it by.
fn shortened(text: &str) -> String {
    if text.chars().count() <= 80 { text.to_owned() } else { text.chars().take(80).chain(['…']).collect() }
}

#[cfg(test)]
mod tests;
