//! Watching the places that hold configuration.
//!
//! Folders are watched, not files: editors write a new file and rename it over the old one. A folder that does not exist
//! yet is waited for in the nearest one that does. This module knows paths and nothing of what is in them.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use notify::event::{AccessKind, AccessMode};
use notify::{Config, EventKind, RecommendedWatcher, RecursiveMode};
use notify_debouncer_full::{DebounceEventResult, DebouncedEvent, Debouncer, NoCache, new_debouncer_opt};

/// How long a burst of changes is collected.
const DEBOUNCE: Duration = Duration::from_millis(100);

/// Watches places for several owners and tells which owners a change concerns.
pub(crate) struct Watcher {
    debouncer: Mutex<Debouncer<RecommendedWatcher, NoCache>>,
    followed: Arc<Mutex<HashMap<PathBuf, Followed>>>,
}

/// What one owner follows.
#[derive(Default)]
struct Followed {
    files: Vec<PathBuf>,
    folders: BTreeSet<PathBuf>,
}

impl Watcher {
    /// Starts to watch; none where the operating system offers no way. Changes are told on a thread of its own.
    pub(crate) fn start(tell: impl Fn(&[PathBuf]) + Send + 'static) -> Option<Self> {
        let followed: Arc<Mutex<HashMap<PathBuf, Followed>>> = Arc::default();
        let known = Arc::clone(&followed);
        let handler = move |result: DebounceEventResult| {
            let owners = match result {
                Ok(events) => owners(&lock(&known), &events),
                // Something may have been missed, so everything may have changed.
                Err(_) => lock(&known).keys().cloned().collect(),
            };
            if !owners.is_empty() {
                tell(&owners);
            }
        };
        match new_debouncer_opt(DEBOUNCE, None, handler, NoCache::new(), Config::default()) {
            Ok(debouncer) => Some(Self { debouncer: Mutex::new(debouncer), followed }),
            Err(error) => {
                tracing::warn!(target: "hookrail::bus", %error, "configuration cannot be watched; changes need a restart");
                None
            }
        }
    }

    /// Follows these places for an owner, instead of those it followed before.
    pub(crate) fn follow(&self, owner: &Path, files: Vec<PathBuf>) {
        let folders: BTreeSet<PathBuf> = files.iter().flat_map(|file| folders(file)).collect();
        let (before, others) = {
            let mut followed = lock(&self.followed);
            let others: BTreeSet<PathBuf> = followed
                .iter()
                .filter(|(other, _)| *other != owner)
                .flat_map(|(_, followed)| followed.folders.iter().cloned())
                .collect();
            let new = Followed { files, folders: folders.clone() };
            (followed.insert(owner.to_owned(), new).unwrap_or_default().folders, others)
        };
        let mut debouncer = lock(&self.debouncer);
        for folder in before.difference(&folders).filter(|folder| !others.contains(*folder)) {
            let _ = debouncer.unwatch(folder);
        }
        for folder in &folders {
            // Watching again is harmless, and needed where a folder was deleted and made anew.
            if let Err(error) = debouncer.watch(folder, RecursiveMode::NonRecursive) {
                tracing::warn!(target: "hookrail::bus", folder = %folder.display(), %error, "cannot be watched");
            }
        }
    }

    /// Follows nothing for an owner any more.
    pub(crate) fn forget(&self, owner: &Path) {
        self.follow(owner, Vec::new());
        lock(&self.followed).remove(owner);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The folders in which a change of a place shows: the one it is in, and itself where it is one.
fn folders(file: &Path) -> impl Iterator<Item = PathBuf> {
    let parent = file.ancestors().skip(1).find(|folder| folder.is_dir()).map(Path::to_owned);
    parent.into_iter().chain(file.is_dir().then(|| file.to_owned()))
}

/// The owners whom these events concern.
fn owners(followed: &HashMap<PathBuf, Followed>, events: &[DebouncedEvent]) -> Vec<PathBuf> {
    let changed: Vec<&PathBuf> =
        events.iter().filter(|event| is_change(&event.kind)).flat_map(|event| &event.paths).collect();
    let concerns = |followed: &Followed| {
        // A place changes with itself, with what is in it, and with a folder it is in.
        followed.files.iter().any(|file| changed.iter().any(|path| file.starts_with(path) || path.starts_with(file)))
    };
    followed.iter().filter(|(_, followed)| concerns(followed)).map(|(owner, _)| owner.clone()).collect()
}

/// Reading is not a change; loading itself reads.
fn is_change(kind: &EventKind) -> bool {
    !matches!(kind, EventKind::Access(access) if *access != AccessKind::Close(AccessMode::Write))
}
