//! Converts the conversation to the form of module hooks and back: messages with `content`, the roles `user`, `assistant`
//! and `toolResult`, and the dialect's names of tools. Everything that modules read of a session is converted here.

use hookrail::{Json, JsonObject};

use crate::clock;
use crate::message::{TokenUsage, content_text, list, number, object, text_message};
use crate::session::{Session, SessionEntry, SessionEntryKind};
use crate::tool;

/// What modules read of a whole session.
impl Session {
    /// Returns the messages that are sent to a model in the form of modules, with what modules read beside the content: the
    /// time, and for a message of the model its origin and its usage.
    pub(crate) fn messages(&self) -> Vec<Json> {
        let contents = self.contents_as(|entry, message| with_facts(&message, entry));
        contents.iter().flat_map(listed_messages).collect()
    }

    /// Returns the entries as a tree, each with its children.
    #[must_use]
    pub fn tree(&self) -> Json {
        self.children_of(None, 0)
    }

    fn children_of(&self, parent: Option<&str>, depth: usize) -> Json {
        let children = self.entries().iter().filter(|entry| entry.kind.in_tree() && entry.parent.as_deref() == parent);
        let nodes: Vec<Json> = children
            .filter(|_| depth <= self.entries().len())
            .map(|child| {
                let below = self.children_of(Some(&child.id), depth + 1);
                object([("entry", entry(child)), ("children", below)])
            })
            .collect();
        list(&nodes)
    }
}

/// Converts a message that is about to be sent to a model, with everything that is known about it. The engine lays what
/// modules return over the request, which keeps the names of tools that the model knows.
pub(crate) fn listed_messages(own: &Json) -> Vec<Json> {
    let facts = own.as_object().unwrap_or_default();
    let with_facts = |message: Json| {
        let Some(mut members) = message.as_object() else { return message };
        for (name, value) in facts.iter().filter(|(name, _)| !matches!(*name, "role" | "parts" | RESULT_DETAILS)) {
            members.set(name.to_owned(), value.clone());
        }
        set_details(&mut members, facts.get(RESULT_DETAILS));
        if members.get("customType").is_some() {
            members.set("role", Json::string("custom"));
        }
        members.to_json()
    };
    messages(own).into_iter().map(with_facts).collect()
}

/// Converts a message of the agent to the form of modules. Each result of a tool becomes a message of its own.
pub(crate) fn messages(own: &Json) -> Vec<Json> {
    let Some(message) = own.as_object() else { return vec![own.clone()] };
    let parts = message.get("parts").and_then(Json::as_array).unwrap_or_default();
    let is_model = message.get("role").and_then(Json::as_str).as_deref() == Some("model");
    let results: Vec<Json> = parts.iter().filter_map(result).collect();
    if !results.is_empty() {
        return results;
    }
    let content: Vec<Json> = parts.iter().filter_map(part).collect();
    let mut shaped = JsonObject::new();
    shaped.set("role", Json::string(if is_model { "assistant" } else { "user" }));
    shaped.set("content", list(&content));
    if is_model {
        let is_call = |part: &Json| part.as_object().is_some_and(|part| part.get("functionCall").is_some());
        let calls = parts.iter().any(is_call);
        shaped.set("stopReason", Json::string(if calls { "toolUse" } else { "stop" }));
    }
    vec![shaped.to_json()]
}

/// Converts the messages of entries to the form of modules.
pub(crate) fn all_messages<'e>(entries: impl IntoIterator<Item = &'e SessionEntry>) -> Json {
    list(&entries.into_iter().flat_map(entry_messages).collect::<Vec<_>>())
}

/// Converts what an entry adds to the conversation to messages of modules, with the time of the entry. A message of the
/// model names the model and what it used.
pub(crate) fn entry_messages(entry: &SessionEntry) -> Vec<Json> {
    let plain = match entry.kind {
        SessionEntryKind::Message => entry.field("message").map(messages).unwrap_or_default(),
        SessionEntryKind::CustomMessage => vec![custom_message(entry)],
        SessionEntryKind::System | SessionEntryKind::BranchSummary => {
            let text = entry.text("text").or_else(|| entry.text("summary")).unwrap_or_default();
            messages(&text_message("user", &text))
        }
        SessionEntryKind::Compaction
        | SessionEntryKind::Cleared
        | SessionEntryKind::Custom
        | SessionEntryKind::Todo
        | SessionEntryKind::Receipt
        | SessionEntryKind::Leaf => Vec::new(),
    };
    plain.iter().map(|message| with_facts(message, entry)).collect()
}

