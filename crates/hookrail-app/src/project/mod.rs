//! The project that a command works on, and the hook system that the options describe.

pub mod search;

use std::io;
use std::path::{Path, PathBuf};

use hookrail::module::find_module_file;
use hookrail::recorder::OnRecordFailure;
use hookrail::sources::{SourceKind, read_file};
use hookrail::trust::{FileTrustStore, GuardedProjects, TrustStore as _};
use hookrail::{Builder, HookSystem};
use hookrail_bridge::Agent;
use hookrail_bridge::install::{AgentFolders, FolderStanding, read_agent_file};
use hookrail_journal::Journal;
use hookrail_spawn::{UserFolders, real_path};

use crate::config::{HookrailConfiguration, ProjectFileTrust, has_project_file};
use crate::failure::{Failure, Result};
use crate::folders;
use crate::journal::{self, RecordDefault, Recording};
use crate::path_display::PathDisplay;
use search::{GuardedProject, find_guarded_project, find_project_with_grants};

/// Which project a command works on, and which of its hooks.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProjectChoice<'c> {
    /// The project's directory; without one it is found upwards from the current directory.
    pub project: Option<&'c Path>,
    /// Trust this project and the hooks it has now, for this one process.
    pub trust_project: bool,
    /// Further module hooks.
    pub modules: &'c [PathBuf],
    /// Load no plugins.
    pub no_plugins: bool,
}

impl<'c> From<&'c Path> for ProjectChoice<'c> {
    /// All hooks of the project in this directory, as they are trusted.
    fn from(project: &'c Path) -> Self {
        Self { project: Some(project), ..Self::default() }
    }
}

/// A project whose directory exists and can be read.
#[derive(Debug)]
pub struct Project {
    root: PathBuf,
    pub places: PathDisplay,
}

