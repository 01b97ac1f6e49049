//! The formats that entries have: what means something in each, and where its files are.

use std::path::{Path, PathBuf};

use hookrail::{DialectId, EventKind};
use hookrail_bridge::Agent;
use hookrail_bridge::install::{AgentFolders, HookGroup, Scope};

use crate::author::settings::{MergedSettings, merge_agent_text, merge_text};
use crate::config::named_root;
use crate::failure::{Failure, Result};
use crate::folders::home;

/// A format of commands in settings files. A dialect without a row in `FORMATS` has none: nothing is converted to it, because
/// what its members would mean is not known here.
#[derive(Debug)]
pub struct Format {
    pub dialect: DialectId,
    /// How many of its units of time make a second.
    pub(super) in_a_second: u32,
    /// The shell that gets the line of a command.
    pub(super) shell: &'static str,
    /// The events at which text that a hook prints is context for the model.
    pub(super) takes_text: &'static [EventKind],
    /// The member of an answer that rewrites the arguments of a call.
    pub(super) rewrite: &'static str,
    /// Whether a matcher that is a list of names selects whole names.
    pub(super) lists_names: bool,
    /// Whether a group can ask for its hooks one after the other.
    pub(super) has_sequences: bool,
    /// Whether an input has `permission_mode`.
    pub(super) sends_mode: bool,
    /// Members of an entry that not every format has.
    members: &'static [&'static str],
    /// The variables with the project's folder.
    pub(super) project_variables: &'static [&'static str],
}

/// Members of an entry that every such format has.
const COMMON: [&str; 5] = ["type", "command", "name", "description", "statusMessage"];

const LLXPRT: Format = Format {
    dialect: DialectId::Llxprt,
    in_a_second: 1000,
    shell: "bash",
    takes_text: &[],
    rewrite: "tool_input",
    lists_names: false,
    has_sequences: true,
    sends_mode: false,
    members: &["args"],
    project_variables: &["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR"],
};

const CODEX: Format = Format {
    dialect: DialectId::Codex,
    in_a_second: 1,
    shell: "`/bin/sh`",
    takes_text: &[EventKind::Prompt, EventKind::SessionStart],
    rewrite: "updatedInput",
    lists_names: true,
    has_sequences: false,
    sends_mode: true,
    members: &[],
    project_variables: &[],
};

const FORMATS: [Format; 4] = [
    LLXPRT,
    Format { dialect: DialectId::Gemini, members: &[], ..LLXPRT },
    Format {
        dialect: DialectId::Claude,
        members: &["args", "async"],
        project_variables: &["CLAUDE_PROJECT_DIR"],
        ..CODEX
    },
    CODEX,
];

impl Format {
    /// Returns the format that the entries of an agent have, and the one that they become.
    ///
    /// # Errors
    ///
    /// The hooks of one of them are no commands in settings that are known here, or both are the same.
    pub(super) fn pair(from: Agent, to: DialectId) -> Result<(&'static Self, &'static Self)> {
        let format = |name: &str| FORMATS.iter().find(|format| format.dialect.name() == name);
        let source = format(from.name())
            .ok_or_else(|| Failure::new(format!("what hooks of {} mean elsewhere is not known", from.title())))?;
        if source.dialect == to {
            return Err(Failure::new(format!("hooks of {} are in its format already", from.title()))
                .hint(format!("`hookrail enable {to}` runs them as they are")));
        }
        let target = format(to.name()).ok_or_else(|| {
            let message = format!("no entry becomes one of {to}, whose hooks are {}", to.title());
            let hint = format!("begin one with `hookrail new NAME --dialect {to}`, or import to `llxprt`");
            Failure::new(message).hint(hint)
        })?;
        Ok((source, target))
    }

    /// The agent whose settings files have the format; none for LLxprt.
    fn agent(&self) -> Option<Agent> {
        Agent::from_name(self.dialect.name())
    }

    /// What users call the program that the format belongs to.
    pub(super) fn title(&self) -> &'static str {
        self.agent().map_or("LLxprt", Agent::title)
    }

    /// Whether a member of an entry means there what it means in the entry of an agent.
    pub(super) fn has_member(&self, name: &str) -> bool {
        COMMON.contains(&name) || self.members.contains(&name)
    }

    /// The settings file of a layer, if the layer has one. What an entry of the machine becomes lies below the same root.
    pub(super) fn file(&self, layer: Scope, project: &Path, written: &Path) -> Option<PathBuf> {
        let file = self.usual_file(layer, project)?;
        let root = named_root().filter(|root| layer == Scope::System && written.starts_with(root));
        Some(match (root, file.strip_prefix("/")) {
            (Some(root), Ok(below)) if file.starts_with("/etc") => root.join(below),
            _ => file,
        })
    }

    fn usual_file(&self, layer: Scope, project: &Path) -> Option<PathBuf> {
        let home = home();
        if let Some(agent) = self.agent() {
            let variable = |name: &str| std::env::var(name).ok();
            let agent_folders = AgentFolders { home: home.as_deref().unwrap_or(project), project, variable: &variable };
            let own = agent_folders.hook_files(agent);
            return match layer {
                Scope::Project => own.into_iter().find(|file| file.starts_with(project)),
                // In the home directory the project's file is the user's.
                Scope::User => own.iter().find(|file| !file.starts_with(project)).or(own.first()).cloned(),
                Scope::System => {
                    let borrowed = || agent_folders.borrowed_files(agent).into_iter();
                    let written = agent_folders.settings_path(agent, layer).ok();
                    written.or_else(|| borrowed().find(|file| file.starts_with("/etc")))
                }
            };
        }
        Some(match layer {
            Scope::Project => project.join(".llxprt/settings.json"),
            Scope::User => home?.join(".llxprt/settings.json"),
            Scope::System => {
                let named = std::env::var_os("LLXPRT_SYSTEM_SETTINGS_PATH").map(PathBuf::from);
                named.filter(|file| file.is_absolute()).unwrap_or_else(|| "/etc/llxprt-code/settings.json".into())
            }
        })
    }

    /// The text of a settings file with these groups of hooks.
    ///
    /// # Errors
    ///
    /// The text cannot be changed.
    pub(super) fn merge(&self, existing: Option<String>, shown: &str, groups: &[HookGroup]) -> Result<MergedSettings> {
        match self.agent() {
            Some(_) => merge_agent_text(existing, shown, groups),
            None => merge_text(existing, shown, groups),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dialect_without_a_row_is_no_format() {
        for dialect in DialectId::ORDER {
            let is_known = FORMATS.iter().any(|format| format.dialect == dialect);
            let from = if dialect == DialectId::Claude { Agent::codex() } else { Agent::claude() };
            assert_eq!(Format::pair(from, dialect).is_ok(), is_known, "{dialect}");
        }
        for agent in Agent::ALL {
            let is_known = FORMATS.iter().any(|format| format.agent() == Some(agent));
            assert_eq!(Format::pair(agent, DialectId::Llxprt).is_ok(), is_known, "{agent}");
        }
        assert!(Format::pair(Agent::codex(), DialectId::Codex).is_err());
    }
}
