//! The conditions of a rule as the key `if` of another hook.

use std::path::Path;
use std::sync::Arc;

use hookrail_shell::Class;

use super::condition::{ClassSet, Condition};
use super::facts::CallFacts;
use super::judge::{Verdict, holds};
use super::read_condition::{Problem, Problems, read_condition};
use crate::config::{Document, PlacedValue};

/// Conditions of a hook that is no rule, in the form that `when` of a rule has.
#[derive(Clone, Debug)]
pub(crate) struct CallCondition {
    condition: Condition,
    text: Arc<str>,
}

impl PartialEq for CallCondition {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for CallCondition {}

impl CallCondition {
    /// Reads a table of conditions, or a list of tables.
    ///
    /// # Errors
    ///
    /// What cannot be read in them.
    pub(crate) fn read(value: &PlacedValue) -> Result<Self, Vec<Problem>> {
        let mut problems = Problems::default();
        let condition = read_condition(value, &mut problems);
        match problems.0.is_empty() {
            true => Ok(Self { condition, text: value.to_covered_json().to_string().into() }),
            false => Err(problems.0),
        }
    }

    /// Reads what `text` gives. No permission rule begins as JSON does.
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        let document = text.starts_with(['{', '[']).then(|| Document::parse(Path::new("if"), text.to_owned()))?;
        Self::read(document.ok()?.root()?).ok()
    }

    /// The conditions as JSON, with their keys in order.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether it asks what a session did before.
    pub(crate) fn asks_about_sessions(&self) -> bool {
        self.condition.asks_about_sessions()
    }

    /// Whether it holds for a call, or what is not known of the call could make it hold: as of a rule that denies.
    pub(crate) fn may_hold(&self, facts: &CallFacts<'_>) -> bool {
        match holds(&self.condition, facts) {
            Verdict::Yes(_) => true,
            Verdict::No => false,
            Verdict::Unknown(unknown) => unknown.iter().any(|unknown| {
                ClassSet::DEFAULT.has(unknown.why) || unknown.why.class() == Class::Inline && unknown.is_named
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CallCondition;

    /// The condition that holds is the one that a grant shows and gives back.
    #[test]
    fn of_a_key_that_is_repeated_the_last_value_counts_in_the_condition_and_in_the_grant() {
        let read = |text: &str| format!("{:?}", CallCondition::of_text(text).unwrap());
        assert_eq!(read(r#"{"reads": "a", "reads": "b"}"#), read(r#"{"reads": "b"}"#));
        assert_ne!(read(r#"{"reads": "a", "writes": "b"}"#), read(r#"{"writes": "b"}"#));
        let host = r#"{"network": {"except": ["a"], "except": ["b"]}}"#;
        assert_eq!(read(host), read(r#"{"network": {"except": ["b"]}}"#));
    }
}
