//! The conversation of a model call: as modules see it, and laid back over the host's request.
//!
//! A request holds entries: the provider's own `contents`, or `messages` of text. A module sees messages in its own shapes,
//! several of them where one entry holds several tool results, and never the system prompt. What it returns is compared with
//! what it saw: an entry whose messages all came back unchanged keeps its bytes, and only the others are written anew.

mod lay_back;
mod members;
mod shown;
#[cfg(test)]
mod tests;
mod written;

use self::members::is_system;
use self::shown::{ShownMessage, shown_content, shown_message};
use crate::event::Event;
use crate::json::{Json, JsonObject};
use crate::payload::{ModelMessage, ModelRequest, ModelRole, entries_of, list, object};

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
}
