//! Model requests and responses as hooks of this dialect see them: text only.

use serde::{Deserialize, Serialize};

use super::model;
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

/// Which tools a model may call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HookToolConfig {
    /// How the model chooses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<HookToolMode>,
    /// The only tools it may call; none does not restrict it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_function_names: Option<Vec<String>>,
}

/// How a model chooses tools, from the least to the most restrictive mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum HookToolMode {
    /// It may call tools.
    Auto,
    /// It must call one.
    Any,
    /// It must not call any.
    None,
}

impl HookToolConfig {
    /// Reads a configuration; what cannot be read is left out.
    #[must_use]
    pub fn read(config: &JsonObject) -> Self {
        Self {
            mode: config.get("mode").and_then(Json::decode),
            allowed_function_names: config.get("allowedFunctionNames").and_then(Json::decode),
        }
    }

    /// The configuration as JSON.
    #[must_use]
    pub fn to_json(&self) -> Json {
        Json::of(self).unwrap_or_else(|_| Json::null())
    }
}
