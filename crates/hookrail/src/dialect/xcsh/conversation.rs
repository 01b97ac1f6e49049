//! The conversation of a model call: as modules see it, and laid back over the host's request.
//!
//! A request holds entries: the provider's own `contents`, or `messages` of text. A module sees messages in its own shapes,
//! several of them where one entry holds several tool results, and never the system prompt. What it returns is compared with
//! what it saw: an entry whose messages all came back unchanged keeps its bytes, and only the others are written anew.

use crate::event::Event;
use crate::json::{Json, JsonObject};
use crate::payload::{ModelMessage, ModelRequest, ModelRole, common_subsequence, entries_of, list, object};

/// The conversation of a model call in the shapes of modules, without the system prompt: the host's own list, else the
/// messages of the request.
pub(super) fn messages(event: &Event) -> Vec<Json> {
    match event.field("messages").and_then(Json::as_array) {
        Some(messages) => messages.into_iter().filter(|message| !is_system(message)).collect(),
        None => HostRequest::read(event).messages().cloned().collect(),
    }
}

/// Puts the messages that a module returned in the place of those that it saw, in the event's own list and in the host's
/// request. Model, configuration, tools and system prompt of the request stay.
pub(super) fn set_messages(event: &mut Event, returned: &[Json]) {
    let shown = messages(event);
    if same_list(&shown, returned) {
        return;
    }
    let request = HostRequest::read(event);
    let new = request.with_messages(&shown, returned);
    event.set("llm_request", new);
    event.set("messages", list(returned.to_vec()));
}

fn same_list(one: &[Json], other: &[Json]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.same_as(other))
}

/// The form in which the host gave its request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RequestForm {
    /// The provider's own `contents`.
    Contents,
    /// `messages` of text.
    Messages,
    /// No request, or one without a conversation.
    None,
}

/// The host's request, split into its entries.
struct HostRequest {
    members: JsonObject,
    form: RequestForm,
    entries: Vec<RequestEntry>,
}

/// One entry of the request with the messages that it is shown as; none for a system prompt.
struct RequestEntry {
    own: Json,
    shown: Vec<ShownMessage>,
}

/// One message of an entry.
struct ShownMessage {
    message: Json,
    /// The parts of the entry that it shows, each with the block that shows it.
    blocks: Vec<(Json, Json)>,
}

/// A message of the request: the number of its entry, and its number there.
type MessagePlace = (usize, usize);

impl HostRequest {
    fn read(event: &Event) -> Self {
        let members = event.field("llm_request").and_then(Json::as_object).unwrap_or_default();
        let contents = members.get("contents").map(entries_of);
        let messages = members.get("messages").and_then(Json::as_array);
        let given = |list: Option<Vec<Json>>| list.filter(|list| !list.is_empty());
        // A request with nothing but messages is the one that an earlier module's answer was put into.
        let is_own = event.field("messages").is_some() && members.iter().count() == 1;
        let (form, entries) = match (given(contents), given(messages)) {
            (Some(contents), _) => (RequestForm::Contents, contents),
            (None, Some(_)) if is_own => (RequestForm::None, Vec::new()),
            (None, Some(messages)) => (RequestForm::Messages, messages),
            (None, None) => (RequestForm::None, Vec::new()),
        };
        let entries = entries.into_iter().map(|own| {
            let shown = match form {
                _ if is_system(&own) => Vec::new(),
                RequestForm::Contents => shown_content(&own),
                RequestForm::Messages | RequestForm::None => {
                    vec![ShownMessage { message: shown_message(&own), blocks: Vec::new() }]
                }
            };
            RequestEntry { own, shown }
        });
        let entries = entries.collect();
        Self { members, form, entries }
    }

    fn messages(&self) -> impl Iterator<Item = &Json> {
        self.entries.iter().flat_map(|entry| &entry.shown).map(|shown| &shown.message)
    }

    fn places(&self) -> Vec<MessagePlace> {
        let counted = self.entries.iter().enumerate();
        counted.flat_map(|(entry, it)| (0..it.shown.len()).map(move |message| (entry, message))).collect()
    }

