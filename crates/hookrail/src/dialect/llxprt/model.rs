//! The two views of a model request and response that hooks of this dialect receive. Both always agree.
//!
//! A hook receives both in one object: `messages`, `config`, `toolConfig`, and `contents`, `systemInstruction`,
//! `generationConfig`. It may answer in either. Parts that are not text are not shown to hooks.

use crate::json::{Json, JsonKind, JsonObject};
use crate::payload::{
    ModelMessage, ModelRequest, ModelRole, answered_response, candidate_with_text, content_of_texts, list,
    response_with_text_and_candidates, shown_response,
};

/// What a hook's answer changes of the request it was sent.
#[derive(Debug, Default)]
pub(super) struct RequestChange {
    model: Option<Json>,
    messages: Option<Vec<ModelMessage>>,
    /// Settings by key; one that is null is taken away.
    config: Vec<(String, Json)>,
    tool_config: Option<Json>,
}

/// The request as hooks know it: `model`, `messages`, `config`, `toolConfig`.
#[must_use]
pub fn to_hook_request(request: &Json) -> Json {
    ModelRequest::read(request).without_others().to_json()
}

/// The response as hooks know it: `text`, `candidates`, `usageMetadata`, and text only.
#[must_use]
pub fn to_hook_response(response: &Json) -> Json {
    shown_response(response)
}

/// Works out what an answer changes. Of the two views the one that differs from what was sent counts, and the first
/// where both differ.
pub(super) fn request_change(sent: &Json, answer: &Json) -> RequestChange {
    let mut change = RequestChange::default();
    let Some(answer) = answer.as_object() else { return change };
    let old = ModelRequest::read(sent);
    let sent = both_views(&old);
    let differs = |key: &str| answer.get(key).filter(|value| sent.get(key).is_none_or(|sent| !sent.same_as(value)));
    change.model = differs("model").filter(|model| model.kind() == JsonKind::String).cloned();
    change.tool_config = differs("toolConfig").filter(|tools| tools.kind() == JsonKind::Object).cloned();
    change.messages = changed_messages(&old, differs("messages"), differs("contents"), differs("systemInstruction"));
    for key in ["generationConfig", "config"] {
        let known = sent.get(key).and_then(Json::as_object).unwrap_or_default();
        for (name, value) in differs(key).and_then(Json::as_object).unwrap_or_default().iter() {
            if known.get(name).is_none_or(|known| !known.same_as(value)) {
                change.config.retain(|(earlier, _)| earlier != name);
                change.config.push((name.to_owned(), value.clone()));
            }
        }
    }
    change
}

impl RequestChange {
    /// The current request with the change, in the first view; none when nothing is different.
    pub(super) fn apply(&self, current: &Json) -> Option<Json> {
        let old = ModelRequest::read(current);
        let mut new = old.clone();
        new.model = self.model.clone().or(new.model);
        new.tool_config = self.tool_config.clone().or(new.tool_config);
        if let Some(messages) = &self.messages {
            new.messages.clone_from(messages);
        }
        for (name, value) in &self.config {
            if value.kind() == JsonKind::Null {
                new.config.remove(name);
            } else {
                new.config.set(name.clone(), value.clone());
            }
        }
        let request = new.to_json();
        (!request.same_as(&old.to_json())).then_some(request)
    }

    /// The fields that change, with their new values.
    pub(super) fn fields(&self) -> Vec<(String, Json)> {
        let mut fields = Vec::new();
        fields.extend(self.model.clone().map(|model| ("llm_request.model".to_owned(), model)));
        fields.extend(self.tool_config.clone().map(|tools| ("llm_request.toolConfig".to_owned(), tools)));
        fields.extend(
            self.messages
                .as_ref()
                .map(|messages| ("llm_request.messages".to_owned(), ModelRequest::message_list(messages))),
        );
        fields.extend(self.config.iter().map(|(name, value)| (format!("llm_request.config.{name}"), value.clone())));
        fields
    }
}

