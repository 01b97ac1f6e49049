//! The entries of this dialect: their keys, and how patterns are read.

use super::Gemini;
use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::{Document, PlacedValue};
use crate::dialect::command_hooks::{
    CommandDialect, EntryRules, InvalidValue, OwnType, TimeoutUnit, require_executable_guard,
};
use crate::dialect::{DialectId, condition_key, enforcement, sandbox};
use crate::event::EventKind;
use crate::hook::Hook;
use crate::matcher::{CompiledMatcher, Language, MatchScope, Matcher, OnInvalid};

impl CommandDialect for Gemini {
    const DIALECT: DialectId = DialectId::Gemini;
    const TIMEOUT_UNIT: TimeoutUnit = TimeoutUnit::MILLISECONDS;
    const ENTRIES: EntryRules = EntryRules {
        group_keys: &["matcher", "sequential", "hooks"],
        hook_keys: &[
            "type",
            "command",
            "timeout",
            "name",
            "description",
            "env",
            "onFailure",
            "statusMessage",
            condition_key::KEY,
            enforcement::KEY,
            sandbox::PROFILE_KEY,
            sandbox::REQUIRED_KEY,
        ],
        types: &["command"],
        invalid: InvalidValue::Replaced,
    };

    /// Hooks of an embedding program and of packages run in the agent only.
    fn own_type(kind: &str, document: &Document, node: &PlacedValue) -> Option<OwnType> {
        if !matches!(kind, "runtime" | "plugin") {
            return None;
        }
        let why = format!("hooks of type `{kind}` run in Gemini CLI only");
        Some(OwnType::not_executable(document, node, why))
    }

    fn read_own_keys(
        hook: &mut Hook,
        document: &Document,
        node: &PlacedValue,
        found: &mut Vec<Diagnostic>,
    ) -> Result<(), String> {
        if let Some((key, _)) = node.member("env") {
            let message = "`env` is not supported here: the hook runs without these variables";
            let finding = document.finding(Code::UnknownKey, &key.span, message);
            found.push(finding.hint("set the variables in the command, as in `NAME=value program`"));
        }
        require_executable_guard(hook)
    }

    /// A pattern matches any part of a tool's name; other texts, such as the source of a session, are compared as they are.
    fn compile_matcher(event: EventKind, pattern: &str, on_invalid: OnInvalid) -> CompiledMatcher {
        let names_a_tool = event.spec().matched_on(DialectId::Gemini) == Some("tool_name");
        if names_a_tool || matches!(pattern, "" | "*") {
            return Matcher::compile(pattern, Language::Regex, MatchScope::Anywhere, on_invalid);
        }
        Matcher::compile(&exactly(pattern), Language::Regex, MatchScope::Whole, on_invalid)
    }
}

/// The pattern that matches this text and no other.
fn exactly(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for character in text.chars() {
        if "\\^$.|?*+()[]{}/".contains(character) {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_a_part_of_a_tools_name_and_the_whole_of_anything_else() {
        for (event, pattern, text, matches) in [
            (EventKind::BeforeTool, "write", "write_file", true),
            (EventKind::BeforeTool, "write_file|replace", "replace", true),
            (EventKind::BeforeTool, "^write$", "write_file", false),
            (EventKind::BeforeTool, "*", "glob", true),
            (EventKind::BeforeTool, "(", "(", true),
            (EventKind::BeforeTool, "(", "glob", false),
            (EventKind::SessionStart, "startup", "startup", true),
            (EventKind::SessionStart, "startup|resume", "startup", false),
            (EventKind::SessionStart, "start.p", "startup", false),
            (EventKind::SessionStart, "", "startup", true),
        ] {
            let compiled = Gemini::compile_matcher(event, pattern, OnInvalid::Literal);
            assert_eq!(compiled.matcher.test(text).is_match(), matches, "{event} {pattern} {text}");
        }
    }
}
