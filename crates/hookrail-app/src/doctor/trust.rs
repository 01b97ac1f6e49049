//! What agents want before they run a hook: a review in Codex CLI, a trusted folder in others.

use std::path::Path;

use hookrail_bridge::Agent;
use hookrail_bridge::install::{TrustState, codex_trust, codex_trust_state};
use serde_json::Value;

use super::Check;
use super::settings::AgentSettings;

pub(super) fn examine(agent: Agent, files: &[AgentSettings], project: &Path) -> Vec<Check> {
    match agent {
        Agent::Codex => codex(files, project),
        Agent::Gemini => gemini(files, project),
        Agent::Copilot => copilot(files, project),
        Agent::Claude | Agent::Qwen | Agent::OpenCode | Agent::Pi => Vec::new(),
    }
}

/// The user's `config.toml` is the only place in which Codex CLI looks for trust.
fn codex(files: &[AgentSettings], project: &Path) -> Vec<Check> {
    let is_project = |file: &AgentSettings| file.path.starts_with(project.join(".codex"));
    let is_config = |file: &&AgentSettings| {
        file.path.ends_with("config.toml") && !is_project(file) && !file.path.starts_with("/etc")
    };
    let config = files.iter().find(is_config);
    let text = config.map(|file| file.text.as_str()).unwrap_or_default();
    let is_hooks = |file: &&AgentSettings| {
        file.path.ends_with("hooks.json") && !file.calls.is_empty() && !file.path.starts_with("/etc")
    };
    let mut checks = Vec::new();
    for file in files.iter().filter(is_hooks) {
        let states: Vec<_> = codex_trust(&file.path, &file.text)
            .iter()
            .map(|trust| codex_trust_state(text, trust))
            .filter(|state| *state != TrustState::Trusted)
            .collect();
        let count = |wanted: TrustState| states.iter().filter(|state| **state == wanted).count();
        let review = "start `codex` and accept \"Hooks need review\", or run `hookrail install codex --trust`";
        for (state, problem) in [
            (TrustState::Unknown, "Codex CLI does not trust"),
            (TrustState::Changed, "Codex CLI trusts an earlier version, and does not trust the current one, of"),
            (TrustState::TurnedOff, "the user turned off"),
        ] {
            let entries = crate::text::counted(count(state), "entry").replace("entrys", "entries");
            if count(state) > 0 {
                let text = format!("{problem} {entries} in `{}`, which it skips without a word", file.path.display());
                checks.push(Check::error("trust", text, review));
            }
        }
        if states.is_empty() {
            checks.push(Check::fine("trust", format!("Codex CLI trusts every entry in `{}`", file.path.display())));
        }
        let projects = config.and_then(|config| config.document.get("projects"));
        let level = projects.and_then(|projects| projects.get(project.to_str()?)?.get("trust_level")?.as_str());
        if is_project(file) && level != Some("trusted") {
            let text = format!("Codex CLI reads hooks of `{}` only if the project is trusted", project.display());
            checks.push(Check::warning("folder-trust", text, "start `codex` in the project and trust it"));
        }
    }
    checks
}

fn gemini(files: &[AgentSettings], project: &Path) -> Vec<Check> {
    let is_on =
        |file: &AgentSettings| file.document.pointer("/security/folderTrust/enabled") == Some(&Value::Bool(true));
    if !files.iter().any(is_on) {
        return Vec::new();
    }
    let text = format!("folder trust is on: Gemini CLI runs nothing in `{}` unless it is trusted", project.display());
    vec![Check::warning("folder-trust", text, "start `gemini` in the project once and trust the folder")]
}

fn copilot(files: &[AgentSettings], project: &Path) -> Vec<Check> {
    let mut checks = Vec::new();
    let own = files.iter().any(|file| !file.calls.is_empty());
    if files.iter().any(|file| file.path.starts_with(project.join(".github")) && !file.calls.is_empty()) {
        let text = "Copilot CLI runs hooks of a project only in a trusted folder";
        checks.push(Check::warning("folder-trust", text, "start it with `--trust-folder`, or install for the user"));
    }
    let claude = super::settings::read_all(Agent::Claude, project);
    let shared = claude.iter().find(|file| file.path.starts_with(project) && !file.calls.is_empty());
    if let Some(shared) = shared.filter(|_| own) {
        let text = format!(
            "in a trusted folder Copilot CLI also runs `{}`, which calls hookrail too: every hook runs twice",
            shared.path.display()
        );
        checks.push(Check::warning("other-agents", text, "install one of the two for the user instead of the project"));
    }
    checks
}