/// Removes what cannot be understood from an answered request, and says what that was.
pub(super) fn sanitize_request(answer: &mut JsonObject) -> Vec<String> {
    let mut wrong = Vec::new();
    for (key, value) in answer.clone().iter() {
        let problem = match key {
            "model" if value.kind() != JsonKind::String => Some("must be a string"),
            "config" | "generationConfig" | "toolConfig" if value.kind() != JsonKind::Object => {
                Some("must be an object")
            }
            "messages" | "contents" if value.as_array().is_none() => Some("must be a list"),
            "messages" if unreadable(value, |entry| ModelMessage::read(entry).is_some()) => {
                Some("holds no readable message")
            }
            "contents" if unreadable(value, |entry| ModelMessage::read_content(entry).is_some()) => {
                Some("holds no text")
            }
            "systemInstruction" if ModelMessage::read_content(value).is_none() => Some("holds no text"),
            _ => None,
        };
        if let Some(problem) = problem {
            answer.remove(key);
            wrong.push(format!("`hookSpecificOutput.llm_request.{key}` {problem}; it was left out"));
        }
    }
    wrong
}

/// Whether a list that is not empty has nothing in it that can be read.
fn unreadable(list: &Json, readable: impl Fn(&Json) -> bool) -> bool {
    list.as_array().is_some_and(|list| !list.is_empty() && !list.iter().any(readable))
}

/// The request with the members of both views. Members that neither view has are not shown to hooks.
pub(super) fn both_views(request: &ModelRequest) -> JsonObject {
    let mut view = request.clone().without_others().to_object();
    let is_system = |message: &&ModelMessage| message.role == ModelRole::System;
    let (system, rest): (Vec<_>, Vec<_>) = request.messages.iter().partition(is_system);
    view.set("contents", list(rest.iter().map(|message| content_of_texts(message.role.name(), &[&message.text]))));
    if !system.is_empty() {
        let texts: Vec<&str> = system.iter().map(|message| message.text.as_str()).collect();
        view.set("systemInstruction", content_of_texts("system", &texts));
    }
    if !request.config.is_empty() {
        view.set("generationConfig", request.config.to_json());
    }
    view
}

/// The messages an answer asks for. An empty list means no change: no hook means to erase the conversation.
fn changed_messages(
    request: &ModelRequest,
    messages: Option<&Json>,
    contents: Option<&Json>,
    system: Option<&Json>,
) -> Option<Vec<ModelMessage>> {
    let not_empty = |list: &&Json| list.as_array().is_some_and(|list| !list.is_empty());
    if let Some(messages) = messages.filter(not_empty).and_then(Json::as_array) {
        return Some(messages.iter().filter_map(ModelMessage::read).collect());
    }
    let contents = contents.filter(not_empty);
    let system = system.and_then(ModelMessage::read_system);
    if contents.is_none() && system.is_none() {
        return None;
    }
    let is_system = |message: &ModelMessage| message.role == ModelRole::System;
    let (old_system, old_rest): (Vec<_>, Vec<_>) = request.messages.iter().cloned().partition(is_system);
    let mut messages = system.map_or(old_system, |system| vec![system]);
    messages.extend(contents.map_or(old_rest, ModelMessage::read_contents));
    Some(messages)
}

/// Whether a response was made from the answer of a hook: only those have bare texts beside the calls of tools.
fn is_answer(response: &Json) -> bool {
    let candidates = response.as_object().and_then(|response| response.get("candidates")?.as_array());
    let content = |candidate: &Json| candidate.as_object()?.get("content")?.as_object()?.get("parts")?.as_array();
    let mut parts = candidates.iter().flatten().filter_map(content).flatten();
    parts.all(|part| part.as_str().is_some() || part.as_object().is_some_and(|part| part.get("text").is_none()))
}