/// Adds what an entry knows about its message: the time, and for a message of the model its origin and its usage.
pub(crate) fn with_facts(message: &Json, entry: &SessionEntry) -> Json {
    let Some(mut members) = message.as_object() else { return message.clone() };
    if matches!(members.get("role").and_then(Json::as_str).as_deref(), Some("assistant" | "model")) {
        let model = entry.text("model").unwrap_or_default();
        let usage = entry.field("usage").cloned().unwrap_or_else(|| TokenUsage::default().to_module_json());
        set_origin(&mut members, &model, usage);
    }
    if entry.kind == SessionEntryKind::Message
        && let Some(details) = entry.field("details")
    {
        match members.get("toolCallId") {
            Some(_) => set_details(&mut members, Some(details)),
            // It is still one message with all results.
            None => members.set(RESULT_DETAILS, details.clone()),
        }
    }
    if let Some(time) = entry.milliseconds() {
        members.set("timestamp", number(time));
    }
    members.to_json()
}

/// The member in which a message with results carries the details of all of them, by the call, until it is split.
const RESULT_DETAILS: &str = "resultDetails";

/// Sets the details that a module gave to the result of a call.
fn set_details(result: &mut JsonObject, by_call: Option<&Json>) {
    let call = result.get("toolCallId").and_then(Json::as_str);
    if let Some(details) = call.and_then(|call| by_call?.as_object()?.get(&call).cloned()) {
        result.set("details", details);
    }
}

/// Sets the members that every message of a model has.
pub(crate) fn set_origin(message: &mut JsonObject, model: &str, usage: Json) {
    message.set("api", Json::string(PROVIDER));
    message.set("provider", Json::string(PROVIDER));
    message.set("model", Json::string(model));
    message.set("usage", usage);
}

/// The provider that messages of the model name.
pub(crate) const PROVIDER: &str = "scripted";

fn custom_message(entry: &SessionEntry) -> Json {
    let mut message = JsonObject::new();
    message.set("role", Json::string("custom"));
    for name in ["customType", "content", "display", "details"] {
        if let Some(value) = entry.field(name) {
            message.set(name, value.clone());
        }
    }
    message.to_json()
}

/// Makes the message of a turn that ended without an answer of the model.
pub(crate) fn unanswered(model: &str, stop_reason: &str, error: Option<&str>) -> Json {
    let mut message = JsonObject::new();
    message.set("role", Json::string("assistant"));
    message.set("content", list(&[]));
    message.set("stopReason", Json::string(stop_reason));
    if let Some(error) = error {
        message.set("errorMessage", Json::string(error));
    }
    set_origin(&mut message, model, TokenUsage::default().to_module_json());
    message.set("timestamp", number(clock::now()));
    message.to_json()
}

fn text_part(text: &str) -> Json {
    object([("type", Json::string("text")), ("text", Json::string(text))])
}

fn part(own: &Json) -> Option<Json> {
    if let Some(text) = own.as_str() {
        return Some(text_part(&text));
    }
    let part = own.as_object()?;
    if let Some(text) = part.get("text").and_then(Json::as_str) {
        return Some(text_part(&text));
    }
    let call = part.get("functionCall")?.as_object()?;
    let name = call.get("name").and_then(Json::as_str).unwrap_or_default();
    let arguments = call.get("args").cloned().unwrap_or_else(Json::empty_object);
    let (name, arguments) = tool::call_for_modules(&name, &arguments);
    Some(object([
        ("type", Json::string("toolCall")),
        ("id", call.get("id").cloned().unwrap_or_else(Json::null)),
        ("name", Json::string(&name)),
        ("arguments", arguments),
    ]))
}

/// Whether a part of a result has the form of modules, because a module wrote it.
fn is_typed(part: &Json) -> bool {
    part.as_object().is_some_and(|part| part.get("type").is_some())
}