    fn shown_at(&self, place: MessagePlace) -> Option<&ShownMessage> {
        self.entries.get(place.0)?.shown.get(place.1)
    }

    /// The whole request with the returned messages in the place of those that were shown.
    fn with_messages(mut self, shown: &[Json], returned: &[Json]) -> Json {
        let entries = list(match self.form {
            RequestForm::None => returned.to_vec(),
            RequestForm::Contents | RequestForm::Messages => self.lay_back(shown, returned),
        });
        if self.form != RequestForm::Contents {
            self.members.set("messages", entries);
            return self.members.to_json();
        }
        let before = ModelRequest::read(&self.members.to_json());
        let now = ModelRequest::read(&object([("contents", entries.clone())]));
        let is_system = |message: &ModelMessage| message.role == ModelRole::System;
        let system = before.messages.iter().filter(|message| is_system(message)).cloned();
        let rest = now.messages.into_iter().filter(|message| !is_system(message));
        let messages = system.chain(rest).collect();
        // Every reader of a request knows its text; the host finds the rest in its own form beside it.
        let mut request = ModelRequest { messages, ..before }.to_object();
        request.set("contents", entries);
        request.to_json()
    }

    /// The entries with the returned messages. Entries that no module saw keep their place.
    fn lay_back(&self, shown: &[Json], returned: &[Json]) -> Vec<Json> {
        let places = self.find_origins(shown);
        let origin = match_returned(shown, returned);
        let seen: Vec<MessagePlace> = places.iter().flatten().copied().collect();
        let mut out = Vec::new();
        let mut next = 0;
        let mut at = 0;
        let mut last_entry = None;
        while let Some(message) = returned.get(at) {
            let from = origin.get(at).copied().flatten();
            let place = from.and_then(|from| places.get(from).copied().flatten());
            let is_same = from.and_then(|from| shown.get(from)).is_some_and(|old| old.same_as(message));
            if let Some((entry, _)) = place {
                self.push_unseen(next..entry, &seen, &mut out);
                next = next.max(entry + 1);
            }
            match place.and_then(|place| Some((place, self.entries.get(place.0)?))) {
                Some(((number, 0), entry))
                    if is_same && self.is_whole(number, at, &places, &origin, shown, returned) =>
                {
                    out.push(entry.own.clone());
                    last_entry = None;
                    at += entry.shown.len();
                    continue;
                }
                Some((place, entry)) => {
                    let listed = from.and_then(|from| shown.get(from));
                    let rewritten = self.rewrite_message(entry, self.shown_at(place), listed, message);
                    // Results of one entry stay together: a provider wants all of a turn at once.
                    match out.last_mut().filter(|_| last_entry == Some(place.0)) {
                        Some(last) => append_parts(last, &rewritten),
                        None => out.push(rewritten),
                    }
                    last_entry = Some(place.0).filter(|_| self.form == RequestForm::Contents);
                }
                // The host's request does not have it, and no module changed that.
                None if is_same => {}
                None => {
                    out.push(self.write_message(message));
                    last_entry = None;
                }
            }
            at += 1;
        }
        self.push_unseen(next..self.entries.len(), &seen, &mut out);
        out
    }

    /// Adds the entries in a range that show nothing, or only messages that the host did not list.
    fn push_unseen(&self, range: std::ops::Range<usize>, seen: &[MessagePlace], out: &mut Vec<Json>) {
        for number in range {
            if let Some(entry) = self.entries.get(number)
                && !seen.iter().any(|(entry, _)| *entry == number)
            {
                out.push(entry.own.clone());
            }
        }
    }

    /// Whether all messages of an entry came back unchanged, one after the other, from this place on.
    fn is_whole(
        &self,
        entry: usize,
        at: usize,
        places: &[Option<MessagePlace>],
        origin: &[Option<usize>],
        shown: &[Json],
        returned: &[Json],
    ) -> bool {
        let count = self.entries.get(entry).map_or(0, |entry| entry.shown.len());
        (0..count).all(|message| {
            let Some(from) = origin.get(at + message).copied().flatten() else { return false };
            let is_same = shown.get(from).zip(returned.get(at + message)).is_some_and(|(old, new)| old.same_as(new));
            is_same && places.get(from).copied().flatten() == Some((entry, message))
        })
    }

