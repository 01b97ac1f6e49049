//! Looks for entries of the bridge in the settings of an agent.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hookrail_bridge::Agent;
use hookrail_bridge::install::{Locations, Scope, calls_bridge, codex_trust};
use serde_json::Value;

use super::Finding;
use crate::project::home;

/// A settings file and what it says about the bridge.
#[derive(Debug)]
pub(super) struct AgentSettings {
    pub(super) path: PathBuf,
    text: String,
    pub(super) entries: Vec<BridgeEntry>,
    problem: Option<String>,
    switched_off: Option<&'static str>,
}

#[derive(Debug)]
pub(super) struct BridgeEntry {
    event: String,
    command: String,
}

/// Reads every file in which the agent may have entries.
pub(super) fn entries(agent: Agent, project: &Path) -> Vec<AgentSettings> {
    let Some(home) = home() else { return Vec::new() };
    let locations = Locations { home: &home, project, variable: &|name| std::env::var(name).ok() };
    let paths = [Scope::User, Scope::Project, Scope::System].into_iter();
    let paths = paths.filter_map(|scope| locations.settings_path(agent, scope).ok());
    paths.filter_map(|path| read(agent, path)).collect()
}

fn read(agent: Agent, path: PathBuf) -> Option<AgentSettings> {
    let text = std::fs::read_to_string(&path).ok()?;
    let mut settings = AgentSettings { path, text, entries: Vec::new(), problem: None, switched_off: None };
    if matches!(agent, Agent::OpenCode | Agent::Pi) {
        let program = settings.text.lines().find_map(|line| line.strip_prefix("const PROGRAM = "));
        let program: Option<String> = program.and_then(|text| serde_json::from_str(text.trim_end_matches(';')).ok());
        let command = program.map(|program| format!("{program} bridge {agent}"));
        settings.entries.extend(command.map(|command| BridgeEntry { event: "every event".to_owned(), command }));
        return Some(settings);
    }
    let strict = matches!(agent, Agent::Claude | Agent::Codex);
    let document: Value = match serde_json::from_str(&settings.text) {
        Ok(document) => document,
        // Comments are fine for the other agents, and reading around them is enough to find commands.
        Err(error) if strict => {
            settings.problem = Some(error.to_string());
            return Some(settings);
        }
        Err(_) => serde_json::from_str(&without_comments(&settings.text)).unwrap_or_default(),
    };
    let off = |pointer: &str, value: bool| document.pointer(pointer) == Some(&Value::Bool(value));
    settings.switched_off = match agent {
        Agent::Claude if off("/disableAllHooks", true) => Some("disableAllHooks"),
        Agent::Gemini | Agent::Qwen if off("/hooksConfig/enabled", false) => Some("hooksConfig.enabled"),
        _ => None,
    };
    for (event, groups) in document.get("hooks").and_then(Value::as_object).into_iter().flatten() {
        for command in groups.as_array().into_iter().flatten().flat_map(commands) {
            if calls_bridge(&command) {
                settings.entries.push(BridgeEntry { event: event.clone(), command });
            }
        }
    }
    Some(settings)
}

/// Takes comment lines out. Texts that hold `//` stay: only lines that begin with it are comments here.
fn without_comments(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn commands(group: &Value) -> Vec<String> {
    let of = |hook: &Value| hook.get("command").or_else(|| hook.get("bash")).and_then(Value::as_str).map(str::to_owned);
    match group.get("hooks").and_then(Value::as_array) {
        Some(hooks) => hooks.iter().filter_map(of).collect(),
        None => of(group).into_iter().collect(),
    }
}

pub(super) fn examine(agent: Agent, files: &[AgentSettings]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut events: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files {
        let shown = file.path.display();
        if let Some(problem) = &file.problem {
            let text = format!("{} cannot read `{shown}`: {problem}", agent.title());
            findings.push(Finding::error(text, "repair the file: the agent ignores all its hooks"));
        }
        if let Some(switch) = file.switched_off {
            let text = format!("`{switch}` in `{shown}` turns all hooks off");
            findings.push(Finding::error(text, format!("remove `{switch}`")));
        }
        if file.entries.is_empty() {
            continue;
        }
        findings.push(Finding::fine(format!("{} in `{shown}`", counted_entries(file.entries.len()))));
        for entry in &file.entries {
            *events.entry(&entry.event).or_default() += 1;
        }
        findings.extend(examine_program(agent, file));
    }
    if events.is_empty() {
        let text = format!("{} does not call hookrail", agent.title());
        findings.push(Finding::error(text, format!("run `hookrail install {agent}`")));
    }
    for (event, count) in events.into_iter().filter(|(_, count)| *count > 1) {
        let text = format!("{event} calls hookrail {count} times");
        findings.push(Finding::warning(
            text,
            format!("uninstall one of them: `hookrail uninstall {agent}`, then install again"),
        ));
    }
    findings
}

fn counted_entries(count: usize) -> String {
    if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") }
}

/// Whether the program that the entries name is there and is this one.
fn examine_program(agent: Agent, file: &AgentSettings) -> Option<Finding> {
    let command = &file.entries.first()?.command;
    let program = command.split(" bridge ").next().unwrap_or_default().trim_matches(['\'', '"']);
    let again = format!("run `hookrail uninstall {agent}` and `hookrail install {agent}`");
    if !is_executable(Path::new(program)) {
        let effect = match agent {
            Agent::Gemini | Agent::Copilot | Agent::OpenCode | Agent::Pi => "every tool is denied",
            Agent::Claude | Agent::Codex | Agent::Qwen => "no guard is asked",
        };
        return Some(Finding::error(format!("`{program}` is missing or not executable: {effect}"), again));
    }
    let current = std::env::current_exe().and_then(|path| path.canonicalize()).ok()?;
    let named = Path::new(program).canonicalize().ok()?;
    (named != current).then(|| Finding::warning(format!("the entries call `{program}`, not this program"), again))
}

pub(super) fn examine_codex_trust(files: &[AgentSettings]) -> Vec<Finding> {
    let folder = std::env::var_os("CODEX_HOME").map(PathBuf::from).or_else(|| Some(home()?.join(".codex")));
    let config = folder.and_then(|folder| std::fs::read_to_string(folder.join("config.toml")).ok()).unwrap_or_default();
    let mut findings = Vec::new();
    let switches: toml::Table = toml::from_str(&config).unwrap_or_default();
    let hooks = switches.get("features").and_then(|features| features.get("hooks")).and_then(toml::Value::as_bool);
    if hooks == Some(false) {
        findings.push(Finding::error("`features.hooks` in `config.toml` turns all hooks off", "remove it"));
    }
    for file in files.iter().filter(|file| !file.entries.is_empty() && !file.path.starts_with("/etc")) {
        let missing =
            codex_trust(&file.path, &file.text).into_iter().filter(|trust| !config.contains(&trust.hash)).count();
        findings.push(match missing {
            0 => Finding::fine("Codex CLI trusts every entry"),
            _ => Finding::error(
                format!("Codex CLI does not trust {} and skips them without a word", counted_entries(missing)),
                "start `codex` and accept \"Hooks need review\", or run `hookrail install codex --trust`",
            ),
        });
    }
    findings
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
