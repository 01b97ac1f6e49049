//! The members of an answer, added only if they say something.

use hookrail::{Json, JsonObject};

use super::AnswerContent;

pub(crate) struct Members(pub(crate) JsonObject);

impl Members {
    pub(crate) fn new() -> Self {
        Self(JsonObject::new())
    }

    pub(crate) fn text(mut self, name: &str, text: Option<&str>) -> Self {
        if let Some(text) = text {
            self.0.set(name, Json::string(text));
        }
        self
    }

    pub(crate) fn value(mut self, name: &str, value: Option<Json>) -> Self {
        if let Some(value) = value {
            self.0.set(name, value);
        }
        self
    }

    /// Adds `hookSpecificOutput`, which names its event, unless it would say nothing.
    pub(crate) fn specific(self, event: &str, specific: Self) -> Self {
        if specific.0.is_empty() {
            return self;
        }
        let mut members = Self::new().text("hookEventName", Some(event));
        members.0.merge(&specific.0);
        self.value("hookSpecificOutput", Some(members.0.to_json()))
    }

    /// Adds `additionalContext` inside of `hookSpecificOutput`.
    pub(crate) fn context(self, event: &str, content: &AnswerContent) -> Self {
        self.specific(event, Self::new().text("additionalContext", content.context_text().as_deref()))
    }

    /// Adds a denial as `decision` and `reason`.
    pub(crate) fn block(self, content: &AnswerContent) -> Self {
        let denied = content.deny.as_ref().map(|_| "block");
        self.text("decision", denied).text("reason", content.deny.as_deref())
    }

    /// Adds the answer to a question that the agent would ask its user. Without one the agent asks.
    pub(crate) fn answered_question(self, event: &str, content: &AnswerContent) -> Self {
        let answer = Self::new();
        let answer = match (&content.deny, content.allow) {
            (Some(reason), _) => answer.text("behavior", Some("deny")).text("message", Some(reason)),
            (None, true) => answer.text("behavior", Some("allow")).value("updatedInput", content.input.clone()),
            (None, false) => return self,
        };
        self.specific(event, Self::new().value("decision", Some(answer.0.to_json())))
    }

    pub(crate) fn stop(self, reason: Option<&str>) -> Self {
        match reason {
            Some(_) => self.value("continue", Some(Json::boolean(false))).text("stopReason", reason),
            None => self,
        }
    }
}

/// The decision about a tool, and the reason for it.
pub(crate) fn permission(content: &AnswerContent) -> (Option<&'static str>, Option<&str>) {
    match (&content.deny, &content.ask, content.allow) {
        (Some(reason), _, _) => (Some("deny"), Some(reason)),
        (None, Some(question), _) => (Some("ask"), Some(question)),
        (None, None, true) => (Some("allow"), None),
        (None, None, false) => (None, None),
    }
}

/// The text that replaces a result. An agent that gets an empty one gives the model the original.
pub(crate) fn given_text(output: &str) -> &str {
    if output.trim().is_empty() { "a hook replaced this result by an empty text" } else { output }
}

/// The document that denies what the agent would ask its user about. Agents show the user nothing of a denial by status.
pub(crate) fn denied_question(event: &str, reason: &str) -> Json {
    let content = AnswerContent { deny: Some(reason.to_owned()), ..AnswerContent::default() };
    Members::new().answered_question(event, &content).0.to_json()
}