    /// Which message of the request each shown message is. A host may list its messages itself, so they are compared by
    /// role, text and tool calls.
    fn find_origins(&self, shown: &[Json]) -> Vec<Option<MessagePlace>> {
        let places = self.places();
        let own: Vec<String> =
            places.iter().filter_map(|place| Some(comparison_key(&self.shown_at(*place)?.message))).collect();
        let listed: Vec<String> = shown.iter().map(comparison_key).collect();
        let mut origins = vec![None; shown.len()];
        for (a, b) in common_subsequence(listed.len(), own.len(), |a, b| listed.get(a) == own.get(b)) {
            if let Some(origin) = origins.get_mut(a) {
                *origin = places.get(b).copied();
            }
        }
        origins
    }

    /// A message that a module changed, in the form of the entry that it was. `listed` is the message as the module saw it,
    /// in which tools have the module's names.
    fn rewrite_message(
        &self,
        entry: &RequestEntry,
        shown: Option<&ShownMessage>,
        listed: Option<&Json>,
        message: &Json,
    ) -> Json {
        let Some(shown) = shown else { return self.write_message(message) };
        if self.form != RequestForm::Contents {
            let is_text =
                entry.own.as_object().is_none_or(|own| own.get("content").is_none_or(|it| it.as_str().is_some()));
            return if is_text { as_text_message(message) } else { as_own_message(&entry.own, message) };
        }
        let Some(mut own) = entry.own.as_object() else { return self.write_message(message) };
        let hidden = own.get("parts").and_then(Json::as_array).unwrap_or_default().into_iter().filter(|part| {
            let is_shown = |shown: &ShownMessage| shown.blocks.iter().any(|(own, _)| own.same_as(part));
            !entry.shown.iter().any(is_shown)
        });
        // Parts that modules are not shown, such as the signature of a thought, belong to an entry with one message.
        let mut parts: Vec<Json> = if entry.shown.len() == 1 { hidden.collect() } else { Vec::new() };
        if role(message) == "toolResult" {
            let own = shown.blocks.first().and_then(|(part, _)| member(part, "functionResponse"));
            parts.push(result_part(message, listed, own.as_ref()));
        } else {
            parts.extend(blocks_of(message).iter().map(|block| {
                let known = shown.blocks.iter().find(|(_, shown)| shown.same_as(block)).map(|(part, _)| part.clone());
                known.or_else(|| renamed_call(shown, listed, block)).unwrap_or_else(|| part_of(block))
            }));
        }
        own.set("parts", list(parts));
        own.to_json()
    }

    /// A message that a module added.
    fn write_message(&self, message: &Json) -> Json {
        if self.form != RequestForm::Contents {
            return as_text_message(message);
        }
        let parts = match role(message).as_str() {
            "toolResult" => list([result_part(message, None, None)]),
            _ => list(blocks_of(message).iter().map(part_of)),
        };
        let role = if role(message) == "assistant" { "model" } else { "user" };
        object([("role", Json::string(role)), ("parts", parts)])
    }
}

/// Adds the parts of one entry of `contents` to another one.
fn append_parts(entry: &mut Json, more: &Json) {
    let parts = |entry: &Json| member(entry, "parts").and_then(|parts| parts.as_array()).unwrap_or_default();
    let all = parts(entry).into_iter().chain(parts(more));
    if let Some(mut members) = entry.as_object() {
        members.set("parts", list(all));
        *entry = members.to_json();
    }
}

/// Which shown message each returned one was: the same one, else, between two that stayed, the next of the same role.
fn match_returned(shown: &[Json], returned: &[Json]) -> Vec<Option<usize>> {
    let same = |a: usize, b: usize| shown.get(a).zip(returned.get(b)).is_some_and(|(a, b)| a.same_as(b));
    let mut anchors = common_subsequence(shown.len(), returned.len(), same);
    anchors.push((shown.len(), returned.len()));
    let mut became = vec![None; returned.len()];
    let (mut from_shown, mut from_returned) = (0, 0);
    for (to_shown, to_returned) in anchors {
        let mut candidates = from_shown..to_shown;
        for (place, new) in became.iter_mut().zip(returned).take(to_returned).skip(from_returned) {
            *place = candidates.find(|from| shown.get(*from).is_some_and(|old| role(old) == role(new)));
        }
        if let Some(place) = became.get_mut(to_returned) {
            *place = Some(to_shown);
        }
        (from_shown, from_returned) = (to_shown + 1, to_returned + 1);
    }
    became
}

