//! Reads every source of configuration: settings, manifests, lists and folders. Nothing else in the engine reads them.
//!
//! A load records everything that it reads or looks for, because that is what has to be watched. A source that was good
//! keeps its last good text while it is empty, broken, unreadable or gone, and a load that lacked descriptors or memory
//! is marked to be repeated. What a source means is not known here: its reader says whether a text is good.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file::{is_absence, is_want_of_resources, read_file};
use super::folder::{Entry, list_entries};
use super::positions::Document;
use super::source_state::{CurrentState, KeptReason, SourceState, kept_finding};
use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::source::{Location, SourceKind};
use crate::dialect_id::DialectId;
use crate::text::digest::Digest;

/// How a load treats sources that are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoadMode {
    /// The process starts, so there is no earlier version to keep.
    First,
    /// A missing source keeps its last good version.
    Refresh,
    /// A missing source was removed on purpose.
    Reload,
}

/// A source whose last good version is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptSource {
    /// The file or folder.
    pub path: PathBuf,
    /// Why its current state is not in force.
    pub reason: KeptReason,
}

/// A source that exists, cannot be used, and has no earlier version in this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusableSource {
    /// The file or folder.
    pub path: PathBuf,
    /// The layer it belongs to.
    pub kind: SourceKind,
    /// The dialect it is written in; none for the engine's own configuration.
    pub dialect: Option<DialectId>,
    /// What is wrong with it.
    pub problem: String,
}

/// A source that is read, with its layer and dialect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SourceId<'p> {
    pub(crate) path: &'p Path,
    pub(crate) kind: SourceKind,
    pub(crate) dialect: Option<DialectId>,
}

/// The result of parsing a text.
pub(crate) struct Parsed<T> {
    pub(crate) value: Option<T>,
    pub(crate) problems: Vec<Diagnostic>,
    pub(crate) verdict: Usability,
}

/// Whether a text can be put in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usability {
    Usable,
    Broken,
}

impl<T> Parsed<T> {
    pub(crate) fn usable(value: T, problems: Vec<Diagnostic>) -> Self {
        Self { value: Some(value), problems, verdict: Usability::Usable }
    }

    pub(crate) fn broken(problem: Diagnostic) -> Self {
        Self { value: None, problems: vec![problem], verdict: Usability::Broken }
    }
}

impl<T> From<Result<T, Diagnostic>> for Parsed<T> {
    fn from(result: Result<T, Diagnostic>) -> Self {
        match result {
            Ok(value) => Self::usable(value, Vec::new()),
            Err(problem) => Self::broken(problem),
        }
    }
}

/// The result of reading a source.
#[derive(Debug)]
pub(crate) enum Source<T> {
    Absent,
    /// This is in force, perhaps from an earlier version.
    InForce(T),
    /// The source exists and cannot be used. The value holds the parts that could be read.
    Unusable(Option<T>),
}

impl<T> Source<T> {
    /// The value, in whichever state its source is.
    pub(crate) fn into_value(self) -> Option<T> {
        match self {
            Self::InForce(value) => Some(value),
            Self::Unusable(value) => value,
            Self::Absent => None,
        }
    }
}

/// What one load keeps for the next.
#[derive(Debug, Default)]
pub(crate) struct SourceStore {
    good: HashMap<PathBuf, Arc<str>>,
    listed: HashMap<PathBuf, Vec<Entry>>,
    real: HashMap<PathBuf, PathBuf>,
}

/// What a load found out about its sources.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceReport {
    /// Everything that was read or looked for; what was looked for twice is there twice.
    pub(crate) looked_at: Vec<PathBuf>,
    /// The folders in which links are followed: the project and the user's home.
    pub(crate) roots: Vec<PathBuf>,
    /// The text in force of each source.
    pub(crate) in_force: BTreeMap<PathBuf, Arc<str>>,
    pub(crate) kept: Vec<KeptSource>,
    pub(crate) unusable: Vec<UnusableSource>,
    /// The modules that could be loaded, whatever they registered.
    pub(crate) modules: BTreeSet<PathBuf>,
    /// The sources of the project that were looked for, with their present state, whichever version is in force.
    pub(crate) of_project: Vec<ProjectSource>,
    /// Whether something could not be read for lack of resources, so that this load has to be repeated.
    pub(crate) try_again: bool,
}

/// A source of the project.
#[derive(Clone, Debug)]
pub(crate) struct ProjectSource {
    pub(crate) dialect: Option<DialectId>,
    pub(crate) path: PathBuf,
    pub(crate) state: SourceState,
}

/// Reads the sources of one load.
pub(crate) struct SourceReader<'s> {
    store: &'s mut SourceStore,
    pub(crate) mode: LoadMode,
    /// Whether the project's configuration is trusted. What an untrusted project brings is never reported as missing.
    project_counts: bool,
    pub(crate) report: SourceReport,
}

