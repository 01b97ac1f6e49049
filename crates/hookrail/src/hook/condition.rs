//! What must hold of an event, beside the matcher, for a hook to take part.

use crate::event::Event;
use crate::payload::ToolResponse;
use crate::rules::{CallCondition, CallFacts};

use super::fingerprint::Definition;
use super::permission_rules::{PermissionRules, RuledCall};

/// A condition of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HookCondition {
    /// The tool ended like this: an agent that has an event for each of them, where there is one here.
    ToolEnded(ToolEnd),
    /// The call matches one of these.
    Permission(PermissionRules),
    /// The call is what a rule would be about.
    Rule(CallCondition),
    /// It has not run in this session yet.
    FirstInSession,
}

/// How a tool ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolEnd {
    Succeeded,
    Failed,
}

impl ToolEnd {
    /// How the tool of an event ended.
    pub(crate) fn of(event: &Event) -> Self {
        let failed = event.field("tool_response").is_some_and(|response| ToolResponse::read(response).is_error());
        if failed { Self::Failed } else { Self::Succeeded }
    }
}

/// The term with the text of permission rules.
const IF_TERM: &str = "if";

impl HookCondition {
    /// The conditions of a guard whose definition has changed: those of its event, and what it was granted with. The present ones are
    /// part of the change.
    pub(crate) fn as_granted(present: Vec<Self>, granted: Option<&Definition>) -> Vec<Self> {
        let of_event = present.into_iter().filter(|condition| matches!(condition, Self::ToolEnded(_)));
        let granted = granted.and_then(|granted| granted.further.get(IF_TERM));
        of_event.chain(granted.map(|text| Self::of_granted(text))).collect()
    }

    /// What the text of a grant says. A text that cannot be read is a permission rule that cannot be read, which holds for every call.
    fn of_granted(text: &str) -> Self {
        match CallCondition::of_text(text) {
            Some(condition) => Self::Rule(condition),
            None => Self::Permission(PermissionRules::read(text)),
        }
    }

    /// Whether it holds, as far as the event says. `call` says what the call of the event is, in the names of the hook's dialect.
    /// `facts` are what the call does; without them nothing is known of it, and the hook takes part.
    pub(crate) fn holds<'f>(
        &self,
        event: &Event,
        call: impl FnOnce() -> RuledCall,
        facts: impl FnOnce() -> Option<&'f CallFacts<'f>>,
    ) -> bool {
        match self {
            Self::ToolEnded(end) => ToolEnd::of(event) == *end,
            // What is about no tool has nothing to compare.
            Self::Permission(rules) => event.field("tool_name").is_none() || rules.hold(&call()),
            Self::Rule(condition) => facts().is_none_or(|facts| condition.may_hold(facts)),
            Self::FirstInSession => true,
        }
    }

    /// Whether it asks what a session did before.
    pub(crate) fn asks_about_sessions(&self) -> bool {
        match self {
            Self::Rule(condition) => condition.asks_about_sessions(),
            Self::ToolEnded(_) | Self::Permission(_) | Self::FirstInSession => false,
        }
    }

    /// Whether it holds only because it cannot be read.
    pub(crate) fn is_unreadable(&self) -> bool {
        matches!(self, Self::Permission(rules) if rules.unreadable().is_some())
    }

    /// What a grant covers of it, if it is not a part of the event's name.
    pub(crate) fn term(&self) -> Option<(&'static str, String)> {
        match self {
            Self::ToolEnded(ToolEnd::Succeeded) => None,
            Self::ToolEnded(ToolEnd::Failed) => Some(("tool", "failed".to_owned())),
            Self::Permission(rules) => Some((IF_TERM, rules.text().to_owned())),
            Self::Rule(condition) => Some((IF_TERM, condition.text().to_owned())),
            Self::FirstInSession => Some(("once", "true".to_owned())),
        }
    }
}