fn member(value: &Json, key: &str) -> Option<Json> {
    value.as_object()?.get(key).cloned()
}

fn text_member(value: &Json, key: &str) -> Option<String> {
    member(value, key)?.as_str()
}

fn role(message: &Json) -> String {
    text_member(message, "role").unwrap_or_else(|| "user".to_owned())
}

fn is_system(message: &Json) -> bool {
    matches!(role(message).as_str(), "system" | "developer")
}

/// What makes two messages the same for the host: role, text, tool calls. A message of a module goes to the model as the
/// user's.
fn comparison_key(message: &Json) -> String {
    let role = match role(message).as_str() {
        "model" | "assistant" => "assistant",
        "toolResult" | "tool" | "function" => "toolResult",
        _ => "user",
    };
    let call = text_member(message, "toolCallId").unwrap_or_default();
    let mut key = format!("{role}\0{call}\0");
    // A host may write the text of a result in its own way; which call it is of says enough.
    if !call.is_empty() {
        return key;
    }
    for block in blocks_of(message) {
        match text_member(&block, "type").as_deref() {
            Some("text") => key.push_str(&text_member(&block, "text").unwrap_or_default()),
            Some("toolCall") => key.push_str(&format!("\0{}", text_member(&block, "id").unwrap_or_default())),
            _ => {}
        }
    }
    key
}

/// The content of a message as a list of blocks.
fn blocks_of(message: &Json) -> Vec<Json> {
    match member(message, "content") {
        Some(content) => match content.as_str() {
            Some(text) => vec![text_block(&text)],
            None => content.as_array().unwrap_or_default(),
        },
        None => Vec::new(),
    }
}

fn text_block(text: &str) -> Json {
    object([("type", Json::string("text")), ("text", Json::string(text))])
}

/// An entry of `messages`: `{role: "model", content: "text"}` as `{role: "assistant", content: [{type: "text", text}]}`.
fn shown_message(own: &Json) -> Json {
    let Some(mut members) = own.as_object() else {
        return own.as_str().map_or_else(|| own.clone(), |text| message_of("user", own, list([text_block(&text)])));
    };
    match members.get("role").and_then(Json::as_str).as_deref() {
        Some("model") => members.set("role", Json::string("assistant")),
        Some("user") if members.get("customType").is_some() => members.set("role", Json::string("custom")),
        _ => {}
    }
    if let Some(text) = members.get("content").and_then(Json::as_str) {
        members.set("content", list([text_block(&text)]));
    }
    members.to_json()
}

/// The messages of an entry of `contents`: every tool result is one of its own, and everything else is another one.
fn shown_content(own: &Json) -> Vec<ShownMessage> {
    let parts = member(own, "parts").and_then(|parts| parts.as_array()).unwrap_or_default();
    let parts = if let Some(text) = own.as_str() { vec![Json::string(&text)] } else { parts };
    let mut shown = Vec::new();
    let mut blocks: Vec<(Json, Json)> = Vec::new();
    for part in parts {
        if let Some(result) = member(&part, "functionResponse") {
            shown.push(tool_result(own, part, &result));
        } else if let Some(block) = block_of(&part) {
            blocks.push((part, block));
        }
    }
    if !blocks.is_empty() {
        let role = match role(own).as_str() {
            "model" | "assistant" => "assistant",
            _ if member(own, "customType").is_some() => "custom",
            _ => "user",
        };
        let content = list(blocks.iter().map(|(_, block)| block.clone()));
        shown.push(ShownMessage { message: message_of(role, own, content), blocks });
    }
    shown
}

