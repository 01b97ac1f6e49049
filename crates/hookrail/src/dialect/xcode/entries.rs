//! Reads the hooks of one plugin: a map from events to entries. An invalid entry does not affect the others. An invalid
//! entry whose `failurePolicy` is `block` becomes a guard that cannot be used.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use super::variables;
use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::source::{Origin, SourceKind};
use crate::config::{Document, PlacedKey, PlacedValue, ValueShape, nearest};
use crate::dialect::columns::{event_named, event_names};
use crate::dialect::{DialectId, condition_key, enforcement, sandbox};
use crate::event::EventKind;
use crate::hook::{Action, Enforcement, Hook, OnFailure, Owner, bridge_program};
use crate::matcher::{CompiledMatcher, Language, MatchScope, Matcher, OnInvalid};
use crate::run::Environment;

pub(super) const KEYS: [&str; 13] = [
    "matcher",
    "command",
    "commandWindows",
    "commandDarwin",
    "commandLinux",
    "timeout",
    "description",
    "statusMessage",
    "failurePolicy",
    condition_key::KEY,
    enforcement::KEY,
    sandbox::PROFILE_KEY,
    sandbox::REQUIRED_KEY,
];
const COMMANDS: [&str; 4] = ["command", "commandWindows", "commandDarwin", "commandLinux"];

/// The highest allowed timeout, in milliseconds.
pub(super) const MAX_TIMEOUT_MS: f64 = 30_000.0;

/// The highest allowed length of a command, in bytes. Linux starts no program with a longer argument.
const LONGEST_COMMAND: usize = 128 * 1024;

/// What the hooks of a plugin share.
pub(super) struct Context<'c> {
    pub(super) kind: SourceKind,
    pub(super) owner: &'c Arc<Owner>,
    pub(super) environment: &'c Arc<Environment>,
}

/// Reads a map from events to entries.
pub(super) fn read(context: &Context<'_>, document: &Document, map: &PlacedValue) -> (Vec<Hook>, Vec<Diagnostic>) {
    let mut reader = Reader { context, document, hooks: Vec::new(), found: Vec::new() };
    document.duplicate_keys(map, &mut reader.found);
    for (key, value) in map.members().unwrap_or_default() {
        reader.event(key, value);
    }
    (reader.hooks, reader.found)
}

/// Reads a file of hooks, which holds the map itself.
pub(super) fn read_file(context: &Context<'_>, document: &Document) -> (Vec<Hook>, Vec<Diagnostic>) {
    let Some(root) = document.root() else { return Default::default() };
    if root.members().is_none() {
        return (Vec::new(), vec![document.mismatch(Code::FileShape, root, "a file of hooks must be an object")]);
    }
    // No event is named `hooks`, so this can only be the outer key of Claude Code's format.
    let Some((key, inner)) = root.member("hooks").filter(|(_, inner)| inner.members().is_some()) else {
        return read(context, document, root);
    };
    let (hooks, mut found) = read(context, document, inner);
    if !found.iter().any(|finding| finding.code == Code::PluginForeignFormat) {
        let message = "the events stand under an outer `hooks` key, as in Claude Code; here they stand at the top";
        let finding = document.finding(Code::PluginHooksWrapped, &key.span, message);
        found.insert(0, finding.hint("remove the outer key"));
    }
    (hooks, found)
}

/// Returns the commands of a group in the format of Claude Code if all of them call `hookrail bridge`. Such a group is meant
/// for Claude Code, so it is not reported. The engine skips its hooks, because the bridge would fire every event again.
fn bridge_calls(group: &[PlacedValue]) -> Option<Vec<&str>> {
    fn call(hook: &PlacedValue) -> Option<&str> {
        hook.get("command")?.text().filter(|command| bridge_program(command).is_some())
    }
    let calls: Option<Vec<&str>> = group.iter().map(call).collect();
    calls.filter(|calls| !calls.is_empty())
}

