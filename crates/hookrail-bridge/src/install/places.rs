//! The settings files in which the agents look for hooks.

use std::path::PathBuf;

use crate::Agent;

/// Whose sessions the bridge takes part in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All sessions of the user.
    User,
    /// The sessions in one project.
    Project,
    /// All sessions of all users of the machine.
    System,
}

impl Scope {
    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::System => "system",
        }
    }
}

/// The agent has no place for hooks of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} has no hooks in the {} scope", agent.title(), scope.name())]
pub struct UnsupportedScope {
    /// The agent.
    pub agent: Agent,
    /// The scope.
    pub scope: Scope,
}

/// The directories in which the agents look.
#[derive(Clone, Copy)]
pub struct Locations<'a> {
    /// The user's home directory.
    pub home: &'a std::path::Path,
    /// The project.
    pub project: &'a std::path::Path,
    /// Returns the value of an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

impl Locations<'_> {
    /// Returns the directory that a variable names, or a default in the home directory.
    fn directory(&self, variable: &str, default: &str) -> PathBuf {
        let named = (self.variable)(variable).filter(|path| !path.is_empty()).map(PathBuf::from);
        named.unwrap_or_else(|| self.home.join(default))
    }

    /// Returns the settings files of the project and the user in which the agent finds hooks, also those that no installation
    /// writes. Agents that are called through a generated plugin have none, and of Copilot CLI every file of a folder counts.
    #[must_use]
    pub fn hook_files(&self, agent: Agent) -> Vec<PathBuf> {
        match agent {
            Agent::Claude => {
                let own = self.project.join(".claude");
                let user = self.directory("CLAUDE_CONFIG_DIR", ".claude");
                vec![own.join("settings.json"), own.join("settings.local.json"), user.join("settings.json")]
            }
            Agent::Codex => {
                let folders = [self.project.join(".codex"), self.directory("CODEX_HOME", ".codex")];
                folders.iter().flat_map(|folder| [folder.join("hooks.json"), folder.join("config.toml")]).collect()
            }
            Agent::Gemini => [self.project, self.home].map(|folder| folder.join(".gemini/settings.json")).to_vec(),
            Agent::Qwen => [self.project, self.home].map(|folder| folder.join(".qwen/settings.json")).to_vec(),
            Agent::Copilot | Agent::OpenCode | Agent::Pi => Vec::new(),
        }
    }

    /// Returns the file that the hooks are written to.
    ///
    /// # Errors
    ///
    /// The agent has no hooks in this scope.
    pub fn settings_path(&self, agent: Agent, scope: Scope) -> Result<PathBuf, UnsupportedScope> {
        let path = match (agent, scope) {
            (Agent::Claude, Scope::User) => self.directory("CLAUDE_CONFIG_DIR", ".claude").join("settings.json"),
            (Agent::Claude, Scope::Project) => self.project.join(".claude/settings.json"),
            (Agent::Claude, Scope::System) => PathBuf::from("/etc/claude-code/managed-settings.d/50-hookrail.json"),
            (Agent::Codex, Scope::User) => self.directory("CODEX_HOME", ".codex").join("hooks.json"),
            (Agent::Codex, Scope::Project) => self.project.join(".codex/hooks.json"),
            (Agent::Codex, Scope::System) => PathBuf::from("/etc/codex/hooks.json"),
            (Agent::Gemini, Scope::User) => self.home.join(".gemini/extensions/hookrail/hooks/hooks.json"),
            (Agent::Gemini, Scope::Project) => self.project.join(".gemini/settings.json"),
            (Agent::Qwen, Scope::User) => self.home.join(".qwen/settings.json"),
            (Agent::Qwen, Scope::Project) => self.project.join(".qwen/settings.json"),
            (Agent::Copilot, Scope::User) => self.directory("COPILOT_HOME", ".copilot").join("hooks/hookrail.json"),
            (Agent::Copilot, Scope::Project) => self.project.join(".github/hooks/hookrail.json"),
            (Agent::OpenCode, Scope::User) => {
                self.directory("XDG_CONFIG_HOME", ".config").join("opencode/plugin/hookrail.js")
            }
            (Agent::OpenCode, Scope::Project) => self.project.join(".opencode/plugin/hookrail.js"),
            (Agent::Pi, Scope::User) => self.home.join(".pi/agent/extensions/hookrail.ts"),
            (Agent::Pi, Scope::Project) => self.project.join(".pi/extensions/hookrail.ts"),
            (Agent::Gemini | Agent::Qwen | Agent::Copilot | Agent::OpenCode | Agent::Pi, Scope::System) => {
                return Err(UnsupportedScope { agent, scope });
            }
        };
        Ok(path)
    }
}
