//! The two views of a model request and response, kept in step.
//!
//! A hook receives both in one object: `messages`, `config`, `toolConfig`, and `contents`, `systemInstruction`,
//! `generationConfig`. It may answer in either. Only text crosses this border: parts that are not text are not shown
//! to hooks.

use crate::json::{Json, JsonKind, JsonObject};

/// The keys of the two views; every other key of a request belongs to the host and is carried along untouched.
const KEYS: [&str; 7] =
    ["model", "messages", "config", "toolConfig", "contents", "systemInstruction", "generationConfig"];

/// One message as text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Message {
    role: String,
    content: String,
}

/// A request, taken apart.
#[derive(Clone, Debug, Default)]
struct Request {
    model: Option<Json>,
    messages: Vec<Message>,
    config: JsonObject,
    tool_config: Option<Json>,
    others: JsonObject,
}

/// What a hook's answer changes of the request it was sent.
#[derive(Debug, Default)]
pub(super) struct RequestChange {
    model: Option<Json>,
    messages: Option<Vec<Message>>,
    /// Settings by key; one that is null is taken away.
    config: Vec<(String, Json)>,
    tool_config: Option<Json>,
}

/// The request as a hook receives it.
pub(super) fn request_on_stdin(request: &Json) -> Json {
    Request::read(request).both_views().to_json()
}

/// The request in the first view alone.
pub(super) fn first_view(request: &Json) -> Json {
    let request = Request::read(request);
    Request { others: JsonObject::new(), ..request }.first_view().to_json()
}

/// Role and text of a message of the first view.
pub(super) fn role_and_text(message: &Json) -> Option<(String, String)> {
    read_message(message).map(|message| (message.role, message.content))
}

/// Role and text of an entry of the second view, when it has any text.
pub(super) fn role_and_text_of_content(entry: &Json) -> Option<(String, String)> {
    read_content(entry, None).map(|message| (message.role, message.content))
}

/// The text of an entry of the second view, when it has any.
pub(super) fn text_of_content(entry: &Json) -> Option<String> {
    read_content(entry, None).map(|message| message.content)
}

/// Whether a part is text.
pub(super) fn is_text(part: &Json) -> bool {
    text_of_part(part).is_some()
}

/// The response as a hook receives it: text only, with the metadata that is documented.
pub(super) fn response_on_stdin(response: &Json) -> Json {
    let Some(object) = response_in_step(response).and_then(|response| response.as_object()) else {
        return response.clone();
    };
    let known = ["text", "candidates", "usageMetadata"];
    object
        .iter()
        .filter(|(key, _)| known.contains(key))
        .map(|(key, value)| (key, value.clone()))
        .collect::<JsonObject>()
        .to_json()
}

