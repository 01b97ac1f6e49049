//! Reads the settings of an agent and looks at the entries that call the bridge.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use hookrail::EventKind;
use hookrail::hook::bridge_program;
use hookrail_bridge::Agent;
use hookrail_bridge::install::{BridgeCall, Locations, Scope, SettingsSyntax, bridge_calls, read_settings};
use serde_json::Value;

use super::Check;
use crate::project::home;

/// A settings file of an agent.
#[derive(Debug)]
pub(super) struct AgentSettings {
    pub(super) path: PathBuf,
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
    let scopes = [Scope::User, Scope::Project, Scope::System].into_iter();
    let mut paths: Vec<PathBuf> = scopes.filter_map(|scope| locations.settings_path(agent, scope).ok()).collect();
    paths.extend(match agent {
        Agent::Claude => {
            vec![project.join(".claude/settings.local.json"), PathBuf::from("/etc/claude-code/managed-settings.json")]
        }
        Agent::Codex => {
            let folder = paths.first().and_then(|path| path.parent()).map(Path::to_owned);
            let user = folder.into_iter().map(|folder| folder.join("config.toml"));
            user.chain([project.join(".codex/config.toml"), PathBuf::from("/etc/codex/config.toml")]).collect()
        }
        Agent::Gemini => {
            let own = home.join(".gemini");
            vec![own.join("settings.json"), own.join("extensions/extension-enablement.json")]
        }
        Agent::Copilot => {
            let folder = variable("COPILOT_HOME").map_or_else(|| home.join(".copilot"), PathBuf::from);
            vec![folder.join("settings.json"), folder.join("config.json")]
        }
        Agent::Qwen | Agent::OpenCode | Agent::Pi => Vec::new(),
    });
    paths.into_iter().filter_map(|path| read(agent, path)).collect()
}

fn read(agent: Agent, path: PathBuf) -> Option<AgentSettings> {
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => {
            let problem = Some(error.to_string());
            let calls = Vec::new();
            return Some(AgentSettings { path, text: String::new(), document: Value::Null, calls, problem });
        }
    };
    if matches!(agent, Agent::OpenCode | Agent::Pi) {
        let calls = plugin_call(agent, &text).into_iter().collect();
        return Some(AgentSettings { path, text, document: Value::Null, calls, problem: None });
    }
    let syntax = match agent {
        Agent::Claude | Agent::Codex => SettingsSyntax::StrictJson,
        _ => SettingsSyntax::JsonWithComments,
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
    let calls = bridge_calls(&document);
    Some(AgentSettings { path, text, document, calls, problem })
}

/// A generated plugin calls the bridge for every event that it knows.
fn plugin_call(agent: Agent, text: &str) -> Option<BridgeCall> {
    let program = text.lines().find_map(|line| line.strip_prefix("const PROGRAM = "))?;
    let program: String = serde_json::from_str(program.trim_end_matches(';')).ok()?;
    let command = format!("'{}' bridge {agent}", program.replace('\'', "'\\''"));
    Some(BridgeCall { event: "every event".to_owned(), command, timeout: None })
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

/// Looks at the entries: whether there are any, whether they can be started, and whether one event calls twice.
pub(super) fn examine_entries(agent: Agent, files: &[AgentSettings], wanted: &BTreeSet<EventKind>) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut events: BTreeMap<&str, usize> = BTreeMap::new();
    let mut programs: BTreeSet<String> = BTreeSet::new();
    for file in files.iter().filter(|file| !file.calls.is_empty()) {
        let count = crate::render::counted(file.calls.len(), "entry").replace("entrys", "entries");
        checks.push(Check::fine("entries", format!("{count} in `{}`", file.path.display())));
        for call in &file.calls {
            *events.entry(&call.event).or_default() += 1;
            programs.extend(bridge_program(&call.command));
            checks.extend(examine_timeout(agent, call));
        }
        checks.extend(examine_plugin(agent, file));
    }
    let install = format!("run `hookrail install {agent}`");
    if events.is_empty() {
        checks.push(Check::error("entries", format!("{} does not call hookrail", agent.title()), install));
        return checks;
    }
    let is_registered = |kind: EventKind| agent.event_name(kind).is_none_or(|name| events.contains_key(name));
    let is_plugin = matches!(agent, Agent::OpenCode | Agent::Pi);
    for kind in wanted.iter().filter(|kind| !is_plugin && agent.fires(**kind) && !is_registered(**kind)) {
        let text = format!("hooks wait for {kind}, and no entry of {} calls hookrail for it", agent.title());
        checks.push(Check::warning("entries", text, format!("{install} again in this project")));
    }
    checks.extend(programs.iter().map(|program| examine_program(agent, program)));
    for (event, count) in events.into_iter().filter(|(_, count)| *count > 1) {
        let fix = format!("keep one of them: `hookrail uninstall {agent}`, then `hookrail install {agent}`");
        checks.push(Check::warning("duplicates", format!("{event} calls hookrail {count} times"), fix));
    }
    checks
}

