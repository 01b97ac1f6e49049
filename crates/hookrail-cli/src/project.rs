//! The project that a command works on, and the hook system that the options describe.

use std::io;
use std::path::{Path, PathBuf};

use hookrail::module::find_module_file;
use hookrail::sources::SourceKind;
use hookrail::trust::{FileTrustStore, GuardedProjects, TrustStore as _};
use hookrail::{Builder, HookSystem};
use hookrail_journal::Journal;

use crate::args::ProjectArgs;
use crate::config::{Configuration, ProjectFileTrust};
use crate::errors::{Failure, Result};
use crate::journal::{self, RecordDefault};
use crate::project_search::{GuardedProject, find_guarded_project, find_project_with_grants};
use crate::render::path_display::PathDisplay;

/// A project whose directory exists and can be read.
#[derive(Debug)]
pub(crate) struct Project {
    root: PathBuf,
    pub(crate) places: PathDisplay,
}

impl Project {
    /// Finds the project's directory: the one that was named, else upwards from the current directory. The path is
    /// canonical, because grants are stored under it.
    pub(crate) fn open(args: &ProjectArgs) -> Result<Self> {
        Self::open_named(args.project.as_deref())
    }

    /// Opens the project in a directory, or the one that is found.
    pub(crate) fn open_named(named: Option<&Path>) -> Result<Self> {
        let found = || find_project_with_grants(Path::new("."), home().as_deref(), Self::guarded_projects);
        let named = named.map_or_else(found, Path::to_owned);
        let usable = named.canonicalize().and_then(|root| {
            // A directory that cannot be listed cannot be searched for hooks.
            std::fs::read_dir(&root).map(|_| root)
        });
        let root = usable.map_err(|error| unusable_project(&named, &error))?;
        let places = PathDisplay::new(&root, home());
        Ok(Self { root, places })
    }

    /// Returns the project's directory.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the builder of the hook system that the options describe, including `--trust-project`.
    pub(crate) fn builder(&self, args: &ProjectArgs) -> Result<Builder> {
        let builder = self.builder_as_granted(args)?;
        Ok(if args.trust_project { builder.trust_project() } else { builder })
    }

    /// Returns the builder without `--trust-project`: only what the store grants is trusted.
    pub(crate) fn builder_as_granted(&self, args: &ProjectArgs) -> Result<Builder> {
        self.describe(args, self.configuration(args))
    }

    /// Returns the builder of a hook system that records what it does, with its journal.
    pub(crate) fn recorded_builder(
        &self,
        args: &ProjectArgs,
        default: RecordDefault,
        host: &str,
    ) -> Result<(Builder, Option<Journal>)> {
        let configuration = self.configuration(args);
        let settings = configuration.journal.clone();
        let journal = journal::open(&settings, default)?;
        let builder = self.describe(args, configuration)?;
        let builder = if args.trust_project { builder.trust_project() } else { builder };
        Ok((journal::attach(builder, journal.as_ref(), &settings, host), journal))
    }

    /// Returns the journal that the project's events are recorded in; none if nothing is recorded, or it has no place.
    pub(crate) fn journal(&self, default: RecordDefault) -> Option<Journal> {
        let settings = Configuration::load(&self.root, ProjectFileTrust::Untrusted).journal;
        journal::open(&settings, default).ok().flatten()
    }

    fn describe(&self, args: &ProjectArgs, configuration: Configuration) -> Result<Builder> {
        let mut builder = configuration.apply(HookSystem::builder(&self.root));
        // A variable that is kept from hooks could still be read from `/proc/PID/environ` of this process.
        builder = builder.on_redaction(|| {
            if let Err(error) = hookrail_spawn::close_to_other_processes() {
                tracing::warn!(target: "hookrail::redaction", %error, "hooks can read the environment of this process");
            }
        });
        #[cfg(feature = "fleet")]
        {
            builder = crate::asking::with_client(builder);
        }
        for module in &args.modules {
            builder = builder.module(resolve_module(module));
        }
        Ok(if args.no_plugins { builder.no_plugins() } else { builder })
    }

    /// Fails if a module that was named on the command line cannot be used: it may be a guard.
    pub(crate) fn require_modules(system: &HookSystem) -> Result<()> {
        let unusable = system.configuration().unusable;
        match unusable.iter().find(|source| source.kind == SourceKind::Option) {
            Some(source) => {
                let message = format!("the module `{}` cannot be used: {}", source.path.display(), source.problem);
                Err(Failure::new(message).hint("fix the module, or omit `--hook`"))
            }
            None => Ok(()),
        }
    }

    /// Loads hookrail's own configuration for this project.
    pub(crate) fn configuration(&self, args: &ProjectArgs) -> Configuration {
        let granted =
            || Self::trust_store().is_ok_and(|store| store.grants(&self.root).is_ok_and(|grants| grants.project));
        let trust =
            if args.trust_project || granted() { ProjectFileTrust::Trusted } else { ProjectFileTrust::Untrusted };
        Configuration::load(&self.root, trust)
    }

    /// Returns the projects for which guards were granted.
    pub(crate) fn guarded_projects() -> GuardedProjects {
        Self::trust_store().map(|store| store.guarded_projects()).unwrap_or_default()
    }

    /// Finds the project whose hooks an agent asks that declares this directory.
    pub(crate) fn of_agent(declared: &Path) -> GuardedProject {
        find_guarded_project(declared, home().as_deref(), Self::guarded_projects, |root| {
            // Without a place for a store nothing was ever granted.
            let Ok(store) = Self::trust_store() else { return Ok(false) };
            store.grants(root).map(|grants| grants.project || !grants.hooks.is_empty())
        })
    }

    /// Returns the store of grants.
    pub(crate) fn trust_store() -> Result<FileTrustStore> {
        let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
        FileTrustStore::of_user(home().as_deref(), state.as_deref()).ok_or_else(|| {
            Failure::new("grants cannot be stored: neither `HOME` nor `XDG_STATE_HOME` is set")
                .hint("set `HOME` to your home directory")
        })
    }
}

/// Resolves the path of a module against the current directory if that file exists; otherwise the engine resolves it
/// against the project.
fn resolve_module(module: &Path) -> PathBuf {
    match std::path::absolute(module) {
        Ok(path) if find_module_file(&path).is_some() => path,
        _ => module.to_owned(),
    }
}

/// Returns the user's home directory if the environment names one.
pub(crate) fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
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