/// A message with what the host says about it beside its content.
fn message_of(role: &str, own: &Json, content: Json) -> Json {
    let mut message: JsonObject = [("role", Json::string(role))].into_iter().collect();
    if role == "custom"
        && let Some(kind) = member(own, "customType")
    {
        message.set("customType", kind);
    }
    message.set("content", content);
    for key in ["display", "details", "timestamp", "api", "provider", "model", "usage", "stopReason"] {
        if let Some(value) = member(own, key) {
            message.set(key, value);
        }
    }
    message.to_json()
}

fn tool_result(own: &Json, part: Json, result: &Json) -> ShownMessage {
    let response = member(result, "response").unwrap_or_else(Json::null);
    let error = member(&response, "error");
    let output = error.clone().or_else(|| member(&response, "output")).unwrap_or(response);
    let is_typed = |block: &Json| member(block, "type").is_some();
    let blocks = output.as_array().filter(|blocks| blocks.iter().all(is_typed));
    let block = text_block(&output.as_str().unwrap_or_else(|| output.text().to_owned()));
    let content = blocks.map_or_else(|| list([block.clone()]), list);
    let null = || Json::null();
    let mut message: JsonObject = [
        ("role", Json::string("toolResult")),
        ("toolCallId", member(result, "id").unwrap_or_else(null)),
        ("toolName", member(result, "name").unwrap_or_else(null)),
        ("content", content),
        ("isError", Json::boolean(error.is_some())),
    ]
    .into_iter()
    .collect();
    if let Some(timestamp) = member(own, "timestamp") {
        message.set("timestamp", timestamp);
    }
    ShownMessage { message: message.to_json(), blocks: vec![(part, block)] }
}

/// A part as a module sees it; none for parts that modules have no shape for.
fn block_of(part: &Json) -> Option<Json> {
    if let Some(text) = part.as_str() {
        return Some(text_block(&text));
    }
    if let Some(text) = text_member(part, "text") {
        let is_thought = member(part, "thought").is_some_and(|thought| thought.text() == "true");
        let thinking = || object([("type", Json::string("thinking")), ("thinking", Json::string(&text))]);
        return Some(if is_thought { thinking() } else { text_block(&text) });
    }
    if let Some(call) = member(part, "functionCall") {
        let of = |key: &str| member(&call, key).unwrap_or_else(Json::null);
        let arguments = member(&call, "args").unwrap_or_else(|| JsonObject::new().to_json());
        let kind = Json::string("toolCall");
        return Some(object([("type", kind), ("id", of("id")), ("name", of("name")), ("arguments", arguments)]));
    }
    let data = member(part, "inlineData")?;
    let of = |key: &str| member(&data, key).unwrap_or_else(Json::null);
    Some(object([("type", Json::string("image")), ("data", of("data")), ("mimeType", of("mimeType"))]))
}

/// The result of a tool that a module wrote or changed, as a part of the provider. A tool that the module did not rename keeps
/// the name that the host knows it by.
fn result_part(message: &Json, listed: Option<&Json>, own: Option<&Json>) -> Json {
    let failed = member(message, "isError").is_some_and(|failed| failed.text() == "true");
    let blocks = blocks_of(message);
    let output = match blocks.as_slice() {
        [block] => text_member(block, "text").map_or_else(|| list(blocks.clone()), |text| Json::string(&text)),
        _ => list(blocks),
    };
    let response = object([(if failed { "error" } else { "output" }, output)]);
    let given = member(message, "toolName").unwrap_or_else(Json::null);
    let is_renamed = listed.and_then(|listed| member(listed, "toolName")).is_none_or(|name| !name.same_as(&given));
    let name = own.and_then(|own| member(own, "name")).filter(|_| !is_renamed).unwrap_or(given);
    let id = member(message, "toolCallId").unwrap_or_else(Json::null);
    object([("functionResponse", object([("id", id), ("name", name), ("response", response)]))])
}

