//! Reads the settings of an agent, and looks at whether the agent can read them and whether they turn hooks off.

use std::path::{Path, PathBuf};

use hookrail::dialect::llxprt::is_extension_disabled;
use hookrail_bridge::install::{
    BridgeCall, BridgeOption, Locations, MissingProgram, Scope, bridge_calls, read_agent_file,
};
use hookrail_bridge::{Agent, NoisyEvents};
use serde_json::Value;

use super::Check;
use crate::folders::home;

/// Where administrators put settings for all users, which the system scope belongs to.
const CLAUDE_MANAGED: &str = "/etc/claude-code";
const CODEX_MANAGED: &str = "/etc/codex";

/// A settings file of an agent.
#[derive(Debug)]
pub(super) struct AgentSettings {
    pub(super) path: PathBuf,
    /// The scope whose installation writes the file; none if no installation does.
    pub(super) scope: Option<Scope>,
    pub(super) text: String,
    /// What the file says; nothing if the agent cannot read it.
    pub(super) document: Value,
    /// The hooks in it that call the bridge.
    pub(super) calls: Vec<BridgeCall>,
    problem: Option<String>,
}

/// Every file in which the agent may have hooks or switches.
pub(super) fn read_all(agent: Agent, project: &Path) -> Vec<AgentSettings> {
    let Some(home) = home() else { return Vec::new() };
    let variable = |name: &str| std::env::var(name).ok();
    let locations = Locations { home: &home, project, variable: &variable };
    let written = |scope| Some((locations.settings_path(agent, scope).ok()?, Some(scope)));
    let mut places: Vec<(PathBuf, Option<Scope>)> =
        [Scope::User, Scope::Project, Scope::System].into_iter().filter_map(written).collect();
    let folder = places.first().and_then(|(path, _)| path.parent()).map(Path::to_owned).unwrap_or_default();
    let mut others = locations.hook_files(agent);
    others.extend(match agent {
        Agent::Claude => {
            let managed = Path::new(CLAUDE_MANAGED);
            let mut paths = vec![managed.join("managed-settings.json")];
            paths.extend(json_files(&managed.join("managed-settings.d")));
            paths
        }
        Agent::Codex => ["config.toml", "requirements.toml"].map(|name| Path::new(CODEX_MANAGED).join(name)).to_vec(),
        Agent::Gemini => vec![home.join(".gemini/extensions/extension-enablement.json")],
        Agent::Copilot => {
            let above = folder.parent().unwrap_or(&folder);
            let mut paths = vec![above.join("settings.json"), above.join("config.json")];
            // Copilot runs the hooks of every file in these folders.
            paths.extend(json_files(&folder));
            paths.extend(json_files(&project.join(".github/hooks")));
            paths
        }
        Agent::Qwen | Agent::OpenCode | Agent::Pi => Vec::new(),
    });
    for path in others {
        if places.iter().all(|(known, _)| *known != path) {
            places.push((path, None));
        }
    }
    places.into_iter().filter_map(|(path, scope)| read(agent, path, scope)).collect()
}

/// Whether an entry tells the bridge to fire events that the agent repeats without need.
pub(super) fn noisy_events(files: &[AgentSettings]) -> NoisyEvents {
    let mut words = files.iter().flat_map(|file| &file.calls).flat_map(|call| &call.arguments);
    if words.any(|word| word == BridgeOption::Noisy.flag()) { NoisyEvents::Fired } else { NoisyEvents::Filtered }
}

/// The files of a folder that are named as JSON, in the order of their names.
fn json_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    files
}

fn read(agent: Agent, path: PathBuf, scope: Option<Scope>) -> Option<AgentSettings> {
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => {
            let problem = Some(error.to_string());
            let calls = Vec::new();
            return Some(AgentSettings { path, scope, text: String::new(), document: Value::Null, calls, problem });
        }
    };
    if matches!(agent, Agent::OpenCode | Agent::Pi) {
        let calls = plugin_call(agent, &text).into_iter().collect();
        return Some(AgentSettings { path, scope, text, document: Value::Null, calls, problem: None });
    }
    let (document, problem) = match read_agent_file(agent, &path, &text) {
        Ok(document) => (document, None),
        Err(problem) => (Value::Null, Some(problem.to_string())),
    };
    let calls = bridge_calls(agent, &document);
    Some(AgentSettings { path, scope, text, document, calls, problem })
}

impl AgentSettings {
    /// The instruction that makes the entries of the file current.
    pub(super) fn repair(&self, agent: Agent) -> String {
        match self.scope {
            Some(Scope::User) => format!("run `hookrail install {agent}` again"),
            Some(scope) => format!("run `hookrail install {agent} --scope {}` again", scope.name()),
            None => {
                let shown = self.path.display();
                format!(
                    "change or remove the entries in `{shown}` by hand: `hookrail install` does not write that file"
                )
            }
        }
    }
}

/// The event of a call by a generated plugin.
pub(super) const EVERY_EVENT: &str = "every event";