impl Project {
    /// Finds the project's directory: the one that was named, else upwards from the current directory. The path is
    /// canonical, because grants are stored under it.
    ///
    /// # Errors
    ///
    /// The directory does not exist or cannot be read.
    pub fn open<'c>(choice: impl Into<ProjectChoice<'c>>) -> Result<Self> {
        Self::open_named(choice.into().project)
    }

    /// Opens the project in a directory, or the one that is found.
    pub fn open_named(named: Option<&Path>) -> Result<Self> {
        let found = || find_project_with_grants(Path::new("."), folders::home().as_deref(), Self::guarded_projects);
        let named = named.map_or_else(found, Path::to_owned);
        let usable = real_path(&named).and_then(|root| {
            // A directory that cannot be listed cannot be searched for hooks.
            std::fs::read_dir(&root).map(|_| root)
        });
        let root = usable.map_err(|error| unusable_project(&named, &error))?;
        let places = PathDisplay::new(&root, folders::home());
        Ok(Self { root, places })
    }

    /// Returns a folder at or above this path for which guards were granted and that has become a link to a folder without any, and
    /// that folder. Grants are kept by real path, so the guards would be gone without a word.
    pub fn replaced_by_link(start: &Path) -> Option<(&Path, PathBuf)> {
        if !start.is_absolute() || start.canonicalize().is_ok_and(|real| real == start) {
            return None;
        }
        let guarded = Self::guarded_projects();
        start.ancestors().filter(|folder| guarded.contains(folder)).find_map(|folder| {
            let real = folder.canonicalize().ok()?;
            (real != folder && !guarded.contains(&real)).then_some((folder, real))
        })
    }

    /// Returns the project's directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the builder of the hook system that the options describe, including `--trust-project`.
    pub fn builder<'c>(&self, choice: impl Into<ProjectChoice<'c>>) -> Result<Builder> {
        let choice = choice.into();
        let builder = self.builder_as_granted(choice)?;
        Ok(if choice.trust_project { builder.trust_project() } else { builder })
    }

    /// Returns the builder without `--trust-project`: only what the store grants is trusted.
    pub fn builder_as_granted<'c>(&self, choice: impl Into<ProjectChoice<'c>>) -> Result<Builder> {
        let choice = choice.into();
        self.describe(choice, self.configuration(choice))
    }

    /// Returns the builder of a hook system that records what it does, with its journal.
    pub fn recorded_builder<'c>(
        &self,
        choice: impl Into<ProjectChoice<'c>>,
        default: RecordDefault,
        host: &str,
    ) -> Result<(Builder, Recording)> {
        let choice = choice.into();
        let configuration = self.configuration(choice);
        let settings = configuration.journal.clone();
        let recording = journal::open(&settings, default)?;
        let builder = self.describe(choice, configuration)?;
        let builder = if choice.trust_project { builder.trust_project() } else { builder };
        Ok((journal::attach(builder, recording.journal(), &settings, host), recording))
    }

    /// Returns the journal that the project's events are recorded in; none if nothing is recorded, or it has no place.
    pub fn journal(&self, default: RecordDefault) -> Option<Journal> {
        self.recording(default).ok()?.0
    }

    /// Returns the journal that the project's events are recorded in, and what it means for an event that it cannot be recorded.
    pub fn recording(&self, default: RecordDefault) -> Result<(Option<Journal>, OnRecordFailure)> {
        let settings = HookrailConfiguration::load(&self.root, ProjectFileTrust::Untrusted).journal;
        Ok((journal::open(&settings, default)?.journal().cloned(), settings.on_failure))
    }

    fn describe(&self, choice: ProjectChoice<'_>, configuration: HookrailConfiguration) -> Result<Builder> {
        let mut builder = configuration.apply(HookSystem::builder(&self.root));
        // A variable that is kept from hooks could still be read from `/proc/PID/environ` of this process.
        builder = builder.on_redaction(|| {
            if let Err(error) = hookrail_spawn::close_to_other_processes() {
                tracing::warn!(target: "hookrail::redaction", %error, "hooks can read the environment of this process");
            }
        });
        #[cfg(feature = "fleet")]
        {
            builder = crate::remote_client::with_client(builder);
        }
        for module in choice.modules {
            builder = builder.module(resolve_module(module));
        }
        Ok(if choice.no_plugins { builder.no_plugins() } else { builder })
    }

    /// Fails if a module that was named on the command line cannot be used: it may be a guard.
    pub fn require_modules(system: &HookSystem) -> Result<()> {
        match system.snapshot().unusable_sources().iter().find(|source| source.kind == SourceKind::Option) {
            Some(source) => {
                let message = format!("the module `{}` cannot be used: {}", source.path.display(), source.problem);
                Err(Failure::new(message).hint("fix the module, or omit `--hook`"))
            }
            None => Ok(()),
        }
    }

    /// Loads hookrail's own configuration for this project.
    pub fn configuration<'c>(&self, choice: impl Into<ProjectChoice<'c>>) -> HookrailConfiguration {
        let choice = choice.into();
        let granted =
            || Self::trust_store().is_ok_and(|store| store.grants(&self.root).is_ok_and(|grants| grants.project));
        // Grants are read only if there is something to trust.
        let is_trusted = choice.trust_project || has_project_file(&self.root) && granted();
        let trust = if is_trusted { ProjectFileTrust::Trusted } else { ProjectFileTrust::Untrusted };
        HookrailConfiguration::load(&self.root, trust)
    }

    /// Returns the projects for which guards were granted.
    pub fn guarded_projects() -> GuardedProjects {
        Self::trust_store().map(|store| store.guarded_projects()).unwrap_or_default()
    }

    /// Finds the project whose hooks an agent asks that declares this directory.
    pub fn of_agent(declared: &Path) -> GuardedProject {
        find_guarded_project(declared, folders::home().as_deref(), Self::guarded_projects, |root| {
            // Without a place for a store nothing was ever granted.
            let Ok(store) = Self::trust_store() else { return Ok(false) };
            store.grants(root).map(|grants| grants.project || !grants.hooks.is_empty())
        })
    }

    /// Returns the store of grants.
    pub fn trust_store() -> Result<FileTrustStore> {
        let UserFolders { state, .. } = UserFolders::of_process();
        FileTrustStore::of_user(folders::home().as_deref(), state.as_deref()).ok_or_else(|| {
            Failure::new("grants cannot be stored: neither `HOME` nor `XDG_STATE_HOME` is set")
                .hint("set `HOME` to your home directory")
        })
    }
}

