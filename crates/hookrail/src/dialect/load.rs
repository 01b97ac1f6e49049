//! Loading the configuration of every dialect.

use std::any::Any;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use crate::config::diagnostic::Diagnostic;
use crate::config::{LoadMode, SourceReader, SourceReport, SourceStore};
use crate::dialect::enrolment::{Bundle, Enrolment};
use crate::dialect::snapshot::{LoadedModule, Policy};
use crate::dialect_id::DialectId;
use crate::hook::{Authority, Hook, Trust};
use crate::record::breadcrumb::Breadcrumb;
use crate::rules::{LoadedException, ProgramLayers};
use crate::run::project_share::{ProjectShare, ShareUse};
use crate::run::{Environment, ModuleRunner};
use crate::trust::{Coverage, Digest, Fingerprint, Grant, Grants, ModuleMemory, OffByUser, protect_python};

/// Where configuration comes from, and how far the project is trusted.
#[derive(Clone, Debug)]
pub(crate) struct Sources {
    pub(crate) project: PathBuf,
    pub(crate) environment: Arc<Environment>,
    /// What the user's environment names of the project as places of code.
    pub(crate) project_share: Arc<ProjectShare>,
    pub(crate) grants: Grants,
    /// Whether the project and the hooks that it has when the run starts are trusted for this run, whatever was
    /// granted.
    pub(crate) trust_all: bool,
    /// Whether plugins are loaded at all.
    pub(crate) plugins: Plugins,
    /// Whether bundles of a fleet are sources.
    pub(crate) bundles: Bundles,
    /// Whether hooks that are configured take part.
    pub(crate) configured: ConfiguredHooks,
    /// The dialects that were enabled, of those that are read only then.
    pub(crate) enabled: Vec<DialectId>,
    /// Modules that were named on the command line or by the embedding program.
    pub(crate) modules: Vec<PathBuf>,
    /// How modules are inspected.
    pub(crate) inspector: Inspector,
    /// The names of the rules that the user switched off.
    pub(crate) disabled_rules: Vec<String>,
    /// Which modules had a guard when they were last loaded.
    pub(crate) module_memory: Option<ModuleMemory>,
}

/// How modules are inspected, to learn what they register.
#[derive(Clone)]
pub(crate) enum Inspector {
    /// By this runner.
    Runner(Arc<dyn ModuleRunner>),
    /// There is a runner, but no code of a module may run now.
    HeldBack,
    /// There is no runner.
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

/// Whether bundles of a fleet are sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Bundles {
    #[default]
    Honoured,
    LeftOut,
}

/// Whether the hooks that files and folders configure take part, beside those that were named for this run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ConfiguredHooks {
    #[default]
    Loaded,
    LeftOut,
}

impl Sources {
    /// The user's home directory.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        // A relative path would mean another place in every directory, perhaps one of the project.
        path_in(&self.environment, "HOME").filter(|home| home.is_absolute())
    }

    /// Gives the project's own hooks what was taken out of the environment because it is the project's. Variables that are
    /// withheld as secrets stay out.
    fn put_share_back(&self, hooks: &mut [Hook], redacted: Option<&Arc<Environment>>) {
        if self.project_share.is_empty() {
            return;
        }
        for hook in hooks.iter_mut().filter(|hook| hook.authority() == Authority::Project) {
            // The files of a hook that may not run are not looked at.
            let open_end = || hook.trust.any_fingerprint().and_then(Fingerprint::open_end);
            let share_use = match redacted {
                None if hook.trust.allows() && open_end().is_some() => ShareUse::Everything,
                _ => ShareUse::Programs,
            };
            let environment = hook.environment.as_ref().unwrap_or(&self.environment);
            hook.environment = Some(Arc::new(self.project_share.put_back(environment, share_use)));
        }
    }

    /// The folders that the environment names for what dialects keep.
    pub(crate) fn named_folders(&self) -> impl Iterator<Item = PathBuf> {
        let variables = DialectId::ORDER.into_iter().flat_map(|dialect| dialect.contract().folder_variables());
        variables.filter_map(|name| path_in(&self.environment, name)).filter(|folder| folder.is_absolute())
    }

    /// Whether anything that the project brings was trusted.
    fn project_counts(&self) -> bool {
        self.trust_all || self.grants.project || !self.grants.hooks.is_empty()
    }
}

/// What is remembered of the trust of hooks from one load to the next.
#[derive(Debug, Default)]
pub(crate) struct TrustMemory {
    /// The trust of each definition when it could last be determined.
    trusted: HashMap<Digest, Trust>,
    /// The hooks that existed when the project was trusted for this run.
    coverage: Coverage,
}

impl TrustMemory {
    /// The trust of a hook that the project brings. If its files could not be read for lack of resources, the last known
    /// trust stays.
    pub(crate) fn judge(&mut self, hook: &Hook, sources: &Sources, reading: &mut SourceReader<'_>) -> Trust {
        let fingerprint = Fingerprint::take(&sources.project, hook);
        let definition = fingerprint.definition();
        let trust = match sources.trust_all {
            true => self.coverage.judge(hook, fingerprint.clone(), &sources.grants),
            false => sources.grants.judge(fingerprint.clone()),
        };
        if fingerprint.is_out_of_resources() {
            reading.report.try_again = true;
            return self.trusted.get(&definition).cloned().unwrap_or(trust);
        }
        if trust.allows() {
            self.trusted.insert(definition, trust.clone());
        } else {
            self.trusted.remove(&definition);
        }
        trust
    }