/// A generated plugin calls the bridge for every event that it knows, with the constants at its beginning.
fn plugin_call(agent: Agent, text: &str) -> Option<BridgeCall> {
    let constant = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("const {name} = ")))?;
        serde_json::from_str::<Value>(line.trim_end().trim_end_matches(';')).ok()
    };
    let quoted = |word: &str| format!("'{}'", word.replace('\'', "'\\''"));
    let program = constant("PROGRAM")?.as_str()?.to_owned();
    let mut arguments = vec!["bridge".to_owned(), agent.name().to_owned()];
    if let Some(deadline) = constant("DEADLINE") {
        arguments.extend(["--deadline".to_owned(), deadline.to_string()]);
    }
    let options = constant("OPTIONS");
    let options = options.as_ref().and_then(Value::as_array).into_iter().flatten();
    arguments.extend(options.map(|option| option.as_str().unwrap_or_default().to_owned()));
    let command = arguments.iter().fold(quoted(&program), |line, word| format!("{line} {}", quoted(word)));
    let (event, missing_program) = (EVERY_EVENT.to_owned(), MissingProgram::Denies);
    Some(BridgeCall { event, command, program, arguments, timeout: None, differences: Vec::new(), missing_program })
}

/// Looks at the files as such: whether the agent can read them, and whether they turn hooks off.
pub(super) fn examine_files(agent: Agent, files: &[AgentSettings], project: &Path) -> Vec<Check> {
    let is_managed =
        |file: &AgentSettings| [CLAUDE_MANAGED, CODEX_MANAGED].iter().any(|folder| file.path.starts_with(folder));
    let managed_calls = files.iter().any(|file| is_managed(file) && !file.calls.is_empty());
    let mut checks = Vec::new();
    for file in files {
        let shown = file.path.display();
        if let Some(problem) = &file.problem {
            let text = format!("{} cannot read `{shown}`: {problem}", agent.title());
            checks.push(Check::error(
                "settings",
                text,
                "repair the file: the agent ignores all its hooks, or does not start",
            ));
        }
        let managed_only = managed_only(agent, &file.document).filter(|_| !managed_calls);
        if let Some(switch) = switched_off(agent, file, project).or(managed_only) {
            let text = format!("`{switch}` in `{shown}` turns hooks of hookrail off");
            checks.push(Check::error("switches", text, format!("remove `{switch}` from `{shown}`")));
        }
    }
    if checks.is_empty() {
        checks.push(Check::fine("switches", "no setting turns hooks off"));
    }
    checks
}

/// The setting that keeps the entries of hookrail from being called.
fn switched_off(agent: Agent, file: &AgentSettings, project: &Path) -> Option<&'static str> {
    let document = &file.document;
    let is = |pointer: &str, value: bool| document.pointer(pointer) == Some(&Value::Bool(value));
    let lists = |pointer: &str| {
        let list = document.pointer(pointer).and_then(Value::as_array);
        list.is_some_and(|list| list.iter().any(|name| name == "hookrail"))
    };
    let is_excluded = || {
        let is_enablement = file.path.ends_with("extension-enablement.json");
        is_enablement && is_extension_disabled(&file.text, "hookrail", project)
    };
    match agent {
        Agent::Claude | Agent::Copilot if is("/disableAllHooks", true) => Some("disableAllHooks"),
        Agent::Codex if is("/features/hooks", false) => Some("features.hooks"),
        Agent::Gemini | Agent::Qwen if is("/hooksConfig/enabled", false) => Some("hooksConfig.enabled"),
        Agent::Gemini | Agent::Qwen if lists("/hooksConfig/disabled") => Some("hooksConfig.disabled"),
        Agent::Qwen if is("/disableAllHooks", true) => Some("disableAllHooks"),
        Agent::Gemini if is_excluded() => Some("hookrail.overrides"),
        _ => None,
    }
}

/// The setting that makes the agent call hooks of the administrator alone.
fn managed_only(agent: Agent, document: &Value) -> Option<&'static str> {
    let switch = match agent {
        Agent::Claude => "allowManagedHooksOnly",
        Agent::Codex => "allow_managed_hooks_only",
        Agent::Gemini | Agent::Qwen | Agent::Copilot | Agent::OpenCode | Agent::Pi => return None,
    };
    (document.get(switch) == Some(&Value::Bool(true))).then_some(switch)
}

#[cfg(unix)]
pub(super) fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
pub(super) fn is_executable(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::CheckHealth;
    use super::*;

    fn settings(path: &str, document: Value) -> AgentSettings {
        let calls = bridge_calls(Agent::Claude, &document);
        let (text, scope, problem) = (document.to_string(), None, None);
        AgentSettings { path: PathBuf::from(path), scope, text, document, calls, problem }
    }

    /// Hooks of the administrator go on, so an installation for the system is not turned off.
    #[test]
    fn managed_hooks_alone_turn_off_what_is_installed_elsewhere() {
        let call = json!({ "PreToolUse": [{ "hooks": [{ "command": "hookrail bridge claude" }] }] });
        let only = settings("/etc/claude-code/managed-settings.json", json!({ "allowManagedHooksOnly": true }));
        let system = settings("/etc/claude-code/managed-settings.d/50-hookrail.json", json!({ "hooks": call }));
        let user = settings("/home/user/.claude/settings.json", json!({ "hooks": call }));
        let examined = |files: &[AgentSettings]| {
            let checks = examine_files(Agent::Claude, files, Path::new("/p"));
            checks.iter().map(|check| check.health == CheckHealth::Fine).collect::<Vec<_>>()
        };
        let mut files = vec![only, user];
        assert_eq!(examined(&files), [false]);
        files.push(system);
        assert_eq!(examined(&files), [true]);
        let required = settings("/etc/codex/requirements.toml", json!({ "allow_managed_hooks_only": true }));
        let checks = examine_files(Agent::Codex, &[required], Path::new("/p"));
        assert!(checks.iter().any(|check| check.text.contains("allow_managed_hooks_only")), "{checks:?}");
    }
}
