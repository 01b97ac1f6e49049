//! The kit for dialects whose hooks are commands in JSON settings: `{"EVENT": [{"matcher": …, "hooks": [{"type":
//! "command", …}]}]}`, an answer as JSON on standard output, and exit statuses with a meaning.
//!
//! `layers` reads settings files with such a section, `switches` has what they turn off, `groups` the settings of one event,
//! `answer` makes an answer of the end of a process or of a question to a remote group, `remote` reads entries that ask one, `foreign_errors` recognizes what
//! did not come from the hook, `output` reads the fields of an answer, `strict` says which output of a guard is none,
//! `unambiguous` settles keys that were written twice, `references` quotes variables in a line. A
//! dialect says with [`CommandDialect`] what is different about it, and adds its own loading, input and folding.

mod agent_output;
mod answer;
mod as_effects;
mod foreign_errors;
mod groups;
mod layers;
mod output;
mod references;
mod remote;
mod strict;
mod switches;
mod unambiguous;

pub(crate) use agent_output::{ParsedOutput, StatusTwo, parse_output, recognised_in, stricter_than_agent};
pub(crate) use answer::{Answer, Provenance, read_answer};
pub(crate) use as_effects::{AgentAnswer, Reading, agent_fold, apply_agent_answer, reply};
pub(crate) use groups::{GROUP_KEYS, HOOK_KEYS, LONGEST_TIMEOUT, read_event};
pub(crate) use layers::{LayerFile, LayerSyntax, read_layer, section_hooks, system_file_problem};
pub use output::{
    BlockingError, EXIT_CODE_BLOCKING_ERROR, EXIT_CODE_NON_BLOCKING_ERROR, EXIT_CODE_SUCCESS, HookDecision, HookOutput,
};
pub(crate) use output::{FOREIGN_FIELDS, NO_REASON};
pub(crate) use references::with_quoted_variables;
pub(crate) use remote::{GROUP_KEY, PROCESS_KEYS, RETRIES_KEY, TYPE as REMOTE_TYPE};
pub(crate) use switches::{Layer, LayerSwitches, load_bundles, load_layers};

use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::{Document, PlacedValue};
use crate::dialect::DialectId;
use crate::dialect::columns::event_named;
use crate::event::EventKind;
use crate::hook::condition::HookCondition;
use crate::hook::{Action, Hook, OnFailure};
use crate::json::JsonObject;
use crate::matcher::{CompiledMatcher, OnInvalid};

/// The variable in which hooks of a bundle find the bundle's folder, which has another path in every version.
pub(crate) const BUNDLE_VARIABLE: &str = "HOOKRAIL_BUNDLE_DIR";

/// What distinguishes one dialect of command hooks from another.
pub(crate) trait CommandDialect {
    /// The dialect of the hooks that are read.
    const DIALECT: DialectId;

    /// The unit of `timeout` in its settings.
    const TIMEOUT_UNIT: TimeoutUnit;

    /// Its entries, and what becomes of what is written wrongly in them.
    const ENTRIES: EntryRules = EntryRules::OWN;

    /// How the output of a hook is read.
    const OUTPUT: OutputRules = OutputRules::REPAIRED;

    /// What a key of the settings names.
    fn settings_event(name: &str) -> SettingsEvent {
        event_named(Self::DIALECT, name)
            .map_or(SettingsEvent::Unknown, |event| SettingsEvent::Fired { event, condition: None })
    }

    /// What an entry of a type does that only this dialect has; none if there is no such type.
    fn own_type(_kind: &str, _document: &Document, _node: &PlacedValue) -> Option<OwnType> {
        None
    }

    /// Reads the keys of an entry that only this dialect has. An error makes the entry unusable.
    fn read_own_keys(
        _hook: &mut Hook,
        _document: &Document,
        _node: &PlacedValue,
        _found: &mut Vec<Diagnostic>,
    ) -> Result<(), String> {
        Ok(())
    }

    /// Puts words of the dialect into those that every such dialect has.
    fn prepare_answer(_answer: &mut JsonObject) {}

    /// What text that is no JSON says as an answer to an event.
    fn text_answer(_event: EventKind, text: &str) -> HookOutput {
        HookOutput {
            decision: Some(HookDecision::Allow),
            system_message: Some(text.to_owned()),
            ..HookOutput::default()
        }
    }

    /// Reads a pattern as the dialect does for that event.
    fn compile_matcher(event: EventKind, pattern: &str, on_invalid: OnInvalid) -> CompiledMatcher;

    /// Removes members of `hookSpecificOutput` that have the wrong type, and reports those without an effect.
    fn check_specific(_event: EventKind, _output: &mut HookOutput) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// The members of `hookSpecificOutput` that have an effect on an event.
    fn specific_members(_event: EventKind) -> Vec<&'static str> {
        Vec::new()
    }
}

/// What a key of the settings names.
pub(crate) enum SettingsEvent {
    /// An event, or the occurrences of it in which this holds.
    Fired { event: EventKind, condition: Option<HookCondition> },
    /// An event of the agent that nothing here fires.
    NotFired,
    /// A setting of the agent that stands among the events.
    Setting,
    /// No event.
    Unknown,
}

