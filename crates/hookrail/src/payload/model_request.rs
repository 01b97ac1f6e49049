//! A request to a model, as text.

use super::parts::{entries_of, list, object, text_of_parts};
use crate::json::{Json, JsonObject};

/// The members that this view understands; every other member of a request belongs to the host and is carried along.
const KNOWN: [&str; 7] =
    ["model", "messages", "config", "toolConfig", "contents", "systemInstruction", "generationConfig"];

/// A request to a model, as text: what the neutral field `llm_request` carries, read from either of its two spellings.
///
/// A host gives `messages`, `config` and `toolConfig`, or its provider's own `contents`, `systemInstruction` and
/// `generationConfig`. Only text is in this view; [`request_with_changes`](super::request_with_changes) applies a
/// changed view to the host's own document, so that images and tool calls stay.
///
/// ```
/// use hookrail::payload::{ModelRequest, ModelRole};
/// use hookrail::Json;
///
/// let native = Json::parse(r#"{"contents":[{"role":"assistant","parts":[{"text":"a"},{"inlineData":{}}]}]}"#).unwrap();
/// let request = ModelRequest::read(&native);
/// assert_eq!(request.messages[0].role, ModelRole::Model);
/// assert_eq!(request.to_json().text(), r#"{"messages":[{"role":"model","content":"a"}]}"#);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ModelRequest {
    /// The model's name, as the host gave it.
    pub model: Option<Json>,
    /// The messages that have text, in order.
    pub messages: Vec<ModelMessage>,
    /// Settings such as the temperature.
    pub config: JsonObject,
    /// Which tools the model may call.
    pub tool_config: Option<Json>,
    /// Members that this view does not understand.
    pub others: JsonObject,
}

/// One message as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelMessage {
    /// Who wrote it.
    pub role: ModelRole,
    /// Its text.
    pub text: String,
}

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelRole {
    /// The user, and every role that has another name.
    User,
    /// The model; `assistant` is another name for it.
    Model,
    /// The system prompt.
    System,
}

impl ModelRole {
    /// The name that requests use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Model => "model",
            Self::System => "system",
        }
    }

    fn read(given: Option<&Json>) -> Self {
        match given.and_then(Json::as_str).as_deref() {
            Some("model" | "assistant") => Self::Model,
            Some("system") => Self::System,
            _ => Self::User,
        }
    }
}

impl ModelMessage {
    /// A message.
    #[must_use]
    pub fn new(role: ModelRole, text: impl Into<String>) -> Self {
        Self { role, text: text.into() }
    }

    /// Reads `{"role": …, "content": …}` or a plain text. Content that is not text is kept as JSON text.
    #[must_use]
    pub fn read(message: &Json) -> Option<Self> {
        if let Some(text) = message.as_str() {
            return Some(Self::new(ModelRole::User, text));
        }
        let object = message.as_object()?;
        let given = object.get("content")?;
        let text = given.as_str().unwrap_or_else(|| given.text().to_owned());
        Some(Self::new(ModelRole::read(object.get("role")), text))
    }

    /// Reads `{"role": …, "parts": […]}` or a plain text. Its texts run together; without any text it is no message.
    #[must_use]
    pub fn read_content(entry: &Json) -> Option<Self> {
        if let Some(text) = entry.as_str() {
            return Some(Self::new(ModelRole::User, text));
        }
        let object = entry.as_object()?;
        Some(Self::new(ModelRole::read(object.get("role")), text_of_parts(object.get("parts")?)?))
    }

    /// Reads `contents`: a list, or one entry.
    pub(crate) fn read_contents(contents: &Json) -> Vec<Self> {
        entries_of(contents).iter().filter_map(Self::read_content).collect()
    }

    /// Reads `systemInstruction`.
    pub(crate) fn read_system(instruction: &Json) -> Option<Self> {
        Self::read_content(instruction).map(|message| Self { role: ModelRole::System, ..message })
    }

    fn to_json(&self) -> Json {
        object([("role", Json::string(self.role.name())), ("content", Json::string(&self.text))])
    }
}

impl ModelRequest {
    /// Reads a request. Each part counts as `messages`, `config` and so on give it, and as the provider's own members
    /// give it where those are missing or empty.
    #[must_use]
    pub fn read(request: &Json) -> Self {
        let Some(object) = request.as_object() else { return Self::default() };
        let listed = object.get("messages").and_then(Json::as_array).filter(|list| !list.is_empty());
        let mut messages: Vec<ModelMessage> = match listed {
            Some(messages) => messages.iter().filter_map(ModelMessage::read).collect(),
            None => object.get("contents").map(ModelMessage::read_contents).unwrap_or_default(),
        };
        let system = object.get("systemInstruction").and_then(ModelMessage::read_system);
        if let Some(system) = system.filter(|_| !messages.iter().any(|message| message.role == ModelRole::System)) {
            messages.insert(0, system);
        }
        let settings = ["config", "generationConfig"].into_iter();
        let config = settings.filter_map(|key| object.get(key)?.as_object()).find(|config| !config.is_empty());
        Self {
            model: object.get("model").cloned(),
            messages,
            config: config.unwrap_or_default(),
            tool_config: object.get("toolConfig").cloned(),
            others: object.iter().filter(|(key, _)| !KNOWN.contains(key)).map(|(k, v)| (k, v.clone())).collect(),
        }
    }

    /// The request without the members that this view does not understand.
    #[must_use]
    pub fn without_others(self) -> Self {
        Self { others: JsonObject::new(), ..self }
    }

    /// The request with `messages`, `config` and `toolConfig`, and the members that this view does not understand.
    #[must_use]
    pub fn to_json(&self) -> Json {
        self.to_object().to_json()
    }

    pub(crate) fn to_object(&self) -> JsonObject {
        let Self { model, messages, config, tool_config, others } = self;
        let mut members = JsonObject::new();
        if let Some(model) = model {
            members.set("model", model.clone());
        }
        members.set("messages", Self::message_list(messages));
        if !config.is_empty() {
            members.set("config", config.to_json());
        }
        if let Some(tools) = tool_config {
            members.set("toolConfig", tools.clone());
        }
        members.merge(others);
        members
    }

    /// The value of `messages`.
    pub(crate) fn message_list(messages: &[ModelMessage]) -> Json {
        list(messages.iter().map(ModelMessage::to_json))
    }
}