impl<'s> SourceReader<'s> {
    pub(crate) fn new(store: &'s mut SourceStore, mode: LoadMode, project_counts: bool) -> Self {
        Self { store, mode, project_counts, report: SourceReport::default() }
    }

    /// Records a path whose change matters to this load.
    pub(crate) fn look_at(&mut self, path: &Path) {
        self.report.looked_at.push(path.to_owned());
    }

    /// Reads a source. What is wrong with its current state goes to `found`; if it was good before, that version is
    /// parsed instead.
    pub(crate) fn read<T>(
        &mut self,
        place: SourceId<'_>,
        found: &mut Vec<Diagnostic>,
        parse: impl Fn(&str) -> Parsed<T>,
    ) -> Source<T> {
        self.look_at(place.path);
        let mut now = self.current_state(place.path);
        let mut parsed = parsed(place.path, &now, &parse);
        // A process that starts while a file is being written would read half of it.
        if self.mode == LoadMode::First
            && matches!(parsed.verdict, Usability::Broken)
            && matches!(now, CurrentState::Text(_))
        {
            let again = CurrentState::once_stable(place.path);
            if !matches!((&now, &again), (CurrentState::Text(before), CurrentState::Text(after)) if before == after) {
                parsed = self::parsed(place.path, &again, &parse);
                now = again;
            }
        }
        if place.kind == SourceKind::Project {
            let SourceId { path, dialect, .. } = place;
            self.report.of_project.push(ProjectSource { dialect, path: path.to_owned(), state: now.state() });
        }
        let reason = match now {
            CurrentState::Text(text) if parsed.verdict == Usability::Usable => {
                found.append(&mut parsed.problems);
                self.store.good.insert(place.path.to_owned(), Arc::clone(&text));
                self.report.in_force.insert(place.path.to_owned(), text);
                return parsed.value.map_or(Source::Absent, Source::InForce);
            }
            CurrentState::Gone if self.mode != LoadMode::Refresh => {
                self.store.good.remove(place.path);
                return Source::Absent;
            }
            CurrentState::Gone => KeptReason::Removed,
            CurrentState::Unreadable(_, reason) => reason,
            CurrentState::Text(_) => KeptReason::Unusable,
        };
        self.report.try_again |= reason == KeptReason::OutOfResources;
        let good = self.store.good.get(place.path).cloned();
        let kept = good.as_ref().and_then(|text| parse(text).value);
        if let (Some(text), Some(value)) = (good, kept) {
            found.append(&mut parsed.problems);
            self.report.in_force.insert(place.path.to_owned(), text);
            self.keep(place.path, reason, found);
            return Source::InForce(value);
        }
        if reason == KeptReason::Removed {
            return Source::Absent;
        }
        let problem = parsed.problems.first().map_or_else(String::new, |problem| problem.message.clone());
        found.append(&mut parsed.problems);
        self.unusable(place, problem);
        Source::Unusable(parsed.value)
    }

    /// Reads a source in JSON with comments.
    pub(crate) fn read_document<T>(
        &mut self,
        place: SourceId<'_>,
        found: &mut Vec<Diagnostic>,
        read: impl Fn(Document) -> Parsed<T>,
    ) -> Source<T> {
        self.read(place, found, |text| match Document::parse(place.path, text.to_owned()) {
            Ok(document) => read(document),
            Err(problem) => Parsed::broken(problem),
        })
    }

    /// The text of a file that is shown and not put in force, if it can be read.
    pub(crate) fn text_to_show(&mut self, path: &Path) -> Option<String> {
        self.look_at(path);
        match self.current_state(path) {
            CurrentState::Text(text) => Some(text.to_string()),
            CurrentState::Gone | CurrentState::Unreadable(..) => None,
        }
    }

    /// The last good text of a source, for a reader that cannot reach the current one.
    pub(crate) fn last_good(&mut self, path: &Path) -> Option<Arc<str>> {
        let text = self.store.good.get(path).cloned()?;
        self.report.in_force.insert(path.to_owned(), Arc::clone(&text));
        Some(text)
    }

    /// Reports that the last good version of a source is in force.
    pub(crate) fn keep(&mut self, path: &Path, reason: KeptReason, found: &mut Vec<Diagnostic>) {
        found.push(kept_finding(path, reason));
        self.report.kept.push(KeptSource { path: path.to_owned(), reason });
    }

    /// Records a source that exists and cannot be used.
    pub(crate) fn unusable(&mut self, place: SourceId<'_>, problem: String) {
        if place.kind == SourceKind::Project && !self.project_counts {
            return;
        }
        let SourceId { path, kind, dialect } = place;
        self.report.unusable.push(UnusableSource { path: path.to_owned(), kind, dialect, problem });
    }

