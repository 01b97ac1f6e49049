//! Loading the configuration of every dialect.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{llxprt, xcode, xcsh};
use crate::breadcrumb::Breadcrumb;
use crate::diagnostic::Diagnostic;
use crate::hook::Hook;
use crate::run::{Environment, ModuleRunner};
use crate::snapshot::{LoadedModule, Policy};
use crate::trust::Grants;

/// Where configuration comes from, and how far the project is trusted.
#[derive(Clone, Debug)]
pub(crate) struct Sources {
    pub(crate) project: PathBuf,
    pub(crate) environment: Arc<Environment>,
    pub(crate) grants: Grants,
    /// Whether the project and its hooks are trusted for this run, whatever was granted.
    pub(crate) trust_all: bool,
    /// Whether plugins are loaded at all.
    pub(crate) plugins: Plugins,
    /// Modules that were named on the command line or by the embedding program.
    pub(crate) modules: Vec<PathBuf>,
    /// Who can look into modules.
    pub(crate) inspector: Inspector,
}

/// Who can look into modules, to learn what they register.
#[derive(Clone)]
pub(crate) enum Inspector {
    /// This runner.
    Runner(Arc<dyn ModuleRunner>),
    /// There is one, but nothing of a module may run now.
    HeldBack,
    /// Nobody.
    Missing,
}

impl std::fmt::Debug for Inspector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Runner(_) => "Runner",
            Self::HeldBack => "HeldBack",
            Self::Missing => "Missing",
        })
    }
}

/// Whether plugins are loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Plugins {
    #[default]
    Loaded,
    LeftAlone,
}

impl Sources {
    /// The user's home directory.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        // A relative one would mean another place in every directory, perhaps the project itself.
        path_in(&self.environment, "HOME").filter(|home| home.is_absolute())
    }
}

/// Loads configuration again and again, and remembers the last good version of every file.
#[derive(Debug, Default)]
pub(crate) struct Loader {
    llxprt: llxprt::LastGood,
    xcode: xcode::LastGood,
}

/// What configuration came to.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) hooks: Vec<Hook>,
    pub(crate) policy: Policy,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Every place that could hold hooks, whether it exists or not.
    pub(crate) files: Vec<PathBuf>,
    /// Modules that have more than handlers to offer.
    pub(crate) modules: Vec<LoadedModule>,
    /// What goes into the log.
    pub(crate) breadcrumbs: Vec<Breadcrumb>,
}

impl Loader {
    /// Loads everything once.
    pub(crate) fn load(&mut self, sources: &Sources) -> Loaded {
        let mut loaded = llxprt::load(sources, &mut self.llxprt);
        if sources.plugins == Plugins::Loaded {
            loaded.absorb(xcode::load(sources, &mut self.xcode));
        }
        loaded.absorb(xcsh::load(sources));
        loaded
    }
}

impl Loaded {
    /// Adds what the next dialect came to.
    fn absorb(&mut self, next: Loaded) {
        self.hooks.extend(next.hooks);
        self.diagnostics.extend(next.diagnostics);
        self.files.extend(next.files);
        self.breadcrumbs.extend(next.breadcrumbs);
        self.modules.extend(next.modules);
    }
}

/// A variable's value as a path, when it is set and not empty.
pub(crate) fn path_in(environment: &Environment, name: &str) -> Option<PathBuf> {
    environment.get(name).filter(|value| !value.is_empty()).map(|value| Path::new(value).to_owned())
}

/// A variable's value when it is set, not empty, and text.
pub(crate) fn text_in<'e>(environment: &'e Environment, name: &str) -> Option<&'e str> {
    environment.get(name).and_then(OsStr::to_str).filter(|text| !text.is_empty())
}
