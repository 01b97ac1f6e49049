//! Loading the configuration of every dialect.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use super::{llxprt, xcode, xcsh};
use crate::breadcrumb::Breadcrumb;
use crate::config::{LoadMode, Reading, SourceReport, SourceStore};
use crate::diagnostic::Diagnostic;
use crate::hook::{Hook, Trust};
use crate::run::{Environment, ModuleRunner};
use crate::snapshot::{LoadedModule, Policy};
use crate::trust::{Fingerprint, Grant, Grants, protect_python};

/// Where configuration comes from, and how far the project is trusted.
#[derive(Clone, Debug)]
pub(crate) struct Sources {
    pub(crate) project: PathBuf,
    pub(crate) environment: Arc<Environment>,
    /// What hooks see of it. The engine itself goes by the whole environment, also where variables are withheld from hooks.
    pub(crate) hook_environment: Arc<Environment>,
    pub(crate) grants: Grants,
    /// Whether the project and the hooks that it has when the run begins are trusted for this run, whatever was granted.
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

    /// The folders that the environment names for what agents keep.
    pub(crate) fn named_folders(&self) -> impl Iterator<Item = PathBuf> {
        let folder = |name| path_in(&self.environment, name).filter(|folder| folder.is_absolute());
        ["X_CODE_HOME", "XC_PLUGINS_DIR"].into_iter().filter_map(folder)
    }

    /// Whether anything that the project brings was trusted.
    fn project_counts(&self) -> bool {
        self.trust_all || self.grants.project || !self.grants.hooks.is_empty()
    }

    /// What trust says about a hook that the project brings.
    pub(crate) fn judge(&self, hook: &Hook, reading: &mut Reading<'_>) -> Trust {
        let fingerprint = Fingerprint::take(&self.project, hook);
        let trust = match self.trust_all {
            true => reading.coverage().judge(hook, fingerprint.clone(), &self.grants),
            false => self.grants.judge(fingerprint.clone()),
        };
        reading.judged(fingerprint.definition(), trust, fingerprint.is_out_of_resources())
    }

    /// What trust says about a hook whose file is gone: its last good version may run while it is still granted.
    pub(crate) fn judge_gone(&self, hook: &Hook, reading: &Reading<'_>) -> Trust {
        let fingerprint = Fingerprint::take(&self.project, hook);
        match reading.trusted_before(fingerprint.definition()) {
            Some(Trust::Granted(before)) => self.grants.judge(before),
            Some(Trust::ForThisRun(before)) => Trust::ForThisRun(before),
            _ => Trust::Never(fingerprint),
        }
    }
}

/// Loads configuration again and again, and remembers the last good version of every source.
#[derive(Debug, Default)]
pub(crate) struct Loader {
    sources: SourceStore,
    modules: xcsh::LastGood,
    /// What was granted for the project when the store could last be read.
    pub(crate) grants: Option<Grants>,
    /// When an event loaded again last, because the load before it lacked resources.
    pub(crate) last_retry: Option<Instant>,
}

/// What configuration came to.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) hooks: Vec<Hook>,
    pub(crate) policy: Policy,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// What became of the sources.
    pub(crate) sources: SourceReport,
    /// Modules that have more than handlers to offer.
    pub(crate) modules: Vec<LoadedModule>,
    /// The environment without secrets, if the user or the system wants secrets withheld from hooks.
    pub(crate) redacted: Option<Arc<Environment>>,
    /// What goes into the log.
    pub(crate) breadcrumbs: Vec<Breadcrumb>,
}

impl Loader {
    /// The guards that trusting the project for this run covers, beside those that were granted.
    pub(crate) fn guards_for_this_run(&self, grants: &Grants) -> Vec<Grant> {
        self.sources.coverage.guards_beside(grants)
    }

    /// Loads everything once, the sources of the embedding program first.
    pub(crate) fn load(
        &mut self,
        sources: &Sources,
        mode: LoadMode,
        own: impl FnOnce(&mut Reading<'_>, &mut Vec<Diagnostic>),
    ) -> Loaded {
        let mut reading = Reading::new(&mut self.sources, mode, sources.project_counts());
        let mut loaded = Loaded::default();
        own(&mut reading, &mut loaded.diagnostics);
        let settings = llxprt::load(sources, &mut reading);
        loaded.policy = settings.policy.clone();
        loaded.redacted.clone_from(&settings.redacted);
        loaded.absorb(settings);
        let redacted = loaded
            .redacted
            .as_ref()
            .map(|environment| Sources { hook_environment: Arc::clone(environment), ..Sources::clone(sources) });
        let sources = redacted.as_ref().unwrap_or(sources);
        if sources.plugins == Plugins::Loaded {
            loaded.absorb(xcode::load(sources, &mut reading));
        }
        loaded.absorb(xcsh::load(sources, &mut reading, &mut self.modules));
        loaded.sources = reading.report;
        self.sources.coverage.end_of_load(loaded.sources.try_again);
        loaded.sources.roots = [Some(sources.project.clone()), sources.home()].into_iter().flatten().collect();
        protect_python(&mut loaded.hooks, &sources.environment);
        loaded
    }
}

impl Loaded {
    /// Adds what the next dialect came to.
    fn absorb(&mut self, next: Loaded) {
        self.hooks.extend(next.hooks);
        self.diagnostics.extend(next.diagnostics);
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
