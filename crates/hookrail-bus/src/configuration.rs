//! The configuration of one open project: when it was read, which sources are kept from before, and what was logged about
//! it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use hookrail::outcome::Refusal;
use hookrail::sources::{SourceKind, UnusableSource};
use hookrail::{Code, Diagnostic, HookSystem, Level, OnFailure, lock_mutex};

use crate::log::{self, sentence};
use crate::watch::Signature;

/// The configuration that is in force for a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigurationStatus {
    /// The number of the configuration in force, starting at 1. Reading an unchanged configuration does not increase it.
    pub revision: u64,
    /// The time since it was put in force.
    pub age: Duration,
    /// The sources that are broken, empty or missing, and whose last good version is in force.
    pub kept: Vec<String>,
    /// Whether a source of the system layer exists and cannot be used, so that every gating event is denied.
    pub system_unusable: bool,
}

/// Whether the hooks of a project can answer for others. Without hooks every answer would be that nothing objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// There are hooks, and everything that was read can be used.
    Ready,
    /// No hook can run.
    NoHooks,
    /// This cannot be used, and it may have held hooks.
    Unusable(String),
}

impl Readiness {
    pub(crate) fn of(system: &HookSystem) -> Self {
        let (configuration, snapshot) = (system.configuration(), system.snapshot());
        // The last good version of a source that is kept is in force, whatever is wrong with its file now.
        let is_kept = |found: &Diagnostic| {
            let location = found.location.as_ref();
            location.is_some_and(|location| configuration.kept.iter().any(|kept| *location.file == kept.path))
        };
        let error = snapshot.diagnostics().iter().find(|found| found.level == Level::Error && !is_kept(found));
        let unusable = configuration.unusable.first().map(|source| source.problem.clone());
        let refused = configuration.refusal.map(|_| "what was read denies every event".to_owned());
        if let Some(problem) = error.map(sentence).or(unusable).or(refused) {
            return Self::Unusable(problem);
        }
        let runs = |hook: &std::sync::Arc<hookrail::Hook>| hook.is_enabled() && hook.trust.allows();
        if snapshot.hooks().iter().any(runs) { Self::Ready } else { Self::NoHooks }
    }
}

impl std::fmt::Display for Readiness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ready => f.write_str("there are hooks"),
            Self::NoHooks => f.write_str("no hook is configured that can run"),
            Self::Unusable(problem) => write!(f, "the configuration cannot be used: {problem}"),
        }
    }
}

/// The reason why configuration is read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// A file has changed.
    Change,
    /// The user's grants have changed.
    Grants,
    /// A signal or a client requested it. The last good version of a removed source is then dropped.
    Request,
}

impl Trigger {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Change => "change",
            Self::Grants => "grants",
            Self::Request => "request",
        }
    }
}

/// The result of reading configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoadResult {
    /// Everything is in force as written.
    Loaded,
    /// A part of it cannot be used.
    Errors,
    /// The last good version of a source stays in force.
    Kept,
    /// A source of the system layer cannot be used.
    SystemUnusable,
}

impl LoadResult {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Loaded => "loaded",
            Self::Errors => "errors",
            Self::Kept => "kept",
            Self::SystemUnusable => "system-unusable",
        }
    }
}

/// How a change of an open project's files comes into force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// Its paths are watched, and it is read again when they change.
    Watched,
    /// It is compared with its paths before every event, and replaced when they have changed.
    Compared,
}

/// The hook system of an open project, and the state of its configuration.
pub(crate) struct OpenProject {
    pub(crate) freshness: Freshness,
    pub(crate) system: HookSystem,
    pub(crate) directory: PathBuf,
    /// Held while configuration is read for an event, so that many events at once cause one reading.
    pub(crate) loading: tokio::sync::Mutex<()>,
    state: Mutex<ProjectState>,
}

#[derive(Default)]
struct ProjectState {
    /// The signature of all files before they were last read.
    files: Signature,
    /// The signature of the user's grants before they were last read.
    grants: Signature,
    /// The diagnostics that were logged.
    logged: HashSet<String>,
}