/// Converts a part that is a tool's result.
fn result(own: &Json) -> Option<Json> {
    let result = own.as_object()?.get("functionResponse")?.as_object()?;
    let response = result.get("response").and_then(Json::as_object).unwrap_or_default();
    let failed = response.get("error").cloned();
    let is_error = failed.is_some();
    let output = failed.or_else(|| response.get("output").cloned()).unwrap_or_else(Json::null);
    let name = result.get("name").and_then(Json::as_str).unwrap_or_default();
    let content = match output.as_array().filter(|parts| parts.iter().all(is_typed)) {
        Some(parts) => parts,
        None => {
            let text = content_text(&output);
            vec![text_part(&if text.is_empty() {
                output.as_str().unwrap_or_else(|| output.text().to_owned())
            } else {
                text
            })]
        }
    };
    Some(object([
        ("role", Json::string("toolResult")),
        ("toolCallId", result.get("id").cloned().unwrap_or_else(Json::null)),
        ("toolName", Json::string(&tool::call_for_modules(&name, &Json::empty_object()).0)),
        ("content", list(&content)),
        ("isError", Json::boolean(is_error)),
    ]))
}

/// Converts an entry to the form of modules. If its message becomes several messages, each gets an entry of its own.
pub(crate) fn entries(entry: &SessionEntry) -> Vec<Json> {
    if entry.kind != SessionEntryKind::Message {
        return vec![entry.to_json()];
    }
    let mut parent = entry.parent.as_deref().map_or_else(Json::null, Json::string);
    let shaped = entry_messages(entry);
    let last = shaped.len();
    (1..)
        .zip(shaped)
        .map(|(at, message)| {
            let mut line = entry.to_json().as_object().unwrap_or_default();
            // The last one keeps the entry's own ID, because later entries name it as their parent.
            let id = if at == last { entry.id.clone() } else { format!("{}.{at}", entry.id) };
            line.set("id", Json::string(&id));
            line.set("parentId", std::mem::replace(&mut parent, Json::string(&id)));
            line.set("message", message);
            // They are in the message now.
            line.remove("model");
            line.remove("usage");
            line.to_json()
        })
        .collect()
}

/// Converts an entry to one entry: the last one if there are several.
pub(crate) fn entry(entry: &SessionEntry) -> Json {
    entries(entry).pop().unwrap_or_else(|| entry.to_json())
}

/// Converts the entries that have a place in the conversation.
pub(crate) fn all_entries<'e>(all: impl IntoIterator<Item = &'e SessionEntry>) -> Json {
    let shown =
        all.into_iter().filter(|entry| !matches!(entry.kind, SessionEntryKind::Receipt | SessionEntryKind::Leaf));
    list(&shown.flat_map(entries).collect::<Vec<_>>())
}

/// Converts a message that a module wrote to the agent's own form: `parts` for `content`, `model` for `assistant`.
pub(crate) fn own(written: &Json) -> Json {
    let object = written.as_object().unwrap_or_default();
    if object.get("parts").is_some() {
        return written.clone();
    }
    let role = object.get("role").and_then(Json::as_str).unwrap_or_default();
    let text = object.get("content").map(content_text).unwrap_or_default();
    text_message(if role == "assistant" { "model" } else { "user" }, &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_the_roles_and_names_of_modules() {
        let of = |text: &str| list(&messages(&Json::parse(text).unwrap())).text().to_owned();
        assert_eq!(
            of(
                r#"{"role":"model","parts":[{"text":"a"},{"functionCall":{"id":"1","name":"replace","args":{"path":"p","old_string":"o"}}}]}"#
            ),
            r#"[{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"toolCall","id":"1","name":"edit","arguments":{"path":"p","oldText":"o"}}],"stopReason":"toolUse"}]"#
        );
        assert_eq!(
            of(
                r#"{"role":"user","parts":[{"functionResponse":{"id":"1","name":"read_file","response":{"output":"x"}}},{"functionResponse":{"id":"2","name":"other","response":{"error":"no"}}}]}"#
            ),
            r#"[{"role":"toolResult","toolCallId":"1","toolName":"read","content":[{"type":"text","text":"x"}],"isError":false},{"role":"toolResult","toolCallId":"2","toolName":"other","content":[{"type":"text","text":"no"}],"isError":true}]"#
        );
        assert_eq!(
            of(r#"{"role":"user","parts":[{"text":"hi"}]}"#),
            r#"[{"role":"user","content":[{"type":"text","text":"hi"}]}]"#
        );
    }

    #[test]
    fn what_a_module_writes_is_taken_back() {
        let written =
            Json::parse(r#"{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#)
                .unwrap();
        assert_eq!(own(&written).text(), r#"{"role":"model","parts":[{"text":"a\nb"}]}"#);
    }
}
