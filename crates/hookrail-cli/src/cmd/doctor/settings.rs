//! Reads the settings of an agent, and looks at whether the agent can read them and whether they turn hooks off.

use std::path::{Path, PathBuf};

use hookrail_bridge::install::{
    BridgeCall, BridgeOption, Locations, MissingProgram, Scope, SettingsSyntax, bridge_calls, read_settings,
};
use hookrail_bridge::{Agent, NoisyEvents};
use serde_json::Value;

use super::Check;
use crate::project::home;

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
    let others: Vec<PathBuf> = match agent {
        Agent::Claude => {
            vec![project.join(".claude/settings.local.json"), PathBuf::from("/etc/claude-code/managed-settings.json")]
        }
        Agent::Codex => {
            let project = project.join(".codex/config.toml");
            vec![folder.join("config.toml"), project, PathBuf::from("/etc/codex/config.toml")]
        }
        Agent::Gemini => {
            let own = home.join(".gemini");
            vec![own.join("settings.json"), own.join("extensions/extension-enablement.json")]
        }
        Agent::Copilot => {
            let above = folder.parent().unwrap_or(&folder);
            let mut paths = vec![above.join("settings.json"), above.join("config.json")];
            // Copilot runs the hooks of every file in these folders.
            paths.extend(json_files(&folder));
            paths.extend(json_files(&project.join(".github/hooks")));
            paths
        }
        Agent::Qwen | Agent::OpenCode | Agent::Pi => Vec::new(),
    };
    for path in others {
        if places.iter().all(|(known, _)| *known != path) {
            places.push((path, None));
        }
    }
    places.into_iter().filter_map(|(path, scope)| read(agent, path, scope)).collect()
}

/// Whether an entry tells the bridge to fire events that the agent repeats without need.
pub(super) fn noisy_events(files: &[AgentSettings]) -> NoisyEvents {
    let mut commands = files.iter().flat_map(|file| &file.calls).map(|call| &call.command);
    let is_noisy =
        |command: &String| command.split_whitespace().any(|word| word.trim_matches('\'') == BridgeOption::Noisy.flag());
    if commands.any(is_noisy) { NoisyEvents::Fired } else { NoisyEvents::Filtered }
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
    let syntax = match agent {
        Agent::Claude | Agent::Codex => SettingsSyntax::StrictJson,
        Agent::Gemini | Agent::Qwen => SettingsSyntax::JsonWithComments,
        Agent::Copilot | Agent::OpenCode | Agent::Pi => SettingsSyntax::LenientJson,
    };
    let document = match path.extension().is_some_and(|extension| extension == "toml") {
        true => toml::from_str::<Value>(&text).map_err(|error| error.message().to_owned()),
        false if text.trim().is_empty() => Ok(Value::Null),
        false => read_settings(&text, syntax).map_err(|error| error.to_string()),
    };
    let (document, problem) = match document {
        Ok(document) => (document, None),
        Err(problem) => (Value::Null, Some(problem)),
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
    let mut command = format!("{} bridge {agent}", quoted(&program));
    if let Some(deadline) = constant("DEADLINE") {
        command.push_str(&format!(" --deadline {}", quoted(&deadline.to_string())));
    }
    for option in constant("OPTIONS").as_ref().and_then(Value::as_array).into_iter().flatten() {
        command.push_str(&format!(" {}", quoted(option.as_str().unwrap_or_default())));
    }
    let (event, missing_program) = (EVERY_EVENT.to_owned(), MissingProgram::Denies);
    Some(BridgeCall { event, command, program, timeout: None, differences: Vec::new(), missing_program })
}

/// Looks at the files as such: whether the agent can read them, and whether they turn hooks off.
pub(super) fn examine_files(agent: Agent, files: &[AgentSettings]) -> Vec<Check> {
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
        if let Some(switch) = switched_off(agent, &file.document) {
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
fn switched_off(agent: Agent, document: &Value) -> Option<&'static str> {
    let is = |pointer: &str, value: bool| document.pointer(pointer) == Some(&Value::Bool(value));
    let lists = |pointer: &str| {
        let list = document.pointer(pointer).and_then(Value::as_array);
        list.is_some_and(|list| list.iter().any(|name| name == "hookrail"))
    };
    let excludes_all = || {
        let overrides = document.pointer("/hookrail/overrides").and_then(Value::as_array);
        overrides.is_some_and(|list| list.iter().any(|rule| rule == "!/*" || rule == "!*"))
    };
    match agent {
        Agent::Claude | Agent::Copilot if is("/disableAllHooks", true) => Some("disableAllHooks"),
        Agent::Codex if is("/features/hooks", false) => Some("features.hooks"),
        Agent::Gemini | Agent::Qwen if is("/hooksConfig/enabled", false) => Some("hooksConfig.enabled"),
        Agent::Gemini | Agent::Qwen if lists("/hooksConfig/disabled") => Some("hooksConfig.disabled"),
        Agent::Qwen if is("/disableAllHooks", true) => Some("disableAllHooks"),
        Agent::Gemini if excludes_all() => Some("hookrail.overrides"),
        _ => None,
    }
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
