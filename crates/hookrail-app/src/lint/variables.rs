//! Variables of other agents, and misspelt ones: nothing sets them, so the path that begins with one does not exist.

use hookrail::hook::Action;
use hookrail::sources::nearest;
use hookrail::{Code, DialectId, Hook};

use super::Finding;
use super::command_line::variables_in;
use super::context::{HookContext, LintContext};
use super::fix::Fix;
use super::quoting::PROJECT_VARIABLES;

/// Variables with which other agents name the folder of a plugin.
const PLUGIN_FOLDERS: [&str; 7] = [
    "CLAUDE_PLUGIN_ROOT",
    "CURSOR_PLUGIN_ROOT",
    "CODEX_PLUGIN_ROOT",
    "PLUGIN_ROOT",
    "PLUGIN_DIR",
    "pluginDir",
    "extensionPath",
];

/// Variables with which other agents name the folder for what a plugin keeps.
const PLUGIN_DATA: [&str; 3] = ["CLAUDE_PLUGIN_DATA", "PLUGIN_DATA_DIR", "pluginDataDir"];

/// Variables with which other agents name the project.
const PROJECTS: [&str; 7] = [
    "CURSOR_PROJECT_DIR",
    "QWEN_PROJECT_DIR",
    "CODEX_PROJECT_DIR",
    "COPILOT_PROJECT_DIR",
    "PROJECT_DIR",
    "WORKSPACE_DIR",
    "workspacePath",
];

/// Beginnings of names, and names, that hooks of agents read from the environment and no agent sets: the payload is on standard
/// input.
const NEVER_SET: [(&str, &str); 12] = [
    ("CLAUDE_TOOL_INPUT", ".tool_input"),
    ("CLAUDE_TOOL_NAME", ".tool_name"),
    ("CLAUDE_TOOL_OUTPUT", ".tool_response"),
    ("CLAUDE_TOOL_", ".tool_input"),
    ("CLAUDE_FILE_PATH", ".tool_input.file_path"),
    ("CLAUDE_SESSION_ID", ".session_id"),
    ("CLAUDE_NOTIFICATION", ".message"),
    ("CLAUDE_HOOK_EVENT", ".hook_event_name"),
    ("CLAUDE_USER_PROMPT", ".prompt"),
    ("TOOL_ARGS", ".tool_input"),
    ("TOOL_INPUT", ".tool_input"),
    ("STDIN_JSON", "."),
];

pub(super) fn check(context: &LintContext<'_>) -> Vec<Finding> {
    context.active().flat_map(|seen| of_hook(context, seen)).collect()
}

/// The variables of one hook's command that nothing sets.
pub(super) fn of_hook(context: &LintContext<'_>, seen: &HookContext<'_>) -> Vec<Finding> {
    let hook = seen.hook;
    let Action::Shell(line) = &hook.action else { return Vec::new() };
    let mut found = Vec::new();
    for (name, written) in variables_in(line) {
        // A plugin's variables in braces are the engine's, which reports those that it does not know.
        if hook.dialect == DialectId::Xcode && written.starts_with("${") || is_set(hook, &name) {
            continue;
        }
        if hook.dialect.needs_enabling() {
            found.extend(never_set(context, hook, line, &name, &written));
            continue;
        }
        let folder = super::scripts::owner_variable(hook).unwrap_or_default();
        let Some(ours) = meant(&name, hook.dialect, &folder).filter(|ours| !ours.is_empty()) else { continue };
        let message = format!("`{written}` in the command of hook `{hook}` is not set, so it is empty");
        let diagnostic = context.about_key(hook, "command", Code::VariableUnknown, message);
        let fix = Fix::replace_text(context, hook, "command", line, &line.replace(&written, ours));
        found.push(Finding { diagnostic: diagnostic.hint(format!("write `{ours}`")), fix });
    }
    found
}

/// Reports a variable that no agent sets, unless the line sets it itself.
fn never_set(context: &LintContext<'_>, hook: &Hook, line: &str, name: &str, written: &str) -> Option<Finding> {
    let (_, field) = NEVER_SET.iter().find(|(beginning, _)| name.starts_with(beginning))?;
    let is_assigned = [format!("{name}="), format!("read {name}"), format!("read -r {name}")];
    if is_assigned.iter().any(|assignment| line.contains(assignment)) {
        return None;
    }
    let message = format!("`{written}` in the command of hook `{hook}` is set by no agent, so it is empty");
    let diagnostic = context.about_key(hook, "command", Code::VariableUnknown, message);
    Some(Finding::new(diagnostic.hint(format!("read the payload on standard input: `jq -r '{field}'`"))))
}

/// Whether a hook's environment has a variable.
fn is_set(hook: &Hook, name: &str) -> bool {
    let of_extension = hook.owner.is_some() && ["extensionPath", "workspacePath", "pathSeparator"].contains(&name);
    let of_dialect =
        hook.dialect == DialectId::Llxprt && of_extension || hook.dialect.variables_of_project().contains(&name);
    let own = hook.environment.as_ref().is_some_and(|environment| environment.get(name).is_some());
    of_dialect || own || std::env::var_os(name).is_some()
}

/// Returns what a plugin's file has to write instead of a variable that the engine does not know.
pub(super) fn meant_in_plugin(name: &str) -> Option<&'static str> {
    meant(name, DialectId::Xcode, "${pluginDir}")
}

/// What a variable is called here.
fn meant<'f>(name: &str, dialect: DialectId, folder: &'f str) -> Option<&'f str> {
    let is_plugin = dialect == DialectId::Xcode;
    if PLUGIN_FOLDERS.contains(&name) {
        return Some(folder);
    }
    if PLUGIN_DATA.contains(&name) {
        return is_plugin.then_some("${pluginDataDir}");
    }
    let of_project = PROJECT_VARIABLES.contains(&name)
        || PROJECTS.contains(&name)
        || name.contains("PROJECT") && nearest(name, PROJECT_VARIABLES).is_some();
    of_project.then_some(if is_plugin { "${cwd}" } else { "$LLXPRT_PROJECT_DIR" })
}