/// Returns the builder of a host that is this agent: its tools have the agent's names, and no hook of these files runs, which the
/// agent reads itself.
pub fn of_agent(builder: Builder, agent: Agent, read_by_agent: Vec<PathBuf>) -> Builder {
    builder.host_tools(agent.tools()).run_by_agent(read_by_agent)
}

/// Returns the builder of a host that is the agent in this project, if there is one.
pub fn host_of(builder: Builder, project: &Path, agent: Option<Agent>) -> Builder {
    match agent {
        Some(agent) => of_agent(builder, agent, read_by_agent_now(agent, project)),
        None => builder,
    }
}

/// Returns the files and folders whose hooks an agent runs itself, if it was started in this folder and with the variables of this
/// process, in the repository with this root. It reads none of a project above that folder.
pub fn read_by_agent(agent: Agent, started: &Path, repository: Option<&Path>, folder: FolderStanding) -> Vec<PathBuf> {
    in_folder(started, |agent_folders| agent_folders.run_by_agent(agent, repository, folder))
}

/// Returns what an agent would run itself if it was started in this folder now.
pub fn read_by_agent_now(agent: Agent, started: &Path) -> Vec<PathBuf> {
    read_by_agent(agent, started, repository_of(started).as_deref(), folder_standing(agent, started))
}

/// Says whether an agent that is started in this folder trusts it. A file that cannot be read trusts none: hooks that run twice are
/// better than guards that run nowhere.
pub fn folder_standing(agent: Agent, started: &Path) -> FolderStanding {
    let Some(trust) = agent.spec().install.folder_trust else { return FolderStanding::Trusted };
    in_folder(started, |agent_folders| {
        let file = (trust.file)(agent_folders);
        let text = read_file(&file).ok().flatten();
        let document = text.and_then(|text| read_agent_file(agent, &file, &text).ok());
        let listed = document.as_ref().and_then(|document| document.get(trust.list)?.as_array());
        let covers = |folder: &Path| real_path(folder).is_ok_and(|folder| agent_folders.project.starts_with(folder));
        let mut folders = listed.into_iter().flatten().filter_map(|folder| Some(Path::new(folder.as_str()?)));
        let is_trusted = folders.any(|folder| folder.is_absolute() && covers(folder))
            || (agent_folders.variable)(trust.variable).is_some_and(|value| value == "true");
        if is_trusted { FolderStanding::Trusted } else { FolderStanding::Untrusted }
    })
}

fn in_folder<T>(started: &Path, find: impl FnOnce(&AgentFolders<'_>) -> T) -> T {
    let started = real_path(started).unwrap_or_else(|_| started.to_owned());
    let home = folders::home();
    let variable = |name: &str| std::env::var(name).ok();
    find(&AgentFolders { home: home.as_deref().unwrap_or(&started), project: &started, variable: &variable })
}

/// Returns the root of the repository that a folder lies in.
pub fn repository_of(folder: &Path) -> Option<PathBuf> {
    let folder = real_path(folder).ok()?;
    folder.ancestors().find(|above| above.join(".git").exists()).map(Path::to_owned)
}

/// Resolves the path of a module against the current directory if that file exists; otherwise the engine resolves it
/// against the project.
fn resolve_module(module: &Path) -> PathBuf {
    match std::path::absolute(module) {
        Ok(path) if find_module_file(&path).is_some() => path,
        _ => module.to_owned(),
    }
}

fn unusable_project(named: &Path, error: &io::Error) -> Failure {
    let shown = named.display();
    let message = match error.kind() {
        io::ErrorKind::NotFound => format!("the project directory `{shown}` does not exist"),
        io::ErrorKind::NotADirectory => format!("the project `{shown}` is not a directory"),
        _ => format!("the project directory `{shown}` cannot be read: {error}"),
    };
    Failure::new(message).hint("give the project's directory with `--project DIR`")
}
