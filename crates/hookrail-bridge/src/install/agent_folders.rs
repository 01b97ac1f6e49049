//! The settings files in which the agents look for hooks.

use std::path::{Path, PathBuf};

use crate::agents::Agent;
use crate::settings::{AgentFolders, FilePlace, FolderStanding, Scope};

/// The agent has no place for hooks of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} has no hooks in the {} scope", agent.title(), scope.name())]
pub struct UnsupportedScope {
    /// The agent.
    pub agent: Agent,
    /// The scope.
    pub scope: Scope,
}

impl AgentFolders<'_> {
    /// Returns the settings files of the project and the user in which the agent finds hooks, also those that no installation
    /// writes. Agents that are called through a generated plugin have none, and of some agents every file of a folder counts.
    #[must_use]
    pub fn hook_files(&self, agent: Agent) -> Vec<PathBuf> {
        (agent.spec().install.hook_files)(self)
    }

    /// Returns the other places in which the agent has hooks, or settings that turn them off.
    #[must_use]
    pub fn other_files(&self, agent: Agent) -> Vec<FilePlace> {
        (agent.spec().install.other_files)(self)
    }

    /// Returns the files and folders of others, or that nothing installs into, whose hooks the agent runs as well.
    #[must_use]
    pub fn borrowed_files(&self, agent: Agent) -> Vec<PathBuf> {
        (agent.spec().install.borrowed_files)(self)
    }

    /// Returns the files and folders whose hooks the agent runs itself, if the project is the folder where it was started, in the
    /// repository with this root. Below its bridge nothing else runs them.
    #[must_use]
    pub fn run_by_agent(&self, agent: Agent, repository: Option<&Path>, folder: FolderStanding) -> Vec<PathBuf> {
        let others = self.other_files(agent).into_iter().map(|place| match place {
            FilePlace::File(path) | FilePlace::JsonFilesIn(path) => path,
        });
        let borrowed = match folder {
            FolderStanding::Trusted => self.borrowed_files(agent),
            FolderStanding::Untrusted => Vec::new(),
        };
        let above = repository.into_iter().flat_map(|root| (agent.spec().install.files_above)(self, root));
        self.hook_files(agent).into_iter().chain(others).chain(borrowed).chain(above).collect()
    }

    /// Returns the file that the hooks are written to.
    ///
    /// # Errors
    ///
    /// The agent has no hooks in this scope.
    pub fn settings_path(&self, agent: Agent, scope: Scope) -> Result<PathBuf, UnsupportedScope> {
        (agent.spec().install.place)(scope, self).ok_or(UnsupportedScope { agent, scope })
    }
}
