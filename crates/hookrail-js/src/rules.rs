//! How the results of a module's handlers combine for each event: the engine's event table, as the prelude needs it.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use hookrail::event::{Abilities, DialectEvent, MergeRule};
use hookrail::module::result_members;
use hookrail::{DialectId, EventKind};
use serde::Serialize;

/// How the results of several handlers for one event combine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Combine {
    /// The first `block` ends the chain, and so does a handler that fails; otherwise the last result is used.
    Block,
    /// The first `cancel` ends the chain; otherwise the last result is used.
    Cancel,
    /// The last result that is an object is used.
    LastObject,
    /// The last result is used.
    Last,
    /// Each handler gets the messages that the one before it returned.
    Messages,
    /// The first message is used.
    FirstMessage,
    /// Results are dropped.
    Ignore,
}

/// The rule of one event.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Rule {
    pub(crate) combine: Combine,
    /// Whether handlers get a signal that is aborted when the call is abandoned.
    signal: bool,
    /// The members of a result that have a meaning.
    members: &'static [&'static str],
}

impl Rule {
    /// The rule of an event, by its name.
    pub(crate) fn of_event(name: &str) -> Option<Self> {
        columns().find(|(_, column)| column.name == name).map(|(kind, column)| Self::new(kind, column))
    }

    /// Whether handlers get a signal.
    pub(crate) fn has_signal(self) -> bool {
        self.signal
    }

    fn new(kind: EventKind, column: &DialectEvent) -> Self {
        let combine = match column.fold {
            MergeRule::FirstBlock if column.can.includes(Abilities::RESULT) => Combine::Cancel,
            MergeRule::FirstBlock => Combine::Block,
            MergeRule::LastResult if column.can.includes(Abilities::REPLACE_TOOL_OUTPUT) => Combine::LastObject,
            MergeRule::ChainMessages => Combine::Messages,
            MergeRule::FirstMessage => Combine::FirstMessage,
            MergeRule::Ignore => Combine::Ignore,
            // The engine is given the last result and decides what it means. That is also right for a rule that no
            // module event has today: nothing a module said is lost.
            _ => Combine::Last,
        };
        // The events that hand over a preparation are those in which a handler may do long work, such as asking a
        // model.
        let signal = column.fields.iter().any(|field| field.name == "preparation");
        Self { combine, signal, members: result_members(kind) }
    }
}

fn columns() -> impl Iterator<Item = (EventKind, &'static DialectEvent)> {
    EventKind::all().filter_map(|kind| Some((kind, kind.spec().column(DialectId::Xcsh)?)))
}

/// The rules of all events whose results are used, as JSON text by the name of the event.
pub(crate) fn table() -> &'static str {
    static TABLE: OnceLock<String> = OnceLock::new();
    TABLE.get_or_init(|| {
        let rules = columns().map(|(kind, column)| (column.name, Rule::new(kind, column)));
        let used: BTreeMap<_, _> = rules.filter(|(_, rule)| rule.combine != Combine::Ignore).collect();
        serde_json::to_string(&used).unwrap_or_else(|_| "{}".to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_are_those_that_modules_were_written_for() {
        let rule = |name: &str| Rule::of_event(name).map(|rule| (rule.combine, rule.signal));
        assert_eq!(rule("tool_call"), Some((Combine::Block, false)));
        assert_eq!(rule("tool_result"), Some((Combine::LastObject, false)));
        assert_eq!(rule("context"), Some((Combine::Messages, false)));
        assert_eq!(rule("before_agent_start"), Some((Combine::FirstMessage, false)));
        assert_eq!(rule("session_before_switch"), Some((Combine::Cancel, false)));
        assert_eq!(rule("session_before_branch"), Some((Combine::Cancel, false)));
        assert_eq!(rule("session_before_compact"), Some((Combine::Cancel, true)));
        assert_eq!(rule("session_before_tree"), Some((Combine::Cancel, true)));
        assert_eq!(rule("session.compacting"), Some((Combine::Last, false)));
        assert_eq!(rule("session_start"), Some((Combine::Ignore, false)));
        assert_eq!(table().matches("combine").count(), 9);
    }
}
