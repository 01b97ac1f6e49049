//! The configuration of one open project: when it was read, what of it is kept from before, and what was said about it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use hookrail::sources::{SourceKind, UnusableSource};
use hookrail::{Code, Diagnostic, HookSystem, Level, lock};

use crate::log::{self, sentence};
use crate::watch::Signature;

/// The configuration that is in force for a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigurationStatus {
    /// Counts the configurations that were in force, from 1. Reading what is in force already does not count.
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
    /// It was asked for, by a signal or a client. Removed sources are then gone for good.
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

#[derive(Default)]
struct State {
    /// What all files looked like before they were read last.
    files: Signature,
    /// What the user's grants looked like before they were read last.
    grants: Signature,
    /// What the log was told already.
    told: HashSet<String>,
}

impl Project {
    pub(crate) fn new(system: HookSystem, directory: &Path) -> Self {
        Self {
            system,
            directory: directory.to_owned(),
            loading: tokio::sync::Mutex::default(),
            state: Mutex::default(),
        }
    }

    /// Reads configuration again. The signatures are those from before, so that what changes meanwhile is noticed.
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
        files.again() != files
    }

    /// Whether the grants were changed since they were read.
    pub(crate) fn has_other_grants(&self) -> bool {
        let grants = self.lock().grants.clone();
        grants.again() != grants
    }

    pub(crate) fn status(&self) -> ConfigurationStatus {
        let configuration = self.system.configuration();
        let system = |source: &UnusableSource| source.kind == SourceKind::System;
        ConfigurationStatus {
            revision: configuration.revision,
            // A clock that was set back makes it young, which harms nothing.
            age: configuration.loaded_at.elapsed().unwrap_or_default(),
            kept: configuration.kept.iter().map(|source| source.path.display().to_string()).collect(),
            system_unusable: configuration.unusable.iter().any(system),
        }
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
        errors.filter(|found| found.level == Level::Error || KEPT.contains(&found.code)).map(sentence).collect()
    }

    /// Tells the log what it was not told yet. What is mended and breaks again is told again.
    pub(crate) fn log_news(&self) {
        let snapshot = self.system.snapshot();
        let found = snapshot.diagnostics().iter().filter(|found| found.level >= Level::Warning);
        let now: HashSet<String> = found.map(sentence).collect();
        let before = std::mem::replace(&mut self.lock().told, now.clone());
        let found = snapshot.diagnostics().iter().filter(|found| found.level >= Level::Warning);
        let news: Vec<&Diagnostic> = found.filter(|found| !before.contains(&sentence(found))).collect();
        let mended: Vec<&String> = before.difference(&now).collect();
        log::configuration(&self.directory, &news, &mended);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

/// The codes that say that the last good version of a source stays in force.
const KEPT: [Code; 2] = [Code::KeptLastGood, Code::SourceRemoved];