    /// The trust of a hook whose file is gone: its last good version may run while it is still granted.
    pub(crate) fn judge_gone(&self, hook: &Hook, sources: &Sources) -> Trust {
        let fingerprint = Fingerprint::take(&sources.project, hook);
        match self.trusted.get(&fingerprint.definition()) {
            Some(Trust::Granted(before)) => sources.grants.judge(before.clone()),
            Some(Trust::ForThisRun(before)) => Trust::ForThisRun(before.clone()),
            Some(Trust::NotNeeded | Trust::Never(_) | Trust::Changed(_)) | None => Trust::Never(fingerprint),
        }
    }
}

/// What a dialect keeps from one load to the next, in its own type.
pub(crate) type LoadMemory = Option<Box<dyn Any + Send>>;

/// The parameters of a dialect's load.
pub(crate) struct LoadContext<'a, 'r> {
    pub(crate) sources: &'a Sources,
    pub(crate) reading: &'a mut SourceReader<'r>,
    pub(crate) trusted: &'a mut TrustMemory,
    /// The bundles in force, whose folders are sources of their layers.
    pub(crate) bundles: &'a [Bundle],
    /// Settings for the hooks of all dialects. A dialect that is loaded later finds those of the earlier ones, and may
    /// only restrict them.
    pub(crate) common: &'a mut CommonSettings,
}

/// Settings that a dialect's configuration makes for the hooks of all dialects.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommonSettings {
    pub(crate) policy: Policy,
    /// The environment without secrets, if the user or the system withholds secrets from hooks.
    pub(crate) redacted: Option<Arc<Environment>>,
    /// What the user excepts from rules.
    pub(crate) rule_exceptions: Vec<LoadedException>,
    /// What the machine and the user say about programs.
    pub(crate) programs: ProgramLayers,
}

impl LoadContext<'_, '_> {
    /// The environment that hooks see.
    pub(crate) fn hook_environment(&self) -> &Arc<Environment> {
        self.common.redacted.as_ref().unwrap_or(&self.sources.environment)
    }
}

/// Loads configuration repeatedly, and keeps the last good version of every source.
#[derive(Debug, Default)]
pub(crate) struct Loader {
    sources: SourceStore,
    trusted: TrustMemory,
    memory: HashMap<DialectId, LoadMemory>,
    /// What was granted for the project when the store could last be read.
    pub(crate) grants: Option<Grants>,
    /// The granted guards by their definitions, as they were when they last took part.
    pub(crate) guards: HashMap<String, Vec<Hook>>,
    /// When an event last repeated a load that had lacked resources.
    pub(crate) last_retry: Option<Instant>,
}

/// The result of a load.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) hooks: Vec<Hook>,
    /// Settings for the hooks of all dialects.
    pub(crate) common: CommonSettings,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The state of the sources.
    pub(crate) sources: SourceReport,
    /// What the enrolment in a fleet puts in force.
    pub(crate) enrolment: Enrolment,
    /// Modules that offer commands or renderers.
    pub(crate) modules: Vec<LoadedModule>,
    /// What goes into the log.
    pub(crate) breadcrumbs: Vec<Breadcrumb>,
    /// What the user's own settings switch off.
    pub(crate) off_by_user: Vec<OffByUser>,
}

impl Loader {
    /// The guards that trusting the project for this run covers, beside those that were granted.
    pub(crate) fn guards_for_this_run(&self, grants: &Grants) -> Vec<Grant> {
        self.trusted.coverage.guards_beside(grants)
    }

    /// Loads everything once, the sources of the embedding program first.
    pub(crate) fn load(
        &mut self,
        sources: &Sources,
        mode: LoadMode,
        own: impl FnOnce(&mut SourceReader<'_>, &mut Vec<Diagnostic>),
    ) -> Loaded {
        let mut reading = SourceReader::new(&mut self.sources, mode, sources.project_counts());
        let mut loaded = Loaded::default();
        own(&mut reading, &mut loaded.diagnostics);
        let enrolment = match sources.bundles {
            Bundles::Honoured => {
                Enrolment::read(&sources.project, &sources.environment, &mut reading, &mut loaded.diagnostics)
            }
            Bundles::LeftOut => Enrolment::default(),
        };
        let mut common = CommonSettings::default();
        // What a bundle brings is the administrator's, whatever the user has enabled.
        let is_read = |dialect: &DialectId| dialect.is_read(&sources.enabled) || !enrolment.bundles.is_empty();
        for dialect in DialectId::ORDER.into_iter().filter(is_read) {
            let bundles = &enrolment.bundles;
            let (reading, trusted) = (&mut reading, &mut self.trusted);
            let mut context = LoadContext { sources, reading, trusted, bundles, common: &mut common };
            let next = dialect.contract().load(&mut context, self.memory.entry(dialect).or_default());
            loaded.absorb(next);
        }
        enrolment.apply_shadow(&mut loaded.hooks, &mut reading);
        loaded.modules.retain(|module| !enrolment.is_shadow(&module.path));
        loaded.enrolment = enrolment;
        loaded.common = common;
        loaded.sources = reading.report;
        self.trusted.coverage.end_of_load(loaded.sources.try_again);
        loaded.sources.roots = [Some(sources.project.clone()), sources.home()].into_iter().flatten().collect();
        protect_python(&mut loaded.hooks, &sources.environment);
        sources.put_share_back(&mut loaded.hooks, loaded.common.redacted.as_ref());
        loaded
    }
}

impl Loaded {
    /// Adds the result of the next dialect.
    fn absorb(&mut self, next: Loaded) {
        self.hooks.extend(next.hooks);
        self.diagnostics.extend(next.diagnostics);
        self.breadcrumbs.extend(next.breadcrumbs);
        self.modules.extend(next.modules);
        self.off_by_user.extend(next.off_by_user);
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