    /// Records the files of a module that is in force, each with its digest if that is known.
    pub(crate) fn module_in_force<'f>(
        &mut self,
        module: &Path,
        files: impl IntoIterator<Item = (&'f Path, Option<Digest>)>,
    ) {
        let digests = files.into_iter().map(|(file, digest)| {
            let digest = digest.map_or_else(String::new, |digest| digest.hex());
            format!("{} {digest}\n", file.display())
        });
        self.report.in_force.insert(module.to_owned(), digests.collect::<String>().into());
        self.report.modules.insert(module.to_owned());
    }

    /// Whether a path or its last good version exists. A path that cannot be accessed counts as existing: reading it
    /// gives the reason.
    pub(crate) fn is_there(&mut self, path: &Path) -> bool {
        self.look_at(path);
        match path.symlink_metadata() {
            Ok(_) => true,
            Err(error) if is_absence(&error) => self.mode == LoadMode::Refresh && self.store.good.contains_key(path),
            Err(_) => true,
        }
    }

    /// The first of several paths that exists.
    pub(crate) fn first_of(&mut self, paths: impl IntoIterator<Item = PathBuf>) -> Option<PathBuf> {
        paths.into_iter().find(|path| self.is_there(path))
    }

    /// The resolved path; the last known one while the path is missing or cannot be accessed.
    pub(crate) fn real_path(&mut self, path: &Path) -> io::Result<PathBuf> {
        self.look_at(path);
        match hookrail_spawn::real_path(path) {
            Ok(real) => {
                self.look_at(&real);
                self.store.real.insert(path.to_owned(), real.clone());
                Ok(real)
            }
            Err(error) => {
                let starved = is_want_of_resources(&error);
                self.report.try_again |= starved;
                // A dangling link is broken, not removed.
                let is_kept = || self.mode == LoadMode::Refresh || path.is_symlink();
                let known = self.store.real.get(path).filter(|_| starved || is_kept());
                known.cloned().ok_or(error)
            }
        }
    }

    /// The entries of a folder by name. Entries of the last load stay until a removal is accepted; reading their own
    /// sources then reports that they are missing.
    pub(crate) fn list_folder(&mut self, place: SourceId<'_>, found: &mut Vec<Diagnostic>) -> Vec<Entry> {
        let folder = place.path;
        self.look_at(folder);
        let mut entries: BTreeSet<Entry> = match list_entries(folder) {
            Ok(entries) => entries,
            Err(error) if is_absence(&error) && !folder.is_symlink() => BTreeSet::new(),
            Err(error) => {
                let reason = KeptReason::of_error(&error);
                self.report.try_again |= reason == KeptReason::OutOfResources;
                let known = self.store.listed.get(folder).cloned();
                let message = format!("the folder `{}` cannot be read: {error}", folder.display());
                found.push(Diagnostic::new(Code::FileUnreadable, &message).at(Location::whole_file(folder)));
                let Some(known) = known else {
                    self.unusable(place, message);
                    return Vec::new();
                };
                self.keep(folder, reason, found);
                return known;
            }
        };
        if self.mode == LoadMode::Refresh {
            let known = self.store.listed.get(folder).into_iter().flatten();
            let gone: Vec<Entry> =
                known.filter(|known| !entries.iter().any(|entry| entry.path == known.path)).cloned().collect();
            entries.extend(gone);
        }
        let entries: Vec<Entry> = entries.into_iter().collect();
        self.store.listed.insert(folder.to_owned(), entries.clone());
        entries
    }

    /// The current state of a path. A text that differs from the one in force is read when it is stable.
    fn current_state(&self, path: &Path) -> CurrentState {
        let read = read_file(path);
        let known = self.store.good.get(path);
        match &read {
            Ok(None) if known.is_none() => return CurrentState::Gone,
            Ok(None) if self.mode == LoadMode::Refresh => return CurrentState::Gone,
            Ok(Some(text)) if known.is_some_and(|known| **known == **text) => {}
            Ok(_) if self.mode != LoadMode::First => return CurrentState::once_stable(path),
            _ => {}
        }
        CurrentState::from_read(path, read)
    }
}

/// Parses the current state. An empty file is treated as broken, because an interrupted save leaves one behind.
fn parsed<T>(path: &Path, now: &CurrentState, parse: impl Fn(&str) -> Parsed<T>) -> Parsed<T> {
    match now {
        CurrentState::Text(text) if text.trim().is_empty() => {
            let message = format!("`{}` is empty", path.display());
            let hint = "repair it, or remove it if it is meant to say nothing";
            Parsed::broken(Diagnostic::new(Code::FileEmpty, message).at(Location::whole_file(path)).hint(hint))
        }
        CurrentState::Text(text) => parse(text),
        CurrentState::Gone => Parsed { value: None, problems: Vec::new(), verdict: Usability::Broken },
        CurrentState::Unreadable(problem, _) => Parsed::broken(problem.clone()),
    }
}
