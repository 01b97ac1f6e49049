//! Contents and their parts: the shape in which model providers write messages that are more than text.

use crate::json::{Json, JsonObject};

/// Returns the concatenated texts of parts, which are strings or objects with `text`; `None` if no part is text.
pub(super) fn text_of_parts(parts: &Json) -> Option<String> {
    let texts: Vec<String> = match parts.as_array() {
        Some(list) => list.iter().filter_map(text_of_part).collect(),
        None => text_of_part(parts).into_iter().collect(),
    };
    (!texts.is_empty()).then(|| texts.concat())
}

/// The text of one part, when it is text. A thought of the model is not: it is not what the model says, and a text in its
/// place would be hidden as a thought.
pub(super) fn text_of_part(part: &Json) -> Option<String> {
    let is_thought = |part: &JsonObject| part.get("thought").and_then(Json::as_bool) == Some(true);
    part.as_str().or_else(|| part.as_object().filter(|part| !is_thought(part))?.get("text")?.as_str())
}

/// Whether a part is a call of a tool.
pub(super) fn is_call(part: &Json) -> bool {
    part.as_object().is_some_and(|part| part.get("functionCall").is_some())
}

/// The entries of `contents`: a list, or one entry.
pub(crate) fn entries_of(contents: &Json) -> Vec<Json> {
    contents.as_array().unwrap_or_else(|| vec![contents.clone()])
}

/// A content whose parts are plain texts.
pub(crate) fn content_of_texts(role: &str, texts: &[&str]) -> Json {
    object([("role", Json::string(role)), ("parts", list(texts.iter().map(|text| Json::string(text))))])
}

/// The parts of a content.
pub(super) fn parts_of(content: &Json) -> Vec<Json> {
    content.as_object().and_then(|content| content.get("parts")?.as_array()).unwrap_or_default()
}

/// The form of the text parts in a document of a host.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TextForm {
    /// `{"text": "…"}`, as providers write it.
    Object,
    /// `"…"`.
    Bare,
}

impl TextForm {
    /// The form that these contents use. Bare texts are used only where the host uses them itself: a provider need not
    /// accept them.
    pub(super) fn of_contents(contents: &[Json]) -> Self {
        let parts = |content: &Json| content.as_object().and_then(|content| content.get("parts")?.as_array());
        let is_bare = |part: &Json| part.as_str().is_some();
        let has_bare = |content: &Json| is_bare(content) || parts(content).is_some_and(|list| list.iter().any(is_bare));
        if contents.iter().any(has_bare) { Self::Bare } else { Self::Object }
    }

    pub(super) fn part(self, text: &str) -> Json {
        match self {
            Self::Object => object([("text", Json::string(text))]),
            Self::Bare => Json::string(text),
        }
    }

    /// A content with one text.
    pub(super) fn content(self, role: &str, text: &str) -> Json {
        object([("role", Json::string(role)), ("parts", list([self.part(text)]))])
    }
}

/// An object with these members.
pub(crate) fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    members.into_iter().collect::<JsonObject>().to_json()
}

/// A list of these values.
pub(crate) fn list(values: impl IntoIterator<Item = Json>) -> Json {
    Json::of(&values.into_iter().collect::<Vec<_>>()).unwrap_or_else(|_| Json::null())
}