/// Whether the bridge answers before the agent stops waiting.
fn examine_timeout(agent: Agent, call: &BridgeCall) -> Option<Check> {
    let deadline = call.command.split_once("--deadline ")?.1.split_whitespace().next()?.parse::<f64>().ok()?;
    let wait = match (agent, call.timeout) {
        (Agent::Gemini, timeout) => timeout.unwrap_or(60_000.0),
        // Qwen Code takes large numbers for milliseconds.
        (Agent::Qwen, Some(timeout)) if timeout >= 1000.0 => timeout,
        (Agent::Codex, timeout) => timeout.unwrap_or(600.0) * 1000.0,
        (Agent::Copilot, timeout) => timeout.unwrap_or(30.0) * 1000.0,
        (_, timeout) => timeout.unwrap_or(60.0) * 1000.0,
    };
    (deadline >= wait).then(|| {
        let text = format!(
            "{}: {} waits {} ms, and the bridge answers after at most {deadline} ms: a late guard is not heard",
            call.event,
            agent.title(),
            wait
        );
        Check::error("timeouts", text, format!("run `hookrail install {agent}` with the `--timeout` that you want"))
    })
}

/// Whether a generated plugin is the one that this version writes.
fn examine_plugin(agent: Agent, file: &AgentSettings) -> Option<Check> {
    let current = agent.plugin_template()?;
    let body = |text: &str| -> Vec<String> {
        let is_option = |line: &&str| !line.starts_with("const PROGRAM = ") && !line.starts_with("const DEADLINE = ");
        text.lines().filter(is_option).map(str::to_owned).collect()
    };
    (body(current) != body(&file.text)).then(|| {
        let text = format!("`{}` is not what this version writes", file.path.display());
        Check::warning("entries", text, format!("run `hookrail install {agent}` again"))
    })
}

/// Whether the program that entries name is there and is this one.
fn examine_program(agent: Agent, program: &str) -> Check {
    let again = format!("run `hookrail install {agent}`, or `hookrail uninstall {agent}` if it is no longer wanted");
    let is_path = program.contains('/');
    if is_path && !is_executable(Path::new(program)) {
        let effect = match agent {
            Agent::Gemini | Agent::Copilot | Agent::OpenCode | Agent::Pi => "every tool is denied",
            Agent::Claude | Agent::Codex | Agent::Qwen => "no guard is asked",
        };
        return Check::error("program", format!("`{program}` is missing or not executable: {effect}"), again);
    }
    let current = std::env::current_exe().and_then(|path| path.canonicalize()).ok();
    match Path::new(program).canonicalize().ok() {
        named if is_path && named == current => Check::fine("program", format!("the entries call `{program}`")),
        _ => Check::warning("program", format!("the entries call `{program}`, not this program"), again),
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
