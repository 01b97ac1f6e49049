//! The kit for dialects whose hooks are commands in JSON settings: `{"EVENT": [{"matcher": …, "hooks": [{"type":
//! "command", …}]}]}`, an answer as JSON on standard output, and exit statuses with a meaning.
//!
//! `groups` reads the settings of one event, `answer` makes an answer of
//! the end of a process or of a question to a remote group, `remote` reads entries that ask one, `foreign_errors` recognizes what did not come from the hook, `output` reads the fields of an answer, `strict` says which output of a guard is none, `unambiguous` settles keys that were written twice. A
//! dialect says with [`CommandDialect`] what is different about it, and adds its own loading, input and folding.

mod answer;
mod foreign_errors;
mod groups;
mod output;
mod remote;
mod strict;
mod unambiguous;

pub(crate) use answer::{Answer, Provenance, read_answer};
pub(crate) use groups::{GROUP_KEYS, HOOK_KEYS, LONGEST_TIMEOUT, read_event};
pub use output::{
    BlockingError, EXIT_CODE_BLOCKING_ERROR, EXIT_CODE_NON_BLOCKING_ERROR, EXIT_CODE_SUCCESS, HookDecision, HookOutput,
};
pub(crate) use output::{FOREIGN_FIELDS, NO_REASON};
pub(crate) use remote::{GROUP_KEY, PROCESS_KEYS, RETRIES_KEY, TYPE as REMOTE_TYPE};

use crate::config::diagnostic::Diagnostic;
use crate::dialect::DialectId;
use crate::event::EventKind;
use crate::matcher::{CompiledMatcher, OnInvalid};

/// What distinguishes one dialect of command hooks from another.
pub(crate) trait CommandDialect {
    /// The dialect of the hooks that are read.
    const DIALECT: DialectId;

    /// The unit of `timeout` in its settings.
    const TIMEOUT_UNIT: TimeoutUnit;

    /// Reads a pattern as the dialect does for that event.
    fn compile_matcher(event: EventKind, pattern: &str, on_invalid: OnInvalid) -> CompiledMatcher;

    /// Removes members of `hookSpecificOutput` that have the wrong type, and reports those without an effect.
    fn check_specific(event: EventKind, output: &mut HookOutput) -> Vec<Diagnostic>;

    /// The members of `hookSpecificOutput` that have an effect on an event.
    fn specific_members(event: EventKind) -> Vec<&'static str>;
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
        const TIMEOUT_UNIT: TimeoutUnit = TimeoutUnit { name: "seconds", in_a_second: 1.0 };

        fn compile_matcher(_event: EventKind, pattern: &str, on_invalid: OnInvalid) -> CompiledMatcher {
            Matcher::compile(pattern, Language::GlobOrRegex, MatchScope::Whole, on_invalid)
        }

        fn check_specific(_event: EventKind, _output: &mut HookOutput) -> Vec<Diagnostic> {
            Vec::new()
        }

        fn specific_members(_event: EventKind) -> Vec<&'static str> {
            Vec::new()
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
