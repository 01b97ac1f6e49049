//! Stream rules: a pattern that a model's response must not match. If it does, the response is interrupted, the rule's
//! message goes into the conversation, and the model is asked again. Each rule acts once in a session.

use std::path::Path;

use hookrail::Json;
use regex::Regex;
use serde::Deserialize;

use crate::error::AgentError;
use crate::message::object;

/// A stream rule.
#[derive(Clone, Debug)]
pub struct StreamRule {
    /// The name of the rule.
    pub name: String,
    /// The pattern that a response must not match.
    pattern: Regex,
    /// The message for the model.
    pub message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleDocument {
    name: String,
    pattern: String,
    message: String,
}

impl StreamRule {
    /// Reads a file of rules: a JSON list of `{"name", "pattern", "message"}`.
    ///
    /// # Errors
    /// If the file cannot be read, does not have that form, or a pattern is not a regular expression.
    pub fn read(file: &Path) -> Result<Vec<Self>, AgentError> {
        let bad = |message: String| AgentError::Rules { file: file.to_owned(), message };
        let text = std::fs::read_to_string(file).map_err(|error| bad(error.to_string()))?;
        let written: Vec<RuleDocument> = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
        let rules = written.into_iter().map(|rule| {
            let pattern = Regex::new(&rule.pattern).map_err(|error| bad(format!("rule `{}`: {error}", rule.name)))?;
            Ok(Self { name: rule.name, pattern, message: rule.message })
        });
        rules.collect()
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        self.pattern.is_match(text)
    }

    /// Returns the rule as hooks receive it.
    pub(crate) fn to_json(&self) -> Json {
        object([
            ("name", Json::string(&self.name)),
            ("condition", Json::string(self.pattern.as_str())),
            ("content", Json::string(&self.message)),
        ])
    }
}