/// Lays a hook's partial response over the current one; none when nothing is different.
pub(super) fn apply_to_response(current: &Json, change: &Json) -> Option<Json> {
    let change = change.as_object()?;
    let sent = response_with_text_and_candidates(current).and_then(|sent| sent.as_object()).unwrap_or_default();
    let mut new = sent.clone();
    // The calls that an earlier hook gave stay. Those of the model stay in the host's own response, which hooks do not see.
    let kept = is_answer(current).then(|| answered_response(current)).flatten().and_then(|kept| kept.as_object());
    let kept = kept.unwrap_or_else(|| sent.clone()).get("candidates").and_then(Json::as_array).unwrap_or_default();
    for (key, value) in change.iter().filter(|(key, _)| !matches!(*key, "text" | "candidates")) {
        new.set(key, value.clone());
    }
    let differs = |key: &str| change.get(key).filter(|value| sent.get(key).is_none_or(|sent| !sent.same_as(value)));
    let candidates = differs("candidates").filter(|list| list.as_array().is_some_and(|list| !list.is_empty()));
    if let Some(candidates) = candidates {
        new.set("candidates", candidates.clone());
    } else if let Some(text) = differs("text").and_then(Json::as_str) {
        let first = candidate_with_text(kept.first(), &text);
        new.set("candidates", list(std::iter::once(first).chain(kept.into_iter().skip(1))));
    }
    let new = answered_response(&new.to_json()).unwrap_or_else(|| new.to_json());
    (!new.same_as(&sent.to_json())).then_some(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request_on_stdin(request: &Json) -> Json {
        both_views(&ModelRequest::read(request)).to_json()
    }

    fn json(text: &str) -> Json {
        Json::parse(text).unwrap()
    }

    #[test]
    fn a_hook_receives_both_views() {
        let sent = request_on_stdin(&json(
            r#"{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}],"config":{"topK":3},"tools":[1]}"#,
        ));
        assert_eq!(
            sent.text(),
            r#"{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}],"config":{"topK":3},"contents":[{"role":"user","parts":["u"]}],"systemInstruction":{"role":"system","parts":["s"]},"generationConfig":{"topK":3}}"#
        );
    }

    #[test]
    fn the_second_view_gives_the_first_and_drops_what_is_not_text() {
        let sent = request_on_stdin(&json(
            r#"{"contents":[{"role":"assistant","parts":["a",{"text":"b"},{"functionCall":{}}]},{"role":"user","parts":[{"inlineData":{}}]},null,"x"],"generationConfig":{"topP":1.0}}"#,
        ));
        let object = sent.as_object().unwrap();
        assert_eq!(
            object.get("messages").unwrap().text(),
            r#"[{"role":"model","content":"ab"},{"role":"user","content":"x"}]"#
        );
        assert_eq!(object.get("config").unwrap().text(), r#"{"topP":1.0}"#);
    }

    #[test]
    fn an_answer_in_either_view_counts_and_the_first_wins_where_both_differ() {
        let current = json(r#"{"model":"m","messages":[{"role":"user","content":"u"}],"config":{"temperature":1.0}}"#);
        let check = |answer: &str, expected: &str| {
            let applied = request_change(&current, &json(answer)).apply(&current).unwrap();
            assert_eq!(applied.text(), expected, "{answer}");
        };
        check(
            r#"{"contents":[{"role":"user","parts":[{"text":"v"}]}]}"#,
            r#"{"model":"m","messages":[{"role":"user","content":"v"}],"config":{"temperature":1.0}}"#,
        );
        check(
            r#"{"messages":[{"role":"user","content":"w"}],"contents":[{"role":"user","parts":["v"]}],"config":{"topK":2}}"#,
            r#"{"model":"m","messages":[{"role":"user","content":"w"}],"config":{"temperature":1.0,"topK":2}}"#,
        );
        check(
            r#"{"messages":[{"role":"user","content":"u"}],"contents":[{"role":"user","parts":["v"]}]}"#,
            r#"{"model":"m","messages":[{"role":"user","content":"v"}],"config":{"temperature":1.0}}"#,
        );
        check(
            r#"{"systemInstruction":{"role":"system","parts":["s"]}}"#,
            r#"{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}],"config":{"temperature":1.0}}"#,
        );
    }

    #[test]
    fn no_messages_and_an_echo_mean_no_change() {
        let current = json(r#"{"messages":[{"role":"user","content":"u"}],"config":{"topK":3}}"#);
        for change in [json(r#"{"messages":[]}"#), json("{}"), request_on_stdin(&current)] {
            assert!(request_change(&current, &change).apply(&current).is_none(), "{change:?}");
        }
    }

    #[test]
    fn text_and_candidates_stay_in_step() {
        assert_eq!(
            response_with_text_and_candidates(&json(r#"{"text":"t"}"#)).unwrap().text(),
            r#"{"text":"t","candidates":[{"content":{"role":"model","parts":["t"]},"finishReason":"STOP","index":0}]}"#
        );
        let current = json(r#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"MAX_TOKENS"}]}"#);
        assert_eq!(
            apply_to_response(&current, &json(r#"{"text":"b"}"#)).unwrap().text(),
            r#"{"text":"b","candidates":[{"content":{"role":"model","parts":["b"]},"finishReason":"MAX_TOKENS","index":0}]}"#
        );
        assert!(apply_to_response(&current, &json(r#"{"text":"a"}"#)).is_none());
    }
}
