//! The response of a tool.

use super::parts::object;
use crate::json::{Json, JsonKind, JsonObject};

const CONTENT: &str = "llmContent";
const DISPLAY: &str = "returnDisplay";
const ERROR: &str = "error";

/// The response of a tool, as the neutral field `tool_response` carries it.
///
/// ```
/// use hookrail::payload::ToolResponse;
/// use hookrail::Json;
///
/// let response = ToolResponse::new(Json::string("3 files"), Json::string("3 files"));
/// assert_eq!(response.to_json().text(), r#"{"llmContent":"3 files","returnDisplay":"3 files"}"#);
/// assert!(!response.is_error());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolResponse {
    /// What the model reads: text, or a list of parts.
    pub content: Option<Json>,
    /// What the user sees.
    pub display: Option<Json>,
    /// Why the tool failed: an object with a `message`.
    pub error: Option<Json>,
}

impl ToolResponse {
    /// The response of a tool that succeeded.
    #[must_use]
    pub fn new(content: Json, display: Json) -> Self {
        Self { content: Some(content), display: Some(display), error: None }
    }

    /// The response with the message of a failure.
    #[must_use]
    pub fn with_error(mut self, message: &str) -> Self {
        self.error = Some(object([("message", Json::string(message))]));
        self
    }

    /// Reads the members that every response may have. Members of other names stay in the JSON they came from.
    #[must_use]
    pub fn read(response: &Json) -> Self {
        let members = response.as_object().unwrap_or_default();
        Self {
            content: members.get(CONTENT).cloned(),
            display: members.get(DISPLAY).cloned(),
            error: members.get(ERROR).cloned(),
        }
    }

    /// The response as the neutral field carries it.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let Self { content, display, error } = self;
        let members = [(CONTENT, content), (DISPLAY, display), (ERROR, error)];
        let given = members.into_iter().filter_map(|(name, value)| Some((name, value.clone()?)));
        given.collect::<JsonObject>().to_json()
    }

    /// Whether the tool failed. `"error": null` is not a failure.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.error.as_ref().is_some_and(|error| error.kind() != JsonKind::Null)
    }

    /// The content for the model as text: a string as it is, anything else as JSON text.
    #[must_use]
    pub fn content_text(&self) -> Option<String> {
        self.content.as_ref().map(|content| content.as_str().unwrap_or_else(|| content.text().to_owned()))
    }
}
