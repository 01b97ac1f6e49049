//! The entries of this dialect: their keys, and what Codex CLI does not run.

use super::Codex;
use super::events::LONGEST_END_TIMEOUT;
use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::{Document, PlacedValue, ValueShape};
use crate::dialect::columns::event_named;
use crate::dialect::command_hooks::{
    CommandDialect, EntryRules, InvalidValue, OwnType, SettingsEvent, TimeoutUnit, require_executable_guard,
};
use crate::dialect::{DialectId, condition_key, enforcement, sandbox};
use crate::event::EventKind;
use crate::hook::{Action, Hook};
use crate::matcher::{CompiledMatcher, Language, MatchScope, Matcher, OnInvalid};

/// The types of entries that run in the agent only.
const NOT_EXECUTABLE: [&str; 2] = ["prompt", "agent"];

/// Events of the agent that no host of hookrail has.
const NOT_FIRED: [&str; 1] = ["Interrupt"];

/// What else stands beside the events: the agent's own record of trusted hooks, and folders of a machine's hooks.
const SETTINGS: [&str; 3] = ["state", "managed_dir", "windows_managed_dir"];

const WINDOWS_KEYS: [&str; 2] = ["commandWindows", "command_windows"];

impl CommandDialect for Codex {
    const DIALECT: DialectId = DialectId::Codex;
    const TIMEOUT_UNIT: TimeoutUnit = TimeoutUnit::SECONDS;
    const ENTRIES: EntryRules = EntryRules {
        group_keys: &["matcher", "hooks"],
        hook_keys: &[
            "type",
            "command",
            "commandWindows",
            "command_windows",
            "timeout",
            "async",
            "statusMessage",
            "prompt",
            "model",
            "onFailure",
            "name",
            "description",
            condition_key::KEY,
            enforcement::KEY,
            sandbox::PROFILE_KEY,
            sandbox::REQUIRED_KEY,
        ],
        types: &["command", "prompt", "agent"],
        invalid: InvalidValue::Ignored,
    };

    fn settings_event(name: &str) -> SettingsEvent {
        match event_named(DialectId::Codex, name) {
            Some(event) => SettingsEvent::Fired { event, condition: None },
            None if NOT_FIRED.contains(&name) => SettingsEvent::NotFired,
            None if SETTINGS.contains(&name) => SettingsEvent::Setting,
            None => SettingsEvent::Unknown,
        }
    }

    fn own_type(kind: &str, document: &Document, node: &PlacedValue) -> Option<OwnType> {
        let is_for_windows = || WINDOWS_KEYS.iter().any(|key| node.get(key).is_some());
        let why = match kind {
            "command" if node.get("command").is_none() && is_for_windows() => {
                "it has a command for Windows only".to_owned()
            }
            kind if NOT_EXECUTABLE.contains(&kind) => format!("hooks of type `{kind}` run in Codex CLI only"),
            _ => return None,
        };
        Some(OwnType::not_executable(document, node, why))
    }

    fn read_own_keys(
        hook: &mut Hook,
        document: &Document,
        node: &PlacedValue,
        found: &mut Vec<Diagnostic>,
    ) -> Result<(), String> {
        let is_async = matches!(node.get("async").map(|value| &value.shape), Some(ValueShape::Flag(true)));
        if is_async {
            let why = "Codex CLI does not run hooks with `async`";
            found.push(document.finding(Code::NotExecutable, &node.span, format!("{why}; it is listed")));
            hook.action = Action::NotExecutable(why.into());
        }
        if hook.event == EventKind::SessionEnd && hook.timeout > LONGEST_END_TIMEOUT {
            let most = LONGEST_END_TIMEOUT.as_secs();
            let message = format!("Codex CLI waits at most {most} s for a hook at its end; `timeout` was cut to that");
            found.push(document.finding(Code::TimeoutClamped, &node.span, message));
            hook.timeout = LONGEST_END_TIMEOUT;
        }
        require_executable_guard(hook)
    }

    /// Letters, digits, `_` and `|` are a list of exact names; anything else is a pattern for any part of the text.
    fn compile_matcher(_event: EventKind, pattern: &str, on_invalid: OnInvalid) -> CompiledMatcher {
        let is_list = pattern.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'|'));
        let scope = if is_list { MatchScope::Whole } else { MatchScope::Anywhere };
        Matcher::compile(pattern, Language::Regex, scope, on_invalid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_whole_tools_and_anything_else_matches_a_part() {
        for (pattern, name, matches) in [
            ("Bash", "Bash", true),
            ("Bas", "Bash", false),
            ("apply_patch|Bash", "Bash", true),
            ("apply_patch|Bash", "apply_patch_now", false),
            ("mcp__.*", "mcp__demo__echo", true),
            ("^mcp__demo", "mcp__demo__echo", true),
            ("*", "Bash", true),
            ("", "Bash", true),
        ] {
            let compiled = Codex::compile_matcher(EventKind::BeforeTool, pattern, OnInvalid::Literal);
            assert_eq!(compiled.matcher.test(name).is_match(), matches, "{pattern} {name}");
        }
    }
}
