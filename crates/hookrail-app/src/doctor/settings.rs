//! Reads the settings of an agent, and looks at whether the agent can read them and whether they turn hooks off.

use std::path::{Path, PathBuf};

use hookrail_bridge::doctor::DoctorCheck;
use hookrail_bridge::install::{
    AgentFile, AgentFolders, BridgeOption, InstalledCall, MissingProgram, Scope, bridge_calls, read_agent_file,
};
use hookrail_bridge::{Agent, NoisyEvents};
use serde_json::Value;

use crate::agent_entries::other_files;
use crate::folders::home;

/// Every file in which the agent may have hooks or switches.
pub(super) fn read_all(agent: Agent, project: &Path) -> Vec<AgentFile> {
    let Some(home) = home() else { return Vec::new() };
    let variable = |name: &str| std::env::var(name).ok();
    let agent_folders = AgentFolders { home: &home, project, variable: &variable };
    let written = |scope| Some((agent_folders.settings_path(agent, scope).ok()?, Some(scope)));
    let mut places: Vec<(PathBuf, Option<Scope>)> =
        [Scope::User, Scope::Project, Scope::System].into_iter().filter_map(written).collect();
    let others = other_files(&agent_folders, agent);
    for path in agent_folders.hook_files(agent).into_iter().chain(others) {
        if places.iter().all(|(known, _)| *known != path) {
            places.push((path, None));
        }
    }
    places.into_iter().filter_map(|(path, scope)| read(agent, path, scope)).collect()
}

/// Whether an entry tells the bridge to fire events that the agent repeats without need.
pub(super) fn noisy_events(files: &[AgentFile]) -> NoisyEvents {
    let mut words = files.iter().flat_map(|file| &file.calls).flat_map(|call| &call.arguments);
    if words.any(|word| word == BridgeOption::Noisy.flag()) { NoisyEvents::Fired } else { NoisyEvents::Filtered }
}

fn read(agent: Agent, path: PathBuf, scope: Option<Scope>) -> Option<AgentFile> {
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => {
            let problem = Some(error.to_string());
            let calls = Vec::new();
            return Some(AgentFile { path, scope, text: String::new(), document: Value::Null, calls, problem });
        }
    };
    if agent.plugin_template().is_some() {
        let calls = plugin_call(agent, &text).into_iter().collect();
        return Some(AgentFile { path, scope, text, document: Value::Null, calls, problem: None });
    }
    let (document, problem) = match read_agent_file(agent, &path, &text) {
        Ok(document) => (document, None),
        Err(problem) => (Value::Null, Some(problem.to_string())),
    };
    let calls = bridge_calls(agent, &document);
    Some(AgentFile { path, scope, text, document, calls, problem })
}

/// The instruction that makes the entries of a file current.
pub(super) fn repair(agent: Agent, file: &AgentFile) -> String {
    match file.scope {
        Some(Scope::User) => format!("run `hookrail install {agent}` again"),
        Some(scope) => format!("run `hookrail install {agent} --scope {}` again", scope.name()),
        None => {
            let shown = file.path.display();
            format!("change or remove the entries in `{shown}` by hand: `hookrail install` does not write that file")
        }
    }
}

/// The event of a call by a generated plugin.
pub(super) const EVERY_EVENT: &str = "every event";

/// A generated plugin calls the bridge for every event that it knows, with the constants at its beginning.
fn plugin_call(agent: Agent, text: &str) -> Option<InstalledCall> {
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
    Some(InstalledCall { event, command, program, arguments, timeout: None, differences: Vec::new(), missing_program })
}

/// Looks at the files as such: whether the agent can read them, and whether they turn hooks off.
pub(super) fn examine_files(agent: Agent, files: &[AgentFile], project: &Path) -> Vec<DoctorCheck> {
    let doctor = &agent.spec().doctor;
    let is_managed = |file: &AgentFile| doctor.managed.is_some_and(|managed| file.path.starts_with(managed.folder));
    let managed_calls = files.iter().any(|file| is_managed(file) && !file.calls.is_empty());
    let managed_only = |file: &AgentFile| {
        let switch = doctor.managed?.only;
        (!managed_calls && file.document.get(switch) == Some(&Value::Bool(true))).then_some(switch)
    };
    let mut checks = Vec::new();
    for file in files {
        let shown = file.path.display();
        if let Some(problem) = &file.problem {
            let text = format!("{} cannot read `{shown}`: {problem}", agent.title());
            checks.push(DoctorCheck::error(
                "settings",
                text,
                "repair the file: the agent ignores all its hooks, or does not start",
            ));
        }
        if let Some(switch) = (doctor.switched_off)(file, project).or_else(|| managed_only(file)) {
            let text = format!("`{switch}` in `{shown}` turns hooks of hookrail off");
            checks.push(DoctorCheck::error("switches", text, format!("remove `{switch}` from `{shown}`")));
        }
    }
    if checks.is_empty() {
        checks.push(DoctorCheck::fine("switches", "no setting turns hooks off"));
    }
    checks
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
    use hookrail_bridge::doctor::CheckHealth;
    use serde_json::json;

    use super::*;

    fn settings(path: &str, document: Value) -> AgentFile {
        let calls = bridge_calls(Agent::claude(), &document);
        let (text, scope, problem) = (document.to_string(), None, None);
        AgentFile { path: PathBuf::from(path), scope, text, document, calls, problem }
    }

    /// Hooks of the administrator go on, so an installation for the system is not turned off.
    #[test]
    fn managed_hooks_alone_turn_off_what_is_installed_elsewhere() {
        let call = json!({ "PreToolUse": [{ "hooks": [{ "command": "hookrail bridge claude" }] }] });
        let only = settings("/etc/claude-code/managed-settings.json", json!({ "allowManagedHooksOnly": true }));
        let system = settings("/etc/claude-code/managed-settings.d/50-hookrail.json", json!({ "hooks": call }));
        let user = settings("/home/user/.claude/settings.json", json!({ "hooks": call }));
        let examined = |files: &[AgentFile]| {
            let checks = examine_files(Agent::claude(), files, Path::new("/p"));
            checks.iter().map(|check| check.health == CheckHealth::Fine).collect::<Vec<_>>()
        };
        let mut files = vec![only, user];
        assert_eq!(examined(&files), [false]);
        files.push(system);
        assert_eq!(examined(&files), [true]);
        let required = settings("/etc/codex/requirements.toml", json!({ "allow_managed_hooks_only": true }));
        let checks = examine_files(Agent::codex(), &[required], Path::new("/p"));
        assert!(checks.iter().any(|check| check.text.contains("allow_managed_hooks_only")), "{checks:?}");
    }
}
