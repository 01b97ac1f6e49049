//! What `hookrail doctor` finds, and the scene that an agent's own checks look at. Files are read before.

use std::path::{Path, PathBuf};

use crate::settings::AgentFile;

/// How good one thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckHealth {
    /// As it should be.
    Fine,
    /// Something may be lost.
    Warning,
    /// Hooks are not asked.
    Error,
}

/// One thing that was looked at.
#[derive(Clone, Debug)]
pub struct DoctorCheck {
    /// The stable name of what was looked at.
    pub name: &'static str,
    /// How good it is.
    pub health: CheckHealth,
    /// What was found.
    pub text: String,
    /// What to do about it.
    pub fix: Option<String>,
}

impl DoctorCheck {
    /// Something that is as it should be.
    #[must_use]
    pub fn fine(name: &'static str, text: impl Into<String>) -> Self {
        Self { name, health: CheckHealth::Fine, text: text.into(), fix: None }
    }

    /// Something that the user may want to change.
    #[must_use]
    pub fn warning(name: &'static str, text: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name, health: CheckHealth::Warning, text: text.into(), fix: Some(fix.into()) }
    }

    /// Something that keeps hooks from being asked.
    #[must_use]
    pub fn error(name: &'static str, text: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name, health: CheckHealth::Error, text: text.into(), fix: Some(fix.into()) }
    }
}

/// What the checks of an agent look at.
#[derive(Clone, Copy)]
pub struct DoctorScene<'a> {
    /// The project.
    pub project: &'a Path,
    /// The files of the agent that exist.
    pub files: &'a [AgentFile],
    /// The files with hooks that hookrail leaves to the agent, which reads them itself.
    pub left: &'a [PathBuf],
    /// The files of another agent, by its name.
    pub files_of: &'a dyn Fn(&str) -> Vec<AgentFile>,
}

/// What the checks of an agent are told of what an administrator set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManagedSettings {
    /// The folder of the administrator's settings.
    pub folder: &'static str,
    /// The setting that makes the agent call hooks of the administrator alone.
    pub only: &'static str,
}
