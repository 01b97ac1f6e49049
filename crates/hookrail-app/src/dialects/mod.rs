//! Dialects of other agents, which are off until their user switches them on: what switches them, and what they would bring.
//!
//! This module does not know how a dialect is written.

mod enabled_list;
pub mod import;

use std::io;
use std::path::{Path, PathBuf};

use hookrail::hook::Enablement;
use hookrail::{Code, Diagnostic};
use hookrail_bridge::Agent;

use crate::agent_entries;
use crate::config::{EnablingFile, HookrailConfiguration, ProjectFileTrust, system_files, user_file_for};
use crate::failure::{Failure, Result};
use crate::lint::dead_guards;
use crate::lint::find_problems;
use crate::project::Project;
use crate::temporary_file::write_atomically;
use enabled_list::{EditProblem, with_name, without_name};

pub use crate::config::switchable_dialects;

/// Whose configuration switches a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DialectScope {
    /// That of this user.
    User,
    /// That of all users of this machine.
    System,
}

/// What is done to a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DialectSwitch {
    Enable,
    Disable,
}

/// A change of the configuration that is planned.
#[derive(Debug)]
pub struct SwitchPlan {
    /// The configuration file.
    pub file: PathBuf,
    /// The file's new text; none if it says already what it is to say.
    text: Option<String>,
}

impl SwitchPlan {
    /// Plans the change, and writes nothing.
    ///
    /// # Errors
    ///
    /// There is no place for the file, it cannot be read or changed, or the system keeps the dialect on.
    pub fn new(project: &Path, dialect: &str, switch: DialectSwitch, scope: DialectScope) -> Result<Self> {
        let file = match scope {
            DialectScope::User => user_file_for(project).ok_or_else(no_user_file)?,
            // The last one is below the root that the environment names, if it names one.
            DialectScope::System => system_files().pop().unwrap_or_default(),
        };
        let configuration = HookrailConfiguration::load(project, ProjectFileTrust::Untrusted);
        let keeps_on = configuration.enabled_dialects().iter().find_map(|enabled| match &enabled.by {
            EnablingFile::System(by) if enabled.name == dialect => Some(by),
            EnablingFile::System(_) | EnablingFile::User => None,
        });
        if let (DialectSwitch::Disable, DialectScope::User, Some(by)) = (switch, scope, keeps_on) {
            let message = format!("`{}` switches `{dialect}` on for every user of this machine", by.display());
            return Err(Failure::new(message).hint("only who administers the machine can change that file"));
        }
        let old = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(unusable(&file, &error.to_string())),
        };
        let changed = match switch {
            DialectSwitch::Enable => with_name(&old, dialect),
            DialectSwitch::Disable => without_name(&old, dialect),
        };
        match changed {
            Ok(text) => Ok(Self { file, text }),
            Err(EditProblem::Syntax(problem)) => Err(unusable(&file, &problem)),
            Err(EditProblem::Form) => {
                let message =
                    format!("`[dialects]` in `{}` has a form that is not changed mechanically", file.display());
                let list = format!("write a list there by hand, as in `enabled = [\"{dialect}\"]` below `[dialects]`");
                Err(Failure::new(message).hint(list))
            }
        }
    }

    /// Whether the file changes.
    pub fn changes(&self) -> bool {
        self.text.is_some()
    }

    /// Writes the file.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn write(&self) -> Result<()> {
        let Some(text) = &self.text else { return Ok(()) };
        let written = || {
            self.file.parent().map_or(Ok(()), std::fs::create_dir_all)?;
            // A file that is a link, as managers of such files make them, stays one.
            let target = self.file.canonicalize().unwrap_or_else(|_| self.file.clone());
            write_atomically(&target, text, None)
        };
        written().map_err(|error| {
            Failure::new(format!("`{}` cannot be written: {error}", self.file.display())).hint("nothing was changed")
        })
    }
}

/// What an enabled dialect brings to a project.
#[derive(Debug)]
pub struct DialectSurvey {
    /// The hooks that can take part.
    pub active: usize,
    /// The hooks of the project that have no grant yet.
    pub waiting: usize,
    /// What keeps hooks from working.
    pub findings: Vec<Diagnostic>,
}

impl DialectSurvey {
    /// Loads the hooks of a project as its user configured them, and looks at those of one dialect.
    pub fn of(project: &Project, dialect: &str) -> Result<Self> {
        let system = project.builder(project.root())?.build();
        let snapshot = system.snapshot();
        let is_meant = |enablement: &Enablement| matches!(enablement, Enablement::Active);
        let hooks = snapshot.hooks().iter().filter(|hook| hook.dialect.name() == dialect && is_meant(&hook.enablement));
        let (active, waiting): (Vec<_>, Vec<_>) = hooks.partition(|hook| hook.trust.allows());
        let mut files: Vec<PathBuf> = Agent::from_name(dialect).map_or_else(Vec::new, |agent| {
            agent_entries::files(agent, project.root()).into_iter().map(|(_, file)| file).collect()
        });
        let of_dialect = snapshot.hooks().iter().filter(|hook| hook.dialect.name() == dialect);
        files.extend(of_dialect.map(|hook| hook.origin.location.file.to_path_buf()));
        let scripts = dead_guards::CODES;
        let findings = find_problems(&system).into_iter().map(|finding| finding.diagnostic);
        let is_about = |found: &Diagnostic| {
            let file = found.location.as_ref().map(|location| &*location.file);
            found.code != Code::ForeignHooks
                && (file.is_some_and(|file| files.iter().any(|known| known == file)) || scripts.contains(&found.code))
        };
        Ok(Self { active: active.len(), waiting: waiting.len(), findings: findings.filter(is_about).collect() })
    }
}

fn no_user_file() -> Failure {
    Failure::new("there is no place for the user's configuration: the user's folder is not set, or lies in the project")
        .hint("set `HOME` to your home directory")
}

fn unusable(file: &Path, problem: &str) -> Failure {
    Failure::new(format!("`{}` cannot be read: {problem}", file.display())).hint("repair the file")
}