impl OpenProject {
    pub(crate) fn new(system: HookSystem, directory: &Path, freshness: Freshness) -> Self {
        Self {
            freshness,
            system,
            directory: directory.to_owned(),
            loading: tokio::sync::Mutex::default(),
            state: Mutex::default(),
        }
    }

    /// Reads configuration again. The signatures must be taken before the call, so that a change during the reading is
    /// noticed.
    pub(crate) fn load(&self, trigger: Trigger, files: Signature, grants: Signature) {
        match trigger {
            Trigger::Request => self.system.reload(),
            Trigger::Change | Trigger::Grants => self.system.refresh(),
        };
        let mut state = self.lock();
        state.files = files;
        state.grants = grants;
    }

    /// Whether a file was changed since configuration was read.
    pub(crate) fn is_outdated(&self) -> bool {
        let files = self.lock().files.clone();
        files.read_again() != files
    }

    /// Whether the grants were changed since they were read.
    pub(crate) fn has_other_grants(&self) -> bool {
        let grants = self.lock().grants.clone();
        grants.read_again() != grants
    }

    pub(crate) fn status(&self) -> ConfigurationStatus {
        let configuration = self.system.configuration();
        let system = |source: &UnusableSource| source.kind == SourceKind::System;
        ConfigurationStatus {
            revision: configuration.revision,
            // If the clock was set back, the age is 0, which does no harm.
            age: configuration.loaded_at.elapsed().unwrap_or_default(),
            kept: configuration.kept.iter().map(|source| source.path.display().to_string()).collect(),
            system_unusable: configuration.unusable.iter().any(system) || is_system_refusal(configuration.refusal),
        }
    }

    /// Returns the result of the last reading.
    pub(crate) fn result(&self) -> LoadResult {
        let status = self.status();
        if status.system_unusable {
            LoadResult::SystemUnusable
        } else if !status.kept.is_empty() {
            LoadResult::Kept
        } else if self.problems().is_empty() {
            LoadResult::Loaded
        } else {
            LoadResult::Errors
        }
    }

    /// Returns a sentence for each part of the configuration that cannot be used.
    pub(crate) fn problems(&self) -> Vec<String> {
        let snapshot = self.system.snapshot();
        let errors = snapshot.diagnostics().iter();
        errors.filter(|found| found.level == Level::Error || KEPT.contains(&found.code)).map(sentence).collect()
    }

    /// Logs the diagnostics that are new. A problem that was fixed and comes back is logged again.
    pub(crate) fn log_news(&self) {
        let snapshot = self.system.snapshot();
        let found = snapshot.diagnostics().iter().filter(|found| found.level >= Level::Warning);
        let now: HashSet<String> = found.map(sentence).collect();
        let before = std::mem::replace(&mut self.lock().logged, now.clone());
        let found = snapshot.diagnostics().iter().filter(|found| found.level >= Level::Warning);
        let news: Vec<&Diagnostic> = found.filter(|found| !before.contains(&sentence(found))).collect();
        let fixed: Vec<&String> = before.difference(&now).collect();
        log::configuration(&self.directory, &news, &fixed);
    }

    fn lock(&self) -> MutexGuard<'_, ProjectState> {
        lock_mutex(&self.state)
    }
}

/// The codes of diagnostics about a source whose last good version stays in force.
const KEPT: [Code; 2] = [Code::KeptLastGood, Code::SourceRemoved];

/// Whether the engine denies events because the system layer, or the bundle that it consists of, cannot be used.
pub(crate) fn is_system_refusal(refusal: Option<Refusal>) -> bool {
    match refusal {
        Some(Refusal::SystemUnusable | Refusal::BundleMissing | Refusal::BundleExpired(OnFailure::Block)) => true,
        Some(
            Refusal::BundleExpired(OnFailure::Allow | OnFailure::Ask)
            | Refusal::LoadFailure(_)
            | Refusal::StoreUnusable
            | Refusal::UserUnusable,
        )
        | None => false,
    }
}
