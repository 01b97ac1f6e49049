//! The format that entries become: what it has, and where its files are.

use std::path::{Path, PathBuf};

use hookrail::{DialectId, EventKind};
use hookrail_bridge::Agent;
use hookrail_bridge::install::{AgentFolders, Scope};

use crate::config::named_root;
use crate::failure::{Failure, Result};
use crate::folders::home;

/// A format of commands in settings files.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    pub dialect: DialectId,
    /// What users call the program that the format belongs to.
    pub title: &'static str,
}

/// Members of an entry that every such format has.
const COMMON: [&str; 5] = ["type", "command", "name", "description", "statusMessage"];

impl Format {
    /// Returns the format that the entries of an agent become.
    ///
    /// # Errors
    ///
    /// The hooks of the dialect are no commands in settings, or they are the agent's already.
    pub fn of_target(dialect: DialectId, from: Agent) -> Result<Self> {
        if dialect.name() == from.name() {
            return Err(Failure::new(format!("hooks of {} are in its format already", from.title()))
                .hint(format!("`hookrail enable {dialect}` runs them as they are")));
        }
        let title = match dialect {
            DialectId::Llxprt => "LLxprt",
            other => match Agent::from_name(other.name()).filter(|_| other.needs_enabling()) {
                Some(agent) => agent.title(),
                None => {
                    let message = format!("no entry becomes one of {dialect}, whose hooks are {}", dialect.title());
                    return Err(Failure::new(message).hint(format!(
                        "begin one with `hookrail new NAME --dialect {dialect}`, or import to `llxprt`"
                    )));
                }
            },
        };
        Ok(Self { dialect, title })
    }

    /// Returns the format of the agent's own entries.
    pub(super) fn of_source(agent: Agent) -> Self {
        let dialect = DialectId::from_name(agent.name()).unwrap_or(DialectId::Llxprt);
        Self { dialect, title: agent.title() }
    }

    pub(super) fn is(self, dialect: DialectId) -> bool {
        self.dialect == dialect
    }

    /// How many of its units of time make a second.
    pub(super) fn in_a_second(self) -> u32 {
        if self.is(DialectId::Claude) || self.is(DialectId::Codex) { 1 } else { 1000 }
    }

    /// The shell that gets the line of a command.
    pub(super) fn shell(self) -> &'static str {
        if self.is(DialectId::Claude) || self.is(DialectId::Codex) { "`/bin/sh`" } else { "bash" }
    }

    /// Whether text that a hook prints is context for the model.
    pub(super) fn takes_text(self, kind: EventKind) -> bool {
        let takes = self.is(DialectId::Claude) || self.is(DialectId::Codex);
        takes && matches!(kind, EventKind::Prompt | EventKind::SessionStart)
    }

    /// The member of an answer that rewrites the arguments of a call.
    pub(super) fn rewrite(self) -> &'static str {
        if self.is(DialectId::Claude) || self.is(DialectId::Codex) { "updatedInput" } else { "tool_input" }
    }

    /// Whether a matcher that is a list of names selects whole names.
    pub(super) fn lists_names(self) -> bool {
        self.is(DialectId::Claude) || self.is(DialectId::Codex)
    }

    /// Whether a member of an entry means there what it means in the entry of an agent.
    pub(super) fn has_member(self, name: &str) -> bool {
        let own: &[&str] = match self.dialect {
            DialectId::Claude => &["args", "async"],
            DialectId::Llxprt => &["args"],
            _ => &[],
        };
        COMMON.contains(&name) || own.contains(&name)
    }

    /// Whether a group can ask for its hooks one after the other.
    pub(super) fn has_sequences(self) -> bool {
        self.is(DialectId::Llxprt) || self.is(DialectId::Gemini)
    }

    /// The settings file of a layer, if the layer has one. What an entry of the machine becomes lies below the same root.
    pub(super) fn file(self, layer: Scope, project: &Path, written: &Path) -> Option<PathBuf> {
        let file = self.usual_file(layer, project)?;
        let root = named_root().filter(|root| layer == Scope::System && written.starts_with(root));
        Some(match (root, file.strip_prefix("/")) {
            (Some(root), Ok(below)) if file.starts_with("/etc") => root.join(below),
            _ => file,
        })
    }

    fn usual_file(self, layer: Scope, project: &Path) -> Option<PathBuf> {
        let home = home();
        let variable = |name: &str| std::env::var(name).ok();
        if let Some(agent) = Agent::from_name(self.dialect.name()).filter(|_| self.dialect.needs_enabling()) {
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
}
