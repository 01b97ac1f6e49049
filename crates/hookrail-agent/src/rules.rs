//! Stream rules: a pattern that a model's answer must not match. When one does, the answer is broken off, the rule's
//! message goes into the conversation, and the model is asked anew. Each rule acts once in a session.

use std::path::Path;

use hookrail::Json;
use regex::Regex;
use serde::Deserialize;

use crate::error::AgentError;
use crate::message::object;

/// A stream rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its name.
    pub name: String,
    /// What must not be said.
    pattern: Regex,
    /// What the model is told.
    pub message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    pattern: String,
    message: String,
}

impl Rule {
    /// Reads a file of rules: a JSON list of `{"name", "pattern", "message"}`.
    ///
    /// # Errors
    /// When the file cannot be read, does not have that form, or a pattern is not a regular expression.
    pub fn read(file: &Path) -> Result<Vec<Self>, AgentError> {
        let bad = |message: String| AgentError::Rules { file: file.to_owned(), message };
        let text = std::fs::read_to_string(file).map_err(|error| bad(error.to_string()))?;
        let written: Vec<Written> = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
        let rules = written.into_iter().map(|rule| {
            let pattern = Regex::new(&rule.pattern).map_err(|error| bad(format!("rule `{}`: {error}", rule.name)))?;
            Ok(Self { name: rule.name, pattern, message: rule.message })
        });
        rules.collect()
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        self.pattern.is_match(text)
    }

    /// The rule as hooks are told of it.
    pub(crate) fn to_json(&self) -> Json {
        object([
            ("name", Json::string(&self.name)),
            ("condition", Json::string(self.pattern.as_str())),
            ("content", Json::string(&self.message)),
        ])
    }
}
