//! Tells a file that an installation wrote from one that a user put in the same place.

use std::path::Path;

use jsonc_parser::ast;
use serde_json::Value;

use super::call::BridgeCommand;
use super::edit::{commands_of, hooks_in};
use super::syntax::{member, root, to_value};
use crate::agents::Agent;
use crate::settings::{Scope, SettingsLayout};

/// Who wrote a file that stands where a file of hookrail's own belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAuthor {
    /// An installation, of this version or another one, and all that is in it belongs to hookrail.
    Hookrail,
    /// The user or another program, at least in part.
    Other,
}

/// Who wrote a file that stands where an installation for an agent writes a file of its own.
#[must_use]
pub fn own_file_author(agent: Agent, path: &Path, text: &str) -> FileAuthor {
    let is_own = match agent.plugin_template() {
        Some(template) => text.lines().next() == template.lines().next(),
        None if is_manifest(agent, path) => is_own_manifest(text),
        None => has_own_hooks_only(agent, text),
    };
    if is_own { FileAuthor::Hookrail } else { FileAuthor::Other }
}

fn is_manifest(agent: Agent, path: &Path) -> bool {
    let layouts = [Scope::User, Scope::Project, Scope::System].map(agent.spec().install.layout);
    let is_named = |layout| matches!(layout, SettingsLayout::Extension { manifest } if path.ends_with(manifest));
    layouts.into_iter().any(is_named)
}

fn is_own_manifest(text: &str) -> bool {
    let Ok(Value::Object(members)) = serde_json::from_str(text) else { return false };
    let is_written = |name: &String| matches!(name.as_str(), "name" | "version");
    members.get("name").is_some_and(|name| name == "hookrail") && members.keys().all(is_written)
}

/// Whether a file has hooks, all of which call the bridge for the agent, and nothing else.
fn has_own_hooks_only(agent: Agent, text: &str) -> bool {
    let Ok(root) = root(text) else { return false };
    let is_written = |name: &str| matches!(name, "version" | "hooks");
    let Some(ast::Value::Object(hooks)) = member(&root, "hooks") else { return false };
    let mut entries = 0;
    for property in &hooks.properties {
        let ast::Value::Array(list) = &property.value else { return false };
        for entry in &list.elements {
            let calls = commands_of(entry).into_iter().filter_map(BridgeCommand::read);
            if calls.filter(|call| call.agent == agent.name()).count() != hooks_in(entry) {
                return false;
            }
            entries += hooks_in(entry);
        }
    }
    let version = member(&root, "version").map(to_value);
    let is_known_version = version.is_none_or(|version| version == 1);
    entries > 0 && is_known_version && root.properties.iter().all(|property| is_written(property.name.as_str()))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_file_that_mentions_hookrail_is_not_its_own() {
        let author = |agent, file: &str, text: &str| own_file_author(agent, Path::new(file), text);
        let call = r#"{"type": "command", "bash": "/x/hookrail bridge copilot --event preToolUse --deadline 1"}"#;
        let theirs = r#"{"type": "command", "bash": "my-guard.sh # runs beside hookrail"}"#;
        let copilot = |hooks: &str| format!("{{\"version\": 1, \"hooks\": {{\"preToolUse\": [{hooks}]}}}}");
        for (text, expected) in [
            (copilot(call), FileAuthor::Hookrail),
            (copilot(theirs), FileAuthor::Other),
            (copilot(&format!("{call}, {theirs}")), FileAuthor::Other),
            (copilot(&format!("{call}, {{\"type\": \"prompt\"}}")), FileAuthor::Other),
            (copilot(&call.replace("bridge copilot", "bridge claude")), FileAuthor::Other),
            (copilot(call).replacen('{', "{\"mine\": 1, ", 1), FileAuthor::Other),
            (copilot(""), FileAuthor::Other),
            ("hookrail".to_owned(), FileAuthor::Other),
        ] {
            assert_eq!(author(Agent::copilot(), "hookrail.json", &text), expected, "{text}");
        }
        let manifest = "x/gemini-extension.json";
        for (text, expected) in [
            ("{\"name\": \"hookrail\", \"version\": \"0.0.1\"}", FileAuthor::Hookrail),
            ("{\"name\": \"hookrail\", \"mcpServers\": {}}", FileAuthor::Other),
            ("{\"name\": \"mine\", \"version\": \"hookrail\"}", FileAuthor::Other),
        ] {
            assert_eq!(author(Agent::gemini(), manifest, text), expected, "{text}");
        }
        for agent in [Agent::opencode(), Agent::pi()] {
            let template = agent.plugin_template().unwrap_or_default();
            assert_eq!(author(agent, "hookrail.js", template), FileAuthor::Hookrail);
            assert_eq!(author(agent, "hookrail.js", &format!("// mine\n{template}")), FileAuthor::Other);
        }
    }
}
