//! The entries of this dialect: their keys, and the types that only it has.

use super::events;
use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::{Document, PlacedValue, ValueShape};
use crate::dialect::command_hooks::{
    CommandDialect, EntryRules, FailingStatus, HookOutput, InvalidValue, NearJson, OutputRules, OwnType, SettingsEvent,
    TimeoutUnit, require_executable_guard,
};
use crate::dialect_id::DialectId;
use crate::event::EventKind;
use crate::hook::condition::HookCondition;
use crate::hook::exec_options::CommandShell;
use crate::hook::{Action, Hook, HookDelivery, OnFailure};
use crate::json::{Json, JsonObject};
use crate::matcher::{CompiledMatcher, OnInvalid};

use super::{Claude, answer, http, matcher};

/// The types of entries that run in the agent only: a question to its model, an agent of its own, a tool of a server.
const NOT_EXECUTABLE: [&str; 3] = ["prompt", "agent", "mcp_tool"];

const ENTRIES: EntryRules = EntryRules {
    group_keys: &["matcher", "hooks", "description"],
    hook_keys: &[
        "type",
        "command",
        "args",
        "timeout",
        "statusMessage",
        "onFailure",
        "async",
        "asyncRewake",
        "once",
        "if",
        "shell",
        "url",
        "headers",
        "allowedEnvVars",
        "prompt",
        "model",
        "server",
        "tool",
        "input",
        "name",
        "description",
        crate::dialect::enforcement::KEY,
        crate::dialect::sandbox::PROFILE_KEY,
        crate::dialect::sandbox::REQUIRED_KEY,
    ],
    types: &["command", "http", "prompt", "agent", "mcp_tool"],
    invalid: InvalidValue::Ignored,
};

impl CommandDialect for Claude {
    const DIALECT: DialectId = DialectId::Claude;
    const TIMEOUT_UNIT: TimeoutUnit = TimeoutUnit::SECONDS;
    const ENTRIES: EntryRules = ENTRIES;
    const OUTPUT: OutputRules = OutputRules { near_json: NearJson::Text, failing_status: FailingStatus::KeepsDenial };

    fn compile_matcher(_event: EventKind, pattern: &str, on_invalid: OnInvalid) -> CompiledMatcher {
        matcher::compile(pattern, on_invalid)
    }

    fn settings_event(name: &str) -> SettingsEvent {
        events::settings_event(name)
    }

    fn own_type(kind: &str, document: &Document, node: &PlacedValue) -> Option<OwnType> {
        let why = match kind {
            http::TYPE => {
                let (target, found) = http::read(document, node);
                return Some(OwnType { action: target.map(Action::Http), found });
            }
            kind if NOT_EXECUTABLE.contains(&kind) => format!("hooks of type `{kind}` run in Claude Code only"),
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
        if let Some(name) = node.get("shell").and_then(PlacedValue::text) {
            match name {
                "bash" => hook.shell = Some(CommandShell::Bash),
                "sh" => hook.shell = Some(CommandShell::Posix),
                other => {
                    let why = format!("its shell is `{other}`, which is not executable here");
                    found.push(document.finding(Code::NotExecutable, &node.span, why.clone()));
                    hook.action = Action::NotExecutable(why.into());
                }
            }
        }
        let says = |key: &str| matches!(node.get(key).map(|value| &value.shape), Some(ValueShape::Flag(true)));
        if says("once") {
            hook.conditions.push(HookCondition::FirstInSession);
        }
        if says("async") || says("asyncRewake") {
            hook.delivery = if says("asyncRewake") { HookDelivery::HeardLater } else { HookDelivery::Detached };
            if hook.on_failure != OnFailure::Allow {
                let why = "`async` and `onFailure` exclude each other: a hook that is not awaited guards nothing";
                found.push(document.finding(Code::SettingValue, &node.span, why));
                hook.delivery = HookDelivery::Awaited;
                return Err(why.to_owned());
            }
        }
        require_executable_guard(hook)
    }

    fn prepare_answer(answer: &mut JsonObject) {
        answer::read_deferral(answer);
    }

    /// Text is context for the model where the agent takes it for that, and nothing elsewhere.
    fn text_answer(event: EventKind, text: &str) -> HookOutput {
        let is_context = matches!(event, EventKind::SessionStart | EventKind::Prompt);
        let context = || [("additionalContext".to_owned(), Json::string(text))].into_iter().collect::<JsonObject>();
        HookOutput { hook_specific_output: is_context.then(context), ..HookOutput::default() }
    }

    fn check_specific(event: EventKind, output: &mut HookOutput) -> Vec<Diagnostic> {
        answer::check(event, output)
    }

    fn specific_members(event: EventKind) -> Vec<&'static str> {
        answer::known_on(event)
    }
}
