//! A rule: conditions, and one answer.

use std::sync::Arc;

use super::condition::{ClassSet, Condition};
use crate::event::effects::{Decision, Effects, Stop};
use crate::text::names::named;

named! {
    /// What a rule answers.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RuleAnswer {
        /// The operation is denied.
        Deny = "deny",
        /// A person is asked.
        Ask = "ask",
        /// The operation is allowed as far as hooks are concerned.
        Allow = "allow",
        /// The model is told something.
        Context = "context",
        /// The agent stops.
        Stop = "stop",
    }
}

/// A rule that was read and checked.
#[derive(Clone, Debug)]
pub struct Rule {
    pub(crate) name: Arc<str>,
    pub(crate) answer: RuleAnswer,
    pub(crate) text: Arc<str>,
    pub(crate) when: Condition,
    /// The classes of what is not known that match; none for the default.
    pub(crate) match_unknown: Option<ClassSet>,
    /// Why it cannot be used, if it cannot. Its condition then says what it applies to.
    pub(crate) broken: Option<Arc<str>>,
    /// All of it as JSON, which a grant covers.
    pub(crate) definition: Arc<str>,
}

impl Rule {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it answers.
    #[must_use]
    pub fn answer(&self) -> RuleAnswer {
        self.answer
    }

    /// Its text: the reason, or what the model is told.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Why it cannot be used, if it cannot.
    #[must_use]
    pub fn problem(&self) -> Option<&Arc<str>> {
        self.broken.as_ref()
    }

    /// All of it but its examples, as JSON.
    #[must_use]
    pub fn definition(&self) -> &str {
        &self.definition
    }

    /// Whether it asks what a session did before.
    pub(crate) fn asks_about_sessions(&self) -> bool {
        self.when.asks_about_sessions()
    }

    /// Whether unknown facts can make it match.
    pub(crate) fn matched_classes(&self) -> ClassSet {
        match self.answer {
            RuleAnswer::Deny | RuleAnswer::Ask => self.match_unknown.unwrap_or(ClassSet::DEFAULT),
            // What is not known is no reason to allow, to stop or to say something.
            RuleAnswer::Allow => ClassSet::NONE,
            RuleAnswer::Context | RuleAnswer::Stop => self.match_unknown.unwrap_or(ClassSet::NONE),
        }
    }
}

/// Why a rule matches an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleMatch {
    /// What it answers here: for code of another language a rule that denies asks.
    pub answer: RuleAnswer,
    /// The rule.
    pub rule: Arc<str>,
    /// The key of the condition that holds.
    pub condition: &'static str,
    /// The words and the value that made it hold, as a sentence.
    pub explanation: String,
    /// Its own text.
    pub(crate) text: Arc<str>,
}

impl RuleMatch {
    /// The match of a rule that is not what was granted.
    pub(crate) fn of_changed(rule: &Rule) -> Self {
        Self {
            answer: rule.answer,
            rule: rule.name.clone(),
            condition: "event",
            explanation: "the rule has changed since it was granted".to_owned(),
            text: rule.text.clone(),
        }
    }

    /// What the match does to the event.
    pub(crate) fn effects(&self) -> Effects {
        let reason = || Some(format!("{}: {} (rule `{}`)", self.text, self.explanation, self.rule));
        let decided = |decision| Effects { decision: Some(decision), reason: reason(), ..Effects::default() };
        match self.answer {
            RuleAnswer::Deny => decided(Decision::Deny),
            RuleAnswer::Ask => decided(Decision::Ask),
            RuleAnswer::Allow => decided(Decision::Allow),
            RuleAnswer::Context => Effects { additional_context: Some(self.text.to_string()), ..Effects::default() },
            RuleAnswer::Stop => {
                Effects { stop: Some(Stop { reason: reason().unwrap_or_default() }), ..Effects::default() }
            }
        }
    }
}