struct Reader<'r> {
    context: &'r Context<'r>,
    document: &'r Document,
    hooks: Vec<Hook>,
    found: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn report(&mut self, code: Code, span: &Range<usize>, message: impl Into<String>) {
        self.found.push(self.document.finding(code, span, message));
    }

    fn event(&mut self, key: &PlacedKey, value: &PlacedValue) {
        let Some(event) = event_named(DialectId::Xcode, &key.name) else {
            let message = format!("`{}` is not an event; its hooks will not run", key.name);
            let finding = self.document.finding(Code::UnknownEvent, &key.span, message);
            let finding = finding.suggest(&key.name, event_names(DialectId::Xcode));
            self.found.push(match finding.hint {
                Some(_) => finding,
                None => {
                    let names: Vec<&str> = event_names(DialectId::Xcode).collect();
                    finding.hint(format!("the events of plugins are {}", names.join(", ")))
                }
            });
            return;
        };
        let Some(entries) = value.elements() else {
            let message = format!("the hooks of {} must be a list", key.name);
            self.found.push(self.document.mismatch(Code::EventShape, value, message));
            return;
        };
        for entry in entries {
            self.entry(event, &key.name, entry);
        }
    }

    fn entry(&mut self, event: EventKind, event_name: &str, node: &PlacedValue) {
        let Some(members) = node.members() else {
            self.found.push(self.document.mismatch(Code::HookShape, node, "a hook must be an object"));
            return;
        };
        if node.get("command").is_none()
            && let Some(group) = node.get("hooks").and_then(PlacedValue::elements)
        {
            if let Some(calls) = bridge_calls(group) {
                let hooks = calls.into_iter().map(|call| self.new_hook(event, call, Action::Shell(call.into()), node));
                let hooks: Vec<Hook> = hooks.collect();
                self.hooks.extend(hooks);
                return;
            }
            let message = "this is a group of hooks in the format of Claude Code; a plugin's hook is an object with \
                           its own `command`";
            let finding = self.document.finding(Code::PluginForeignFormat, &node.span, message);
            let hint = "write `{\"matcher\": …, \"command\": …}` for each command, with `timeout` in milliseconds";
            self.found.push(finding.hint(hint));
            return;
        }
        self.document.unknown_keys(members, &KEYS, "a hook", &mut self.found);
        let enforcement = enforcement::read(self.document, node, &mut self.found);
        let mut on_failure = self.failure_policy(node);
        let command = self.command(node);
        let timeout = self.timeout(node);
        let matcher = self.matcher(event, event_name, node);
        let action = match (&command, &timeout, &matcher) {
            (Ok(command), Ok(_), Ok(_)) => Action::Shell(command.as_str().into()),
            // What is not enforced guards nothing, usable or not; what is wrong with it was reported.
            _ if enforcement == Enforcement::Shadow => return,
            // A guard whose failure has an effect must never disappear silently.
            (Err(why), _, _) | (_, Err(why), _) | (_, _, Err(why))
                if on_failure == OnFailure::Block || self.context.kind == SourceKind::System =>
            {
                on_failure = OnFailure::Block;
                let message = "this guard cannot be used, so its event ends as its `failurePolicy` says";
                self.report(Code::GuardUnusable, &node.span, message);
                Action::Unusable(why.as_str().into())
            }
            _ => return,
        };
        let text = command.as_deref().ok().or_else(|| node.get("command").and_then(PlacedValue::text));
        let mut hook = self.new_hook(event, text.unwrap_or("(no command)"), action, node);
        hook.description = self.optional_text(node, "description");
        hook.status_message = self.optional_text(node, "statusMessage");
        hook.on_failure = on_failure;
        hook.enforcement = enforcement;
        hook.conditions.extend(condition_key::read(self.document, node, &mut self.found));
        if let Ok(Some(timeout)) = timeout {
            hook.timeout = timeout;
        }
        if let Ok(matcher) = matcher {
            hook.matcher = matcher;
        }
        self.variables(&mut hook, node);
        sandbox::read_into(&mut hook, self.document, node, &mut self.found);
        self.hooks.push(hook);
    }

    /// Makes a hook of the plugin that has only its command.
    fn new_hook(&self, event: EventKind, command: &str, action: Action, node: &PlacedValue) -> Hook {
        let label = format!("{}: {command}", self.context.owner.id);
        let origin = Origin { kind: self.context.kind, location: self.document.location(&node.span) };
        let mut hook = Hook::new(event, DialectId::Xcode, label, action, origin);
        hook.owner = Some(Arc::clone(self.context.owner));
        hook.environment = Some(Arc::clone(self.context.environment));
        hook
    }

    fn failure_policy(&mut self, node: &PlacedValue) -> OnFailure {
        let Some(value) = node.get("failurePolicy") else { return OnFailure::Allow };
        match value.text() {
            Some("allow") => OnFailure::Allow,
            Some("block") => OnFailure::Block,
            _ => {
                // The author of this key wanted a failure to have an effect, so an invalid value is read as the
                // strictest one.
                let message = "`failurePolicy` must be \"allow\" or \"block\"; it is read as \"block\"";
                let finding = self.document.finding(Code::SettingValue, &value.span, message);
                self.found.push(finding.suggest(value.text().unwrap_or_default(), ["allow", "block"]));
                OnFailure::Block
            }
        }
    }

    /// Returns the command for this operating system. The commands for the others are checked too, so that a plugin's author
    /// sees a mistake on every system.
    fn command(&mut self, node: &PlacedValue) -> Result<String, String> {
        let mut problem = None;
        for key in COMMANDS {
            let message = match node.get(key) {
                None if key == "command" => "a hook needs a `command`".to_owned(),
                None => continue,
                Some(value) => match value.text() {
                    Some(text) if text.contains('\0') => format!("`{key}` contains a NUL character"),
                    Some(text) if text.trim().is_empty() => format!("`{key}` is empty"),
                    Some(text) if text.len() > LONGEST_COMMAND => {
                        format!("`{key}` is longer than {LONGEST_COMMAND} bytes, so no system would start it")
                    }
                    Some(_) => continue,
                    None => format!("`{key}` must be a string, not {}", value.described()),
                },
            };
            let span = node.get(key).map_or(&node.span, |value| &value.span);
            self.report(Code::HookCommand, span, message.clone());
            problem.get_or_insert(message);
        }
        let own = match std::env::consts::OS {
            "windows" => "commandWindows",
            "macos" => "commandDarwin",
            "linux" => "commandLinux",
            _ => "command",
        };
        let text = |key: &str| node.get(key).and_then(PlacedValue::text).map(str::to_owned);
        match problem {
            Some(problem) => Err(problem),
            None => Ok(text(own).or_else(|| text("command")).unwrap_or_default()),
        }
    }

    fn timeout(&mut self, node: &PlacedValue) -> Result<Option<Duration>, String> {
        let Some(value) = node.get("timeout") else { return Ok(None) };
        let given = match &value.shape {
            ValueShape::Number(number) => number.parse::<f64>().ok(),
            _ => None,
        };
        match given.filter(|ms| ms.is_finite() && *ms > 0.0 && ms.fract() == 0.0) {
            Some(ms) if ms > MAX_TIMEOUT_MS => {
                let message = format!("`timeout` is over the ceiling of {MAX_TIMEOUT_MS} ms and was cut to that");
                self.report(Code::TimeoutClamped, &value.span, message);
                Ok(Some(Duration::from_secs_f64(MAX_TIMEOUT_MS / 1000.0)))
            }
            Some(ms) => Ok(Some(Duration::from_secs_f64(ms / 1000.0))),
            None => {
                let message = "`timeout` must be a positive whole number of milliseconds; the hook is left out";
                let hint = "write for example `\"timeout\": 5000`";
                self.found.push(self.document.finding(Code::TimeoutRejected, &value.span, message).hint(hint));
                Err("its `timeout` is not a positive whole number".to_owned())
            }
        }
    }

    fn matcher(&mut self, event: EventKind, event_name: &str, node: &PlacedValue) -> Result<Matcher, String> {
        let Some((key, value)) = node.member("matcher") else { return Ok(Matcher::everything()) };
        let Some(pattern) = value.text() else {
            let message = format!("`matcher` must be a string, not {}; the hook is left out", value.described());
            self.report(Code::MatcherType, &value.span, message.clone());
            return Err(message);
        };
        if event.spec().matched_on(DialectId::Xcode).is_none() {
            if !matches!(pattern, "" | "*") {
                let message = format!("{event_name} hooks always run; the matcher has no effect");
                self.report(Code::MatcherIgnored, &key.span, message);
            }
            return Ok(Matcher::everything());
        }
        let compiled = compile_matcher(pattern);
        if let Some(problem) = compiled.problem {
            let message = format!("`{pattern}` is not a valid pattern ({problem}); it matches every tool");
            self.report(Code::HooksMatcherInvalid, &value.span, message);
        }
        Ok(compiled.matcher)
    }

    fn optional_text(&mut self, node: &PlacedValue, key: &str) -> Option<Arc<str>> {
        let value = node.get(key)?;
        if value.text().is_none() {
            self.found.push(self.document.mismatch(Code::SettingType, value, format!("`{key}` must be a string")));
        }
        value.text().map(Arc::from)
    }

    fn variables(&mut self, hook: &mut Hook, node: &PlacedValue) {
        let Action::Shell(command) = &hook.action else { return };
        let span = COMMANDS
            .iter()
            .rev()
            .filter_map(|key| node.get(key))
            .find(|value| value.text() == Some(command))
            .map_or(&node.span, |value| &value.span);
        let findings = variables::check_variables(command, hook);
        for name in findings.unknown {
            let message = format!("`${{{name}}}` is not a variable; the command will see it as it is written");
            let finding = self.document.finding(Code::VariableUnknown, span, message);
            self.found.push(match nearest(&name, variables::NAMES) {
                Some(known) => finding.hint(format!("did you mean `${{{known}}}`?")),
                None => finding,
            });
        }
        if let Some(why) = findings.unsafe_use {
            let message = variables::refusal(why);
            let finding = self.document.finding(Code::VariableUnsafe, span, message.clone());
            self.found.push(finding.hint(variables::REFUSAL_HINT));
            hook.action = Action::Unusable(message.into());
        }
    }
}

/// Compiles a pattern in the language of this dialect.
pub(crate) fn compile_matcher(pattern: &str) -> CompiledMatcher {
    Matcher::compile(pattern, Language::Regex, MatchScope::Anywhere, OnInvalid::MatchAll)
}
