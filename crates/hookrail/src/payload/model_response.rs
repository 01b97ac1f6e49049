//! A model's response, as text.

use super::parts::{content_of_texts, is_call, list, object, parts_of, text_of_part, text_of_parts};
use crate::json::{Json, JsonObject};

/// A model's response as text, in the form that the neutral field `llm_response` and outcomes carry.
///
/// ```
/// use hookrail::payload::ModelResponse;
///
/// let response = ModelResponse::of_text("done");
/// assert_eq!(response.text(), "done");
/// ```
#[derive(Clone, Debug)]
pub struct ModelResponse(Json);

impl ModelResponse {
    /// Reads a response; none when it has neither `text` nor `candidates`.
    #[must_use]
    pub fn read(response: &Json) -> Option<Self> {
        response_with_text_and_candidates(response).map(Self)
    }

    /// A response that consists of this text.
    #[must_use]
    pub fn of_text(text: &str) -> Self {
        let candidate =
            object([("content", content_of_texts("model", &[text])), ("finishReason", Json::string("STOP"))]);
        Self(object([("text", Json::string(text)), ("candidates", list([candidate]))]))
    }

    /// The text of the first candidate.
    #[must_use]
    pub fn text(&self) -> String {
        self.0.as_object().and_then(|members| members.get("text")?.as_str()).unwrap_or_default()
    }

    /// The response with `text` and `candidates`.
    #[must_use]
    pub fn to_json(&self) -> Json {
        self.0.clone()
    }
}

/// Returns the response with both `text` and `candidates`: one is made from the other, and `candidates` counts if they
/// differ. Returns `None` if the response has neither.
pub(crate) fn response_with_text_and_candidates(response: &Json) -> Option<Json> {
    with_text_and_candidates(response, ToolCalls::LeftOut)
}

/// Returns the response that a hook gives, with both `text` and `candidates`. The tool calls in it are kept: a hook may
/// change what the model calls, and answer with calls in the place of the model.
pub(crate) fn answered_response(response: &Json) -> Option<Json> {
    with_text_and_candidates(response, ToolCalls::Kept)
}

/// The response as hooks know it: `text`, `candidates`, `usageMetadata`, and text only.
pub(crate) fn shown_response(response: &Json) -> Json {
    let Some(object) = response_with_text_and_candidates(response).and_then(|response| response.as_object()) else {
        return response.clone();
    };
    let known = ["text", "candidates", "usageMetadata"];
    let shown = object.iter().filter(|(key, _)| known.contains(key));
    shown.map(|(key, value)| (key, value.clone())).collect::<JsonObject>().to_json()
}

/// Whether an answered response has parts that are neither text nor a tool call. They have no effect.
pub(crate) fn has_other_parts(response: &Json) -> bool {
    let candidates = response.as_object().and_then(|response| response.get("candidates")?.as_array());
    let contents =
        candidates.unwrap_or_default().into_iter().filter_map(|one| one.as_object()?.get("content").cloned());
    contents.flat_map(|content| parts_of(&content)).any(|part| text_of_part(&part).is_none() && !is_call(&part))
}

/// What happens to the tool calls of a response. Hooks are told the text only.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ToolCalls {
    Kept,
    LeftOut,
}

fn with_text_and_candidates(response: &Json, calls: ToolCalls) -> Option<Json> {
    let mut members = response.as_object()?;
    let candidates = members.get("candidates").and_then(Json::as_array).filter(|list| !list.is_empty());
    if let Some(candidates) = candidates {
        let plain: Vec<Json> =
            candidates.iter().enumerate().map(|(at, candidate)| plain_candidate(candidate, at, calls)).collect();
        let text = plain.first().and_then(candidate_text).unwrap_or_default();
        set_first(&mut members, "text", Json::string(&text));
        members.set("candidates", list(plain));
        return Some(members.to_json());
    }
    let text = members.get("text").and_then(Json::as_str)?;
    members.set("candidates", list([candidate_of_text(&text)]));
    Some(members.to_json())
}

/// The candidate with this text in the place of its texts. Its tool calls follow.
pub(crate) fn candidate_with_text(candidate: Option<&Json>, text: &str) -> Json {
    match candidate.and_then(Json::as_object) {
        Some(mut members) => {
            let calls = members.get("content").map(parts_of).unwrap_or_default().into_iter().filter(is_call);
            let parts = list(std::iter::once(Json::string(text)).chain(calls));
            members.set("content", object([("role", Json::string("model")), ("parts", parts)]));
            members.to_json()
        }
        None => candidate_of_text(text),
    }
}

/// A candidate with its parts as strings and its safety ratings reduced to what is documented.
fn plain_candidate(candidate: &Json, at: usize, calls: ToolCalls) -> Json {
    let Some(mut members) = candidate.as_object() else {
        return candidate.as_str().map_or_else(|| candidate.clone(), |text| candidate_of_text(&text));
    };
    let parts = members.get("content").map(parts_of).unwrap_or_default();
    let plain = parts.iter().filter_map(|part| match text_of_part(part) {
        Some(text) => Some(Json::string(&text)),
        None => (calls == ToolCalls::Kept && is_call(part)).then(|| part.clone()),
    });
    members.set("content", object([("role", Json::string("model")), ("parts", list(plain))]));
    if members.get("index").is_none() {
        members.set("index", Json::from(serde_json::Value::from(at)));
    }
    if let Some(ratings) = members.get("safetyRatings").and_then(Json::as_array) {
        members.set("safetyRatings", list(ratings.iter().map(plain_rating)));
    }
    members.to_json()
}

fn plain_rating(rating: &Json) -> Json {
    match rating.as_object() {
        Some(mut members) => {
            members.remove("blocked");
            members.to_json()
        }
        None => rating.clone(),
    }
}

fn candidate_text(candidate: &Json) -> Option<String> {
    let content = candidate.as_object()?.get("content")?.as_object()?;
    Some(text_of_parts(content.get("parts")?).unwrap_or_default())
}

fn candidate_of_text(text: &str) -> Json {
    let index = Json::from(serde_json::Value::from(0));
    object([("content", content_of_texts("model", &[text])), ("finishReason", Json::string("STOP")), ("index", index)])
}

/// Sets a member. A new member becomes the first one.
fn set_first(members: &mut JsonObject, key: &str, value: Json) {
    if members.get(key).is_some() {
        members.set(key, value);
        return;
    }
    let mut ordered = JsonObject::new();
    ordered.set(key, value);
    ordered.merge(members);
    *members = ordered;
}
