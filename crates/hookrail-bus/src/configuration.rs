//! The configuration of one open project: when it was read, what of it is kept from before, and what was said about it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hookrail::{Diagnostic, HookSystem, Level};

use crate::watch::Signature;

/// The configuration that is in force for a project.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigurationStatus {
    /// Counts how often configuration was read and put in force, from 1.
    pub revision: u64,
    /// How long ago that was.
    pub age: Duration,
    /// Sources that are broken, empty or gone, of which the last good version is in force.
    pub kept: Vec<String>,
    /// Whether a source of the system layer exists and cannot be used, so that every gating event is denied.
    pub system_unusable: bool,
}

/// Why configuration is read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// A file has changed.
    Change,
    /// The user's grants have changed.
    Grants,
    /// Somebody asked for it: a signal, or a client. Removed sources are then gone for good.
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

/// What reading configuration again came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoadResult {
    /// Everything is in force as it is written.
    Loaded,
    /// Something could not be used.
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

/// The hook system of an open project, and what is known about its configuration.
pub(crate) struct Project {
    pub(crate) system: HookSystem,
    pub(crate) directory: PathBuf,
    /// Held while configuration is read on behalf of events, so that many of them cause one reading.
    pub(crate) loading: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

struct State {
    revision: u64,
    loaded: Instant,
    /// What all files looked like before they were read last.
    files: Signature,
    /// What the user's grants looked like before they were read last.
    grants: Signature,
    /// What the log was told already.
    told: HashSet<String>,
}

impl Project {
    pub(crate) fn new(system: HookSystem, directory: &Path) -> Self {
        let state = State {
            revision: 1,
            loaded: Instant::now(),
            files: Signature::default(),
            grants: Signature::default(),
            told: HashSet::new(),
        };
        Self {
            system,
            directory: directory.to_owned(),
            loading: tokio::sync::Mutex::default(),
            state: Mutex::new(state),
        }
    }

    /// Reads configuration again. The signatures are those from before, so that what changes meanwhile is noticed.
    pub(crate) fn load(&self, trigger: Trigger, files: Signature, grants: Signature) {
        match trigger {
            Trigger::Request => self.system.reload(),
            Trigger::Change | Trigger::Grants => self.system.reload(),
        };
        let mut state = self.lock();
        state.revision += 1;
        state.loaded = Instant::now();
        state.files = files;
        state.grants = grants;
    }

    /// Whether a file was changed since configuration was read.
    pub(crate) fn is_outdated(&self) -> bool {
        let files = self.lock().files.clone();
        files.again() != files
    }

    /// Whether the grants were changed since they were read.
    pub(crate) fn has_other_grants(&self) -> bool {
        let grants = self.lock().grants.clone();
        grants.again() != grants
    }

    pub(crate) fn status(&self) -> ConfigurationStatus {
        let snapshot = self.system.snapshot();
        let diagnostics = snapshot.diagnostics();
        let is = |diagnostic: &&Diagnostic, codes: &[&str]| codes.contains(&diagnostic.code.name());
        let kept = diagnostics.iter().filter(|found| is(found, &KEPT)).map(source).collect();
        let system_unusable = diagnostics.iter().any(|found| is(&found, &["system-unusable"]));
        let state = self.lock();
        ConfigurationStatus { revision: state.revision, age: state.loaded.elapsed(), kept, system_unusable }
    }

    /// What reading configuration came to.
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

    /// What of the configuration cannot be used, in words.
    pub(crate) fn problems(&self) -> Vec<String> {
        let snapshot = self.system.snapshot();
        let errors = snapshot.diagnostics().iter();
        errors.filter(|found| found.level == Level::Error || KEPT.contains(&found.code.name())).map(sentence).collect()
    }

    /// Tells the log what it was not told yet. What is mended and breaks again is told again.
    pub(crate) fn log_news(&self) {
        let snapshot = self.system.snapshot();
        let found = snapshot.diagnostics().iter().filter(|found| found.level >= Level::Warning);
        let now: HashSet<String> = found.map(sentence).collect();
        let before = std::mem::replace(&mut self.lock().told, now.clone());
        let project = self.directory.display();
        for diagnostic in snapshot.diagnostics().iter().filter(|found| found.level >= Level::Warning) {
            let message = sentence(diagnostic);
            if !before.contains(&message) {
                tracing::warn!(target: "hookrail::bus", %project, code = diagnostic.code.name(), "{message}");
            }
        }
        for message in before.difference(&now) {
            tracing::info!(target: "hookrail::bus", %project, "no longer: {message}");
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The codes that say that the last good version of a source stays in force.
const KEPT: [&str; 3] = ["kept-last-good", "source-removed", "file-last-good"];

/// The source a diagnostic is about.
fn source(diagnostic: &Diagnostic) -> String {
    match &diagnostic.location {
        Some(location) => location.file.display().to_string(),
        None => diagnostic.message.clone(),
    }
}

/// A diagnostic in one sentence, with its place.
fn sentence(diagnostic: &Diagnostic) -> String {
    match &diagnostic.location {
        Some(location) => format!("{}: {} ({})", location.file.display(), diagnostic.message, diagnostic.code.name()),
        None => format!("{} ({})", diagnostic.message, diagnostic.code.name()),
    }
}