/// A tool call that a module saw under its own names, with those of the host: as it was, or with the arguments that the module
/// changed.
fn renamed_call(shown: &ShownMessage, listed: Option<&Json>, block: &Json) -> Option<Json> {
    let id = text_member(block, "id").filter(|_| text_member(block, "type").as_deref() == Some("toolCall"))?;
    let has_id = |known: &Json| text_member(known, "id").as_deref() == Some(&*id);
    let own = shown.blocks.iter().find(|(_, known)| has_id(known)).map(|(part, _)| part)?;
    let listed = blocks_of(listed?).into_iter().find(has_id)?;
    if listed.same_as(block) {
        return Some(own.clone());
    }
    let mut part = own.as_object()?;
    let mut call = part.get("functionCall")?.as_object()?;
    let members = |value: Option<Json>| value.and_then(|value| value.as_object()).unwrap_or_default();
    let (before, own_args) = (members(member(&listed, "arguments")), members(call.get("args").cloned()));
    // The host lists the arguments in their order, under other names.
    let own_name = |name: &str| {
        let at = before.iter().position(|(known, _)| known == name)?;
        own_args.iter().nth(at).map(|(own, _)| own.to_owned())
    };
    let args = members(member(block, "arguments"));
    let args: JsonObject =
        args.iter().map(|(name, value)| (own_name(name).unwrap_or_else(|| name.to_owned()), value.clone())).collect();
    if member(&listed, "name").zip(member(block, "name")).is_none_or(|(before, now)| !before.same_as(&now)) {
        call.set("name", member(block, "name")?);
    }
    call.set("args", args.to_json());
    part.set("functionCall", call.to_json());
    Some(part.to_json())
}

/// A block that a module wrote, as a part of the provider.
fn part_of(block: &Json) -> Json {
    let of = |key: &str| member(block, key).unwrap_or_else(Json::null);
    let text = || text_member(block, "text").unwrap_or_else(|| block.as_str().unwrap_or_default());
    match text_member(block, "type").as_deref() {
        Some("toolCall") => {
            let call = object([("id", of("id")), ("name", of("name")), ("args", of("arguments"))]);
            object([("functionCall", call)])
        }
        Some("image") => {
            let data = object([("mimeType", of("mimeType")), ("data", of("data"))]);
            object([("inlineData", data)])
        }
        Some("thinking") => object([("text", of("thinking")), ("thought", Json::boolean(true))]),
        _ => object([("text", Json::string(&text()))]),
    }
}

/// A message as `{role, content: "text"}`. Only text goes to a model this way; what a module adds itself counts as the
/// user's.
fn as_text_message(message: &Json) -> Json {
    let text: String = blocks_of(message).iter().filter_map(|block| text_member(block, "text")).collect();
    object([("role", Json::string(&request_role(message))), ("content", Json::string(&text))])
}

/// A message with the content that a module gave it, in the place of one whose content was more than text.
fn as_own_message(own: &Json, message: &Json) -> Json {
    let Some(mut members) = own.as_object() else { return message.clone() };
    members.set("content", member(message, "content").unwrap_or_else(Json::null));
    members.to_json()
}

