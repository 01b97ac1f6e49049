//! Model requests and responses as hooks of this dialect see them: text only.

use super::model;
use crate::dialect::tool_choice::HookToolConfig;
use crate::json::{Json, JsonObject};
use crate::payload::{ModelMessage, ModelRequest, ModelRole};

/// A request to a model, as a hook receives it: with `messages`, `config` and `toolConfig`, and the same once more as
/// `contents`, `systemInstruction` and `generationConfig`.
///
/// ```
/// use hookrail::dialect::llxprt::LlmRequest;
/// use hookrail::Json;
///
/// let given = Json::parse(r#"{"model":"m","messages":[{"role":"user","content":"hello"}]}"#).unwrap();
/// let request = LlmRequest::read(&given);
/// assert_eq!(request.model().as_deref(), Some("m"));
/// assert_eq!(request.contents()[0].text, "hello");
/// ```
#[derive(Clone, Debug, Default)]
pub struct LlmRequest(ModelRequest);

impl LlmRequest {
    /// Reads a request in either form.
    #[must_use]
    pub fn read(request: &Json) -> Self {
        Self(ModelRequest::read(request).without_others())
    }

    /// The model's name.
    #[must_use]
    pub fn model(&self) -> Option<String> {
        self.0.model.as_ref().and_then(Json::as_str)
    }

    /// Every message, the system prompt included.
    #[must_use]
    pub fn messages(&self) -> &[ModelMessage] {
        &self.0.messages
    }

    /// The messages without the system prompt.
    #[must_use]
    pub fn contents(&self) -> Vec<&ModelMessage> {
        self.0.messages.iter().filter(|message| message.role != ModelRole::System).collect()
    }

    /// The system prompt, if there is one.
    #[must_use]
    pub fn system_instruction(&self) -> Option<String> {
        let mut texts = self.0.messages.iter().filter(|message| message.role == ModelRole::System).peekable();
        texts.peek()?;
        Some(texts.map(|message| message.text.as_str()).collect())
    }

    /// Settings such as the temperature.
    #[must_use]
    pub fn generation_config(&self) -> &JsonObject {
        &self.0.config
    }

    /// Which tools the model may call.
    #[must_use]
    pub fn tool_config(&self) -> Option<HookToolConfig> {
        self.0.tool_config.as_ref().and_then(Json::as_object).map(|config| HookToolConfig::read(&config))
    }

    /// The request with both forms, as a hook receives it.
    #[must_use]
    pub fn to_json(&self) -> Json {
        model::both_views(&self.0).to_json()
    }
}

/// A model's response, as a hook receives it: with `text`, `candidates` and `usageMetadata`.
#[derive(Clone, Debug)]
pub struct LlmResponse(Json);

impl Default for LlmResponse {
    fn default() -> Self {
        Self(Json::empty_object())
    }
}

impl LlmResponse {
    /// Reads a response. One without `text` and `candidates` is kept as it is.
    #[must_use]
    pub fn read(response: &Json) -> Self {
        Self(model::to_hook_response(response))
    }

    /// The text of the first candidate.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        self.0.as_object()?.get("text")?.as_str()
    }

    /// The candidates, each with `content` and perhaps `finishReason`.
    #[must_use]
    pub fn candidates(&self) -> Vec<Json> {
        self.0.as_object().and_then(|members| members.get("candidates")?.as_array()).unwrap_or_default()
    }

    /// The response as a hook receives it.
    #[must_use]
    pub fn to_json(&self) -> Json {
        self.0.clone()
    }
}