/// What an entry of a dialect's own type does, with what there is to say about it.
pub(crate) struct OwnType {
    pub(crate) action: Result<Action, String>,
    pub(crate) found: Vec<Diagnostic>,
}

impl OwnType {
    /// An entry that is listed, because it runs in its agent only.
    pub(crate) fn not_executable(document: &Document, node: &PlacedValue, why: String) -> Self {
        let found = document.finding(Code::NotExecutable, &node.span, format!("{why}; it is listed"));
        Self { action: Ok(Action::NotExecutable(why.into())), found: vec![found] }
    }
}

/// Fails if a guard cannot be executed: its failure must have an effect, and it would never fail.
pub(crate) fn require_executable_guard(hook: &Hook) -> Result<(), String> {
    match (&hook.action, hook.on_failure) {
        (Action::NotExecutable(_), OnFailure::Ask | OnFailure::Block) => {
            Err("it asks for an effect of its failure and cannot be executed here".to_owned())
        }
        _ => Ok(()),
    }
}

/// The entries of a dialect, and what becomes of what is written wrongly in them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryRules {
    /// The keys of a group.
    pub(crate) group_keys: &'static [&'static str],
    /// The keys of an entry.
    pub(crate) hook_keys: &'static [&'static str],
    /// The types that an entry can have, for messages.
    pub(crate) types: &'static [&'static str],
    /// What becomes of a pattern, a time or another value that is not valid.
    pub(crate) invalid: InvalidValue,
}

/// What becomes of an entry with a value that is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InvalidValue {
    /// A pattern is the exact text, and a time the default.
    Replaced,
    /// The entry, or the group of the pattern, is ignored, as its agent does.
    Ignored,
}

impl EntryRules {
    /// The entries of settings that are made for hookrail's own formats.
    pub(crate) const OWN: Self = Self {
        group_keys: &GROUP_KEYS,
        hook_keys: &HOOK_KEYS,
        types: &["command", REMOTE_TYPE, "plugin"],
        invalid: InvalidValue::Replaced,
    };
}

/// How the output of a hook is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutputRules {
    /// Whether what is nearly JSON is an answer.
    pub(crate) near_json: NearJson,
    /// Whether a status other than 0 and 2 leaves a printed decision in force.
    pub(crate) failing_status: FailingStatus,
}

/// What is done with output that is nearly JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NearJson {
    /// Line breaks in strings are read, and an answer that was encoded twice.
    Repaired,
    /// It is text.
    Text,
}

/// What a status that is neither 0 nor 2 does to a decision that was printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailingStatus {
    /// The decision does not count.
    Discards,
    /// A denial counts.
    KeepsDenial,
}

impl OutputRules {
    /// As LLxprt Code reads answers.
    pub(crate) const REPAIRED: Self = Self { near_json: NearJson::Repaired, failing_status: FailingStatus::Discards };
}

/// The unit of a timeout in settings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeoutUnit {
    /// The name in messages.
    name: &'static str,
    /// How many of them make a second.
    in_a_second: f64,
}

impl TimeoutUnit {
    /// Thousandths of a second.
    pub(crate) const MILLISECONDS: Self = Self { name: "milliseconds", in_a_second: 1_000.0 };
    /// Seconds.
    pub(crate) const SECONDS: Self = Self { name: "seconds", in_a_second: 1.0 };
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::*;
    use crate::config::Document;
    use crate::config::source::SourceKind;
    use crate::matcher::{Language, MatchScope, Matcher};

    /// A dialect as other agents have it: times in seconds, patterns that must match the whole name.
    struct InSeconds;

    impl CommandDialect for InSeconds {
        const DIALECT: DialectId = DialectId::Llxprt;
        const TIMEOUT_UNIT: TimeoutUnit = TimeoutUnit::SECONDS;

        fn compile_matcher(_event: EventKind, pattern: &str, on_invalid: OnInvalid) -> CompiledMatcher {
            Matcher::compile(pattern, Language::GlobOrRegex, MatchScope::Whole, on_invalid)
        }
    }

    #[test]
    fn a_dialect_says_how_its_times_and_patterns_are_read() {
        let text = r#"{"BeforeTool": [{"matcher": "write", "hooks": [
            {"type": "command", "command": "a", "timeout": 5}, {"type": "command", "command": "b", "timeout": -1}]}]}"#;
        let document = Document::parse(Path::new("settings.json"), text.to_owned()).unwrap();
        let (key, value) = &document.root().unwrap().members().unwrap()[0];
        let (hooks, found) = read_event::<InSeconds>(&document, SourceKind::User, key, value);
        assert_eq!(hooks[0].timeout, Duration::from_secs(5));
        assert!(hooks[0].matcher.test("write").is_match());
        assert!(!hooks[0].matcher.test("write_file").is_match());
        assert_eq!(found[0].message, "`timeout` must be a positive number of seconds; the default of 60 applies");
    }
}
