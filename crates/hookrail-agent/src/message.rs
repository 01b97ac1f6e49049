//! The messages of a conversation: `{"role", "parts"}`, where a part is text, a tool call or a tool's result.
//!
//! This module knows that shape and nothing of models, sessions or hooks.

use hookrail::{Json, JsonKind, JsonObject};

/// Makes an object of these members.
pub(crate) fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    members.into_iter().collect::<JsonObject>().to_json()
}

/// Makes a list of these values.
pub(crate) fn list(values: &[Json]) -> Json {
    Json::of(values).unwrap_or_else(|_| Json::null())
}

/// Makes a number.
pub(crate) fn number(value: u64) -> Json {
    Json::of(&value).unwrap_or_else(|_| Json::null())
}

/// Makes a message that is one text.
pub(crate) fn text_message(role: &str, text: &str) -> Json {
    message(role, &[object([("text", Json::string(text))])])
}

/// Makes a message of these parts.
pub(crate) fn message(role: &str, parts: &[Json]) -> Json {
    object([("role", Json::string(role)), ("parts", list(parts))])
}

/// Returns the texts of a message, joined.
pub(crate) fn text_of(message: &Json) -> String {
    let parts = message.as_object().and_then(|message| message.get("parts")?.as_array()).unwrap_or_default();
    parts.iter().filter_map(part_text).collect()
}

/// Returns the text of a module's `content`: a text, or a list of parts of which some are texts.
pub(crate) fn content_text(content: &Json) -> String {
    content.as_str().unwrap_or_else(|| {
        let parts = content.as_array().unwrap_or_default();
        let texts = parts.into_iter().filter_map(|part| part.as_object()?.get("text")?.as_str());
        texts.collect::<Vec<_>>().join("\n")
    })
}

/// Returns whether a message is a text that the user wrote, and not a tool's result or a model's answer.
pub(crate) fn is_prompt(message: &Json) -> bool {
    let role = message.as_object().and_then(|message| message.get("role")?.as_str());
    role.as_deref() == Some("user") && !text_of(message).is_empty()
}

/// Returns the text of a part. Some responses that hooks make have plain strings as parts.
fn part_text(part: &Json) -> Option<String> {
    part.as_str().or_else(|| part.as_object()?.get("text")?.as_str())
}

/// A tool call as the model wrote it.
#[derive(Clone, Debug)]
pub(crate) struct RequestedCall {
    pub(crate) id: String,
    pub(crate) name: String,
    /// The arguments, or why they cannot be read.
    pub(crate) args: Result<Json, String>,
}

/// A model's response, split into its parts.
#[derive(Clone, Debug)]
pub(crate) struct ModelReply {
    /// The message to keep.
    pub(crate) message: Json,
    pub(crate) text: String,
    pub(crate) calls: Vec<RequestedCall>,
    pub(crate) usage: TokenUsage,
}

impl ModelReply {
    /// Reads a response. A call without an ID gets one that begins with `prefix`.
    pub(crate) fn read(response: &Json, prefix: &str) -> Self {
        let response = response.as_object().unwrap_or_default();
        let first = response.get("candidates").and_then(Json::as_array).and_then(|all| all.into_iter().next());
        let content = first.and_then(|candidate| candidate.as_object()?.get("content")?.as_object());
        let parts = match content.and_then(|content| content.get("parts")?.as_array()) {
            Some(parts) => parts,
            None => response.get("text").cloned().into_iter().collect(),
        };
        let (mut kept, mut calls, mut text) = (Vec::new(), Vec::new(), String::new());
        for part in parts {
            if let Some(piece) = part_text(&part) {
                text.push_str(&piece);
                if !piece.is_empty() {
                    kept.push(object([("text", Json::string(&piece))]));
                }
                continue;
            }
            match part.as_object().and_then(|part| part.get("functionCall")?.as_object()) {
                Some(call) => {
                    let id = format!("{prefix}-{}", calls.len() + 1);
                    let (call, part) = read_call(&call, id);
                    calls.push(call);
                    kept.push(part);
                }
                None => kept.push(part),
            }
        }
        let usage = response.get("usageMetadata").map(TokenUsage::read).unwrap_or_default();
        Self { message: message("model", &kept), text, calls, usage }
    }

    /// Returns whether the reply has neither text nor calls.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.calls.is_empty()
    }
}