/// Works out what an answer changes. Of the two views the one that differs from what was sent counts, and the first
/// where both differ.
pub(super) fn request_change(sent: &Json, answer: &Json) -> RequestChange {
    let mut change = RequestChange::default();
    let Some(answer) = answer.as_object() else { return change };
    let old = Request::read(sent);
    let sent = old.both_views();
    let differs = |key: &str| answer.get(key).filter(|value| sent.get(key).is_none_or(|sent| !sent.same_as(value)));
    change.model = differs("model").filter(|model| model.kind() == JsonKind::String).cloned();
    change.tool_config = differs("toolConfig").filter(|tools| tools.kind() == JsonKind::Object).cloned();
    change.messages = old.changed_messages(differs("messages"), differs("contents"), differs("systemInstruction"));
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
        let old = Request::read(current);
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
        let request = new.first_view().to_json();
        (!request.same_as(&old.first_view().to_json())).then_some(request)
    }

    /// The fields that change, with their new values.
    pub(super) fn fields(&self) -> Vec<(String, Json)> {
        let mut fields = Vec::new();
        fields.extend(self.model.clone().map(|model| ("llm_request.model".to_owned(), model)));
        fields.extend(self.tool_config.clone().map(|tools| ("llm_request.toolConfig".to_owned(), tools)));
        fields
            .extend(self.messages.as_ref().map(|messages| ("llm_request.messages".to_owned(), message_list(messages))));
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
            "messages" if value.as_array().is_none() => Some("must be a list"),
            "contents" if value.as_array().is_none() => Some("must be a list"),
            "messages" if unreadable(value, |entry| read_message(entry).is_some()) => Some("holds no readable message"),
            "contents" if unreadable(value, |entry| read_content(entry, None).is_some()) => Some("holds no text"),
            "systemInstruction" if read_content(value, None).is_none() => Some("holds no text"),
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

impl Request {
    fn read(request: &Json) -> Self {
        let Some(object) = request.as_object() else { return Self::default() };
        // Each part of a request counts in the first view, and in the second where the first is silent.
        let listed = object.get("messages").and_then(Json::as_array).filter(|list| !list.is_empty());
        let mut messages: Vec<Message> = match listed {
            Some(messages) => messages.iter().filter_map(read_message).collect(),
            None => object.get("contents").map(read_contents).unwrap_or_default(),
        };
        let system = object.get("systemInstruction").and_then(|system| read_content(system, Some("system")));
        if let Some(system) = system.filter(|_| !messages.iter().any(|message| message.role == "system")) {
            messages.insert(0, system);
        }
        let views = ["config", "generationConfig"].into_iter();
        let config = views.filter_map(|key| object.get(key)?.as_object()).find(|config| !config.is_empty());
        Self {
            model: object.get("model").cloned(),
            messages,
            config: config.unwrap_or_default(),
            tool_config: object.get("toolConfig").cloned(),
            others: object.iter().filter(|(key, _)| !KEYS.contains(key)).map(|(k, v)| (k, v.clone())).collect(),
        }
    }

    fn first_view(&self) -> JsonObject {
        let mut view = JsonObject::new();
        if let Some(model) = &self.model {
            view.set("model", model.clone());
        }
        view.set("messages", message_list(&self.messages));
        if !self.config.is_empty() {
            view.set("config", self.config.to_json());
        }
        if let Some(tools) = &self.tool_config {
            view.set("toolConfig", tools.clone());
        }
        view.merge(&self.others);
        view
    }

    fn both_views(&self) -> JsonObject {
        let mut view = self.first_view();
        for (key, _) in self.others.iter() {
            view.remove(key);
        }
        let (system, rest): (Vec<&Message>, Vec<&Message>) =
            self.messages.iter().partition(|message| message.role == "system");
        view.set("contents", list(rest.iter().map(|message| content(&message.role, &[&message.content]))));
        if !system.is_empty() {
            let texts: Vec<&str> = system.iter().map(|message| message.content.as_str()).collect();
            view.set("systemInstruction", content("system", &texts));
        }
        if !self.config.is_empty() {
            view.set("generationConfig", self.config.to_json());
        }
        view
    }

    /// The messages an answer asks for. An empty list means no change: nobody means to erase the conversation.
    fn changed_messages(
        &self,
        messages: Option<&Json>,
        contents: Option<&Json>,
        system: Option<&Json>,
    ) -> Option<Vec<Message>> {
        let not_empty = |list: &&Json| list.as_array().is_some_and(|list| !list.is_empty());
        if let Some(messages) = messages.filter(not_empty).and_then(Json::as_array) {
            return Some(messages.iter().filter_map(read_message).collect());
        }
        let contents = contents.filter(not_empty);
        let system = system.and_then(|system| read_content(system, Some("system")));
        if contents.is_none() && system.is_none() {
            return None;
        }
        let (old_system, old_rest): (Vec<Message>, Vec<Message>) =
            self.messages.iter().cloned().partition(|message| message.role == "system");
        let mut messages = system.map_or(old_system, |system| vec![system]);
        messages.extend(contents.map_or(old_rest, read_contents));
        Some(messages)
    }
}

fn message_list(messages: &[Message]) -> Json {
    list(
        messages.iter().map(|message| {
            object([("role", Json::string(&message.role)), ("content", Json::string(&message.content))])
        }),
    )
}

/// A message of the first view. Text that is not a string is kept as JSON text.
fn read_message(message: &Json) -> Option<Message> {
    if let Some(text) = message.as_str() {
        return Some(Message { role: "user".to_owned(), content: text });
    }
    let object = message.as_object()?;
    let given = object.get("content")?;
    let content = given.as_str().unwrap_or_else(|| given.text().to_owned());
    Some(Message { role: role(object.get("role")), content })
}

fn read_contents(contents: &Json) -> Vec<Message> {
    match contents.as_array() {
        Some(list) => list.iter().filter_map(|entry| read_content(entry, None)).collect(),
        None => read_content(contents, None).into_iter().collect(),
    }
}

/// An entry of the second view: its texts run together; without any text it is not a message.
fn read_content(entry: &Json, as_role: Option<&str>) -> Option<Message> {
    if let Some(text) = entry.as_str() {
        return Some(Message { role: as_role.unwrap_or("user").to_owned(), content: text });
    }
    let object = entry.as_object()?;
    let text = text_of_parts(object.get("parts")?)?;
    Some(Message { role: as_role.map_or_else(|| role(object.get("role")), str::to_owned), content: text })
}

/// The texts of parts, which are strings or objects with `text`; none when no part is text.
fn text_of_parts(parts: &Json) -> Option<String> {
    let texts: Vec<String> = match parts.as_array() {
        Some(list) => list.iter().filter_map(text_of_part).collect(),
        None => text_of_part(parts).into_iter().collect(),
    };
    (!texts.is_empty()).then(|| texts.concat())
}

fn text_of_part(part: &Json) -> Option<String> {
    part.as_str().or_else(|| part.as_object()?.get("text")?.as_str())
}

/// The three roles there are; what calls itself otherwise is the user.
fn role(given: Option<&Json>) -> String {
    match given.and_then(Json::as_str).as_deref() {
        Some("model" | "assistant") => "model",
        Some("system") => "system",
        _ => "user",
    }
    .to_owned()
}

/// A response with `text` and `candidates` in step; none when it has neither.
pub(super) fn response_in_step(response: &Json) -> Option<Json> {
    let mut object = response.as_object()?;
    let candidates = object.get("candidates").and_then(Json::as_array).filter(|list| !list.is_empty());
    if let Some(candidates) = candidates {
        let plain: Vec<Json> =
            candidates.iter().enumerate().map(|(at, candidate)| plain_candidate(candidate, at)).collect();
        let text = plain.first().and_then(candidate_text).unwrap_or_default();
        set_first(&mut object, "text", Json::string(&text));
        object.set("candidates", list(plain.into_iter()));
        return Some(object.to_json());
    }
    let text = object.get("text").and_then(Json::as_str)?;
    let candidate = object_of_text(&text);
    object.set("candidates", list(std::iter::once(candidate)));
    Some(object.to_json())
}

/// Lays a hook's partial response over the current one; none when nothing is different.
pub(super) fn apply_to_response(current: &Json, change: &Json) -> Option<Json> {
    let change = change.as_object()?;
    let sent = response_in_step(current).and_then(|sent| sent.as_object()).unwrap_or_default();
    let mut new = sent.clone();
    for (key, value) in change.iter().filter(|(key, _)| !matches!(*key, "text" | "candidates")) {
        new.set(key, value.clone());
    }
    let differs = |key: &str| change.get(key).filter(|value| sent.get(key).is_none_or(|sent| !sent.same_as(value)));
    let candidates = differs("candidates").filter(|list| list.as_array().is_some_and(|list| !list.is_empty()));
    if let Some(candidates) = candidates {
        new.set("candidates", candidates.clone());
    } else if let Some(text) = differs("text").and_then(Json::as_str) {
        let first = sent.get("candidates").and_then(Json::as_array).and_then(|list| list.into_iter().next());
        let rest = sent.get("candidates").and_then(Json::as_array).unwrap_or_default().into_iter().skip(1);
        let first = first.map_or_else(|| object_of_text(&text), |first| with_text(&first, &text));
        new.set("candidates", list(std::iter::once(first).chain(rest)));
    }
    let new = response_in_step(&new.to_json()).unwrap_or_else(|| new.to_json());
    (!new.same_as(&sent.to_json())).then_some(new)
}

/// A candidate with its parts as strings and its safety ratings reduced to what is documented.
fn plain_candidate(candidate: &Json, at: usize) -> Json {
    let Some(mut object) = candidate.as_object() else {
        return candidate.as_str().map_or_else(|| candidate.clone(), |text| object_of_text(&text));
    };
    let texts: Vec<String> = object
        .get("content")
        .and_then(Json::as_object)
        .and_then(|content| content.get("parts")?.as_array())
        .unwrap_or_default()
        .iter()
        .filter_map(text_of_part)
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    object.set("content", content("model", &texts));
    if object.get("index").is_none() {
        object.set("index", Json::from(serde_json::Value::from(at)));
    }
    if let Some(ratings) = object.get("safetyRatings").and_then(Json::as_array) {
        object.set("safetyRatings", list(ratings.iter().map(plain_rating)));
    }
    object.to_json()
}

fn plain_rating(rating: &Json) -> Json {
    match rating.as_object() {
        Some(mut object) => {
            object.remove("blocked");
            object.to_json()
        }
        None => rating.clone(),
    }
}

fn candidate_text(candidate: &Json) -> Option<String> {
    let content = candidate.as_object()?.get("content")?.as_object()?;
    Some(text_of_parts(content.get("parts")?).unwrap_or_default())
}

fn with_text(candidate: &Json, text: &str) -> Json {
    match candidate.as_object() {
        Some(mut object) => {
            object.set("content", content("model", &[text]));
            object.to_json()
        }
        None => object_of_text(text),
    }
}

fn object_of_text(text: &str) -> Json {
    let index = Json::from(serde_json::Value::from(0));
    object([("content", content("model", &[text])), ("finishReason", Json::string("STOP")), ("index", index)])
}

/// An entry of the second view.
pub(super) fn content(role: &str, texts: &[&str]) -> Json {
    object([("role", Json::string(role)), ("parts", list(texts.iter().map(|text| Json::string(text))))])
}

fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    members.into_iter().collect::<JsonObject>().to_json()
}

fn list(values: impl Iterator<Item = Json>) -> Json {
    Json::of(&values.collect::<Vec<_>>()).unwrap_or_else(|_| Json::null())
}

/// Sets a member that stands first when it is new.
fn set_first(object: &mut JsonObject, key: &str, value: Json) {
    if object.get(key).is_some() {
        object.set(key, value);
        return;
    }
    let mut ordered = JsonObject::new();
    ordered.set(key, value);
    ordered.merge(object);
    *object = ordered;
}

#[cfg(test)]
mod tests {
    use super::*;

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
            response_in_step(&json(r#"{"text":"t"}"#)).unwrap().text(),
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