fn request_role(message: &Json) -> String {
    match role(message).as_str() {
        "assistant" => "model".to_owned(),
        role @ ("user" | "model") => role.to_owned(),
        _ => "user".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::EventKind;

    const NATIVE: &str = r#"{"model":"m","systemInstruction":{"parts":[{"text":"sys"}]},"generationConfig":{"temperature":1.0},"contents":[{"role":"user","parts":[{"text":"look"},{"inlineData":{"mimeType":"image/png","data":"AA"}}]},{"role":"model","parts":[{"text":"ok"},{"functionCall":{"id":"1","name":"read","args":{"n":1.0}},"thoughtSignature":"s"}]},{"role":"user","parts":[{"functionResponse":{"id":"1","name":"read","response":{"output":"x"}}},{"functionResponse":{"id":"2","name":"ls","response":{"error":"no"}}}]},{"role":"user","customType":"debug","parts":[{"text":"d"}]}]}"#;

    fn event(request: &str) -> Event {
        Event::new(EventKind::BeforeModel, "/p").with("llm_request", Json::parse(request).unwrap())
    }

    fn texts(event: &Event) -> Vec<String> {
        messages(event).iter().map(|message| message.text().to_owned()).collect()
    }

    fn contents(event: &Event) -> Vec<Json> {
        member(event.field("llm_request").unwrap(), "contents").unwrap().as_array().unwrap()
    }

    fn sent() -> Vec<Json> {
        member(&Json::parse(NATIVE).unwrap(), "contents").unwrap().as_array().unwrap()
    }

    #[test]
    fn a_native_request_is_shown_with_calls_results_and_custom_messages() {
        let expected = [
            r#"{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","data":"AA","mimeType":"image/png"}]}"#,
            r#"{"role":"assistant","content":[{"type":"text","text":"ok"},{"type":"toolCall","id":"1","name":"read","arguments":{"n":1.0}}]}"#,
            r#"{"role":"toolResult","toolCallId":"1","toolName":"read","content":[{"type":"text","text":"x"}],"isError":false}"#,
            r#"{"role":"toolResult","toolCallId":"2","toolName":"ls","content":[{"type":"text","text":"no"}],"isError":true}"#,
            r#"{"role":"custom","customType":"debug","content":[{"type":"text","text":"d"}]}"#,
        ];
        assert_eq!(texts(&event(NATIVE)), expected);
    }

    #[test]
    fn what_was_not_changed_keeps_every_part() {
        let mut event = event(NATIVE);
        let shown = messages(&event);
        set_messages(&mut event, &shown);
        assert_eq!(event.field("llm_request").unwrap().text(), NATIVE, "nothing was changed");
        set_messages(&mut event, &shown[..4]);
        assert_eq!(contents(&event), sent()[..3], "one message was removed");
        let request = event.field("llm_request").unwrap().as_object().unwrap();
        assert_eq!(request.get("model").unwrap().text(), "\"m\"");
        assert_eq!(request.get("config").unwrap().text(), r#"{"temperature":1.0}"#);
        assert!(request.get("messages").unwrap().text().starts_with(r#"[{"role":"system","content":"sys"}"#));
        let whole =
            crate::payload::request_with_changes(event.field("llm_request").unwrap(), &Json::parse(NATIVE).unwrap());
        let whole = whole.as_object().unwrap();
        assert_eq!(whole.get("systemInstruction").unwrap().text(), r#"{"parts":[{"text":"sys"}]}"#);
        assert_eq!(whole.get("contents").unwrap().as_array().unwrap(), sent()[..3]);
    }

    #[test]
    fn a_changed_message_keeps_what_is_not_text_and_a_part_of_an_entry_can_go() {
        let mut event = event(NATIVE);
        let mut new = messages(&event);
        let first = r#"{"role":"user","content":[{"type":"text","text":"read"},{"type":"image","data":"AA","mimeType":"image/png"}]}"#;
        new[0] = Json::parse(first).unwrap();
        new.remove(3);
        new.push(Json::parse(r#"{"role":"custom","customType":"n","content":"new"}"#).unwrap());
        set_messages(&mut event, &new);
        let expected = [
            r#"{"role":"user","parts":[{"text":"read"},{"inlineData":{"mimeType":"image/png","data":"AA"}}]}"#,
            sent()[1].text(),
            r#"{"role":"user","parts":[{"functionResponse":{"id":"1","name":"read","response":{"output":"x"}}}]}"#,
            sent()[3].text(),
            r#"{"role":"user","parts":[{"text":"new"}]}"#,
        ]
        .map(str::to_owned);
        assert_eq!(contents(&event).iter().map(|entry| entry.text().to_owned()).collect::<Vec<_>>(), expected);
        assert!(texts(&event)[4].contains("customType"), "the next module sees what this one returned");
    }

    #[test]
    fn the_results_of_one_entry_stay_together_when_one_is_changed() {
        let mut event = event(NATIVE);
        let mut new = messages(&event);
        let cut = new[2].text().replace(r#""text":"x""#, r#""text":"cut""#);
        new[2] = Json::parse(&cut).unwrap();
        set_messages(&mut event, &new);
        let now = contents(&event);
        assert_eq!((now.len(), &now[3]), (4, &sent()[3]));
        let expected = sent()[2].text().replace(r#""output":"x""#, r#""output":"cut""#);
        assert_eq!(now[2].text(), expected);
    }

    #[test]
    fn a_host_that_lists_tools_under_other_names_keeps_its_own() {
        let listed = r#"[{"role":"user","content":"look"},{"role":"assistant","content":[{"type":"text","text":"ok"},{"type":"toolCall","id":"1","name":"see","arguments":{"count":1.0}}]},{"role":"toolResult","toolCallId":"1","toolName":"see","content":[{"type":"text","text":"x"}],"isError":false}]"#;
        let mut event = event(NATIVE).with("messages", Json::parse(listed).unwrap());
        let mut new = messages(&event);
        new[1] = Json::parse(&new[1].text().replace(r#""text":"ok""#, r#""text":"yes""#)).unwrap();
        new[2] = Json::parse(&new[2].text().replace(r#""text":"x""#, r#""text":"y""#)).unwrap();
        set_messages(&mut event, &new);
        let call = r#"{"functionCall":{"id":"1","name":"read","args":{"n":1.0}},"thoughtSignature":"s"}"#;
        assert!(contents(&event)[1].text().contains(call), "{}", contents(&event)[1].text());
        assert!(contents(&event)[2].text().contains(r#"{"id":"1","name":"read","response":{"output":"y"}}"#));
        new[1] = Json::parse(&new[1].text().replace(r#"{"count":1.0}"#, r#"{"count":2}"#)).unwrap();
        set_messages(&mut event, &new);
        assert!(
            contents(&event)[1].text().contains(r#""name":"read","args":{"n":2}"#),
            "{}",
            contents(&event)[1].text()
        );
    }

    #[test]
    fn modules_one_after_the_other_keep_every_member_of_a_list_without_a_request() {
        let listed = r#"[{"role":"user","content":"a","timestamp":7}]"#;
        let mut event = Event::new(EventKind::BeforeModel, "/p").with("messages", Json::parse(listed).unwrap());
        for text in ["b", "c"] {
            let mut new = messages(&event);
            new[0] = Json::parse(&format!(r#"{{"role":"user","content":"{text}","timestamp":7}}"#)).unwrap();
            new.push(Json::parse(r#"{"role":"custom","customType":"n","content":"x","timestamp":8}"#).unwrap());
            set_messages(&mut event, &new);
        }
        let request = event.field("llm_request").unwrap().text().to_owned();
        assert!(request.contains(r#"{"role":"user","content":"c","timestamp":7}"#), "{request}");
        assert_eq!(request.matches(r#""customType":"n""#).count(), 2, "{request}");
    }

    #[test]
    fn contents_may_be_one_text() {
        let mut event = event(r#"{"model":"m","contents":"hello"}"#);
        assert_eq!(texts(&event), [r#"{"role":"user","content":[{"type":"text","text":"hello"}]}"#]);
        let mut new = messages(&event);
        new.push(Json::parse(r#"{"role":"user","content":"more"}"#).unwrap());
        set_messages(&mut event, &new);
        let expected = [r#""hello""#, r#"{"role":"user","parts":[{"text":"more"}]}"#];
        assert_eq!(contents(&event).iter().map(Json::text).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_request_of_text_is_shown_as_messages_and_taken_back() {
        let request = r#"{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"a"},{"role":"model","content":"b"}]}"#;
        let mut event = event(request);
        let shown = messages(&event);
        assert_eq!(shown[1].text(), r#"{"role":"assistant","content":[{"type":"text","text":"b"}]}"#);
        set_messages(&mut event, &shown[1..]);
        let expected = r#"{"model":"m","messages":[{"role":"system","content":"s"},{"role":"model","content":"b"}]}"#;
        assert_eq!(event.field("llm_request").unwrap().text(), expected, "the system prompt stays");
    }

    #[test]
    fn a_list_of_the_host_is_laid_over_its_request() {
        let listed =
            r#"[{"role":"user","content":"look","timestamp":7},{"role":"custom","customType":"debug","content":"d"}]"#;
        let mut event = event(NATIVE).with("messages", Json::parse(listed).unwrap());
        assert_eq!(texts(&event).len(), 2);
        let kept = messages(&event)[..1].to_vec();
        set_messages(&mut event, &kept);
        assert_eq!(contents(&event), sent()[..3], "what the host did not list stays: {:?}", event.field("llm_request"));
    }
}