fn read_call(call: &JsonObject, default_id: String) -> (RequestedCall, Json) {
    let text = |name: &str| call.get(name).and_then(Json::as_str);
    let id = text("id").filter(|id| !id.is_empty()).unwrap_or(default_id);
    let name = text("name").unwrap_or_default();
    let args = match (call.get("args"), text("argsText")) {
        (_, Some(raw)) => Json::parse(&raw).map_err(|error| error.to_string()),
        (Some(args), None) => Ok(args.clone()),
        (None, None) => Ok(Json::empty_object()),
    };
    let args = args.and_then(|args| match args.kind() {
        JsonKind::Object => Ok(args),
        other => Err(format!("they must be an object, not {}", other.described())),
    });
    let mut kept = call.clone();
    kept.set("id", Json::string(&id));
    (RequestedCall { id, name, args }, object([("functionCall", kept.to_json())]))
}

/// Makes the part with which the model reads a tool's result.
pub(crate) fn tool_response(call: &RequestedCall, content: &Json, failed: bool) -> Json {
    let key = if failed { "error" } else { "output" };
    let response = object([(key, content.clone())]);
    let inner = object([("id", Json::string(&call.id)), ("name", Json::string(&call.name)), ("response", response)]);
    object([("functionResponse", inner)])
}

/// Returns the tool calls of a message.
pub(crate) fn calls_of(message: &Json) -> Vec<RequestedCall> {
    let parts = message.as_object().and_then(|message| message.get("parts")?.as_array()).unwrap_or_default();
    let calls = parts.iter().filter_map(|part| part.as_object()?.get("functionCall")?.as_object());
    calls.map(|call| read_call(&call, String::new()).0).collect()
}

/// Returns whether a message holds results of tools.
pub(crate) fn has_results(message: &Json) -> bool {
    let parts = message.as_object().and_then(|message| message.get("parts")?.as_array()).unwrap_or_default();
    parts.iter().any(|part| part.as_object().is_some_and(|part| part.get("functionResponse").is_some()))
}

/// The tokens that model calls used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TokenUsage {
    input: u64,
    output: u64,
    total: u64,
}

impl TokenUsage {
    /// Reads the `usageMetadata` of a response.
    pub(crate) fn read(usage: &Json) -> Self {
        let usage = usage.as_object().unwrap_or_default();
        let count = |name: &str| usage.get(name).and_then(Json::decode::<u64>).unwrap_or(0);
        let (input, output) = (count("promptTokenCount"), count("candidatesTokenCount"));
        Self { input, output, total: count("totalTokenCount").max(input + output) }
    }

    /// Adds what another call used.
    pub(crate) fn add(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.total += other.total;
    }

    /// Returns the usage with the names of the neutral events.
    pub(crate) fn to_json(self) -> Json {
        object([
            ("inputTokens", number(self.input)),
            ("outputTokens", number(self.output)),
            ("totalTokens", number(self.total)),
        ])
    }

    /// Returns the usage as messages of modules have it. A scripted model has no cache and costs nothing.
    pub(crate) fn to_module_json(self) -> Json {
        let zero = || number(0);
        let cost = object([
            ("input", zero()),
            ("output", zero()),
            ("cacheRead", zero()),
            ("cacheWrite", zero()),
            ("total", zero()),
        ]);
        object([
            ("input", number(self.input)),
            ("output", number(self.output)),
            ("cacheRead", zero()),
            ("cacheWrite", zero()),
            ("totalTokens", number(self.total)),
            ("cost", cost),
        ])
    }
}

/// Estimates the tokens of a value: four bytes each. Only a provider knows the exact number.
pub(crate) fn tokens(value: &Json) -> u64 {
    value.text().len() as u64 / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_taken_apart_in_every_shape() {
        let json = |text: &str| Json::parse(text).unwrap();
        let reply = ModelReply::read(
            &json(
                r#"{"candidates":[{"content":{"parts":[{"text":"a"},"b",{"functionCall":{"name":"t","args":{"n":1.0}}},{"functionCall":{"name":"u","id":"x","argsText":"{"}},{"inlineData":{}}]}}]}"#,
            ),
            "call-7",
        );
        assert_eq!(reply.text, "ab");
        assert_eq!(reply.calls[0].id, "call-7-1");
        assert_eq!(reply.calls[0].args.as_ref().unwrap().text(), r#"{"n":1.0}"#, "arguments keep their bytes");
        assert_eq!((reply.calls[1].id.as_str(), reply.calls[1].args.is_err()), ("x", true));
        assert!(reply.message.text().contains("inlineData"), "parts that are not text survive");
        assert_eq!(ModelReply::read(&json(r#"{"text":"only"}"#), "c").text, "only");
        assert!(ModelReply::read(&json(r#"{"text":""}"#), "c").is_empty());
        assert!(ModelReply::read(&Json::null(), "c").is_empty());
    }
}
