//! Watches the paths that hold configuration.
//!
//! Folders are watched, not files: editors write a new file and rename it over the old one. For a folder that does not exist
//! yet, the nearest existing folder above it is watched. If the operating system cannot watch, [`Signature`]s are compared
//! instead. This module does not know what the files contain.

mod path_watcher;
mod signature;

use std::collections::{BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hookrail::lock_mutex;
use notify::event::{AccessKind, AccessMode};
use notify::{Config, ErrorKind, EventKind, RecommendedWatcher, RecursiveMode};
use notify_debouncer_full::{DebounceEventResult, DebouncedEvent, Debouncer, NoCache, new_debouncer_opt};

use crate::words::words;

pub use path_watcher::PathWatcher;
pub(crate) use signature::Signature;

/// The time for which changes are collected before they are reported.
const DEBOUNCE: Duration = Duration::from_millis(100);

words! {
    /// How a server notices that configuration has changed.
    pub enum WatchMode {
        /// The operating system reports changes.
        Events = "events",
        /// The operating system cannot, so every path is checked once a second.
        Polling = "polling",
        /// Nothing is watched but the user's grants.
        Off = "off",
    }
}

/// Watches paths for several owners, and reports the owners of a changed path.
pub(crate) struct Watcher {
    /// `None` after the operating system has refused to watch a folder. All paths are then polled, because otherwise changes
    /// in that folder would not be noticed.
    debouncer: Mutex<Option<Debouncer<RecommendedWatcher, NoCache>>>,
    followed: Arc<Mutex<HashMap<PathBuf, Followed>>>,
}

/// The paths of one owner.
#[derive(Default)]
struct Followed {
    files: Vec<PathBuf>,
    folders: BTreeSet<PathBuf>,
}

impl Watcher {
    /// Starts to watch. `on_change` is called on a separate thread.
    pub(crate) fn start(on_change: impl Fn(&[PathBuf]) + Send + 'static) -> Self {
        let followed: Arc<Mutex<HashMap<PathBuf, Followed>>> = Arc::default();
        let known = Arc::clone(&followed);
        let handler = move |result: DebounceEventResult| {
            let owners = match result {
                Ok(events) if !events.iter().any(|event| event.need_rescan()) => owners(&lock_mutex(&known), &events),
                // Events were lost, so every path may have changed.
                Ok(_) | Err(_) => lock_mutex(&known).keys().cloned().collect(),
            };
            if !owners.is_empty() {
                on_change(&owners);
            }
        };
        let debouncer = new_debouncer_opt(DEBOUNCE, None, handler, NoCache::new(), Config::default());
        let debouncer = debouncer.map_err(|error| report_polling(&error, None)).ok();
        Self { debouncer: Mutex::new(debouncer), followed }
    }

    pub(crate) fn mode(&self) -> WatchMode {
        if lock_mutex(&self.debouncer).is_some() { WatchMode::Events } else { WatchMode::Polling }
    }

    /// Watches these paths for an owner, instead of its previous ones.
    pub(crate) fn follow(&self, owner: &Path, files: Vec<PathBuf>) {
        let mut debouncer = lock_mutex(&self.debouncer);
        let Some(watching) = debouncer.as_mut() else { return };
        let folders: BTreeSet<PathBuf> = files.iter().flat_map(|file| folders(file)).collect();
        let (before, others) = {
            let mut followed = lock_mutex(&self.followed);
            let others: BTreeSet<PathBuf> = followed
                .iter()
                .filter(|(other, _)| *other != owner)
                .flat_map(|(_, followed)| followed.folders.iter().cloned())
                .collect();
            let new = Followed { files, folders: folders.clone() };
            (followed.insert(owner.to_owned(), new).unwrap_or_default().folders, others)
        };
        let (left, entered) = (before.difference(&folders).filter(|folder| !others.contains(*folder)), &folders);
        let watched = catch_unwind(AssertUnwindSafe(|| watch(watching, left, entered)));
        match watched {
            Ok(Ok(())) => {}
            Ok(Err((error, folder))) => {
                report_polling(&error, Some(folder));
                *debouncer = None;
            }
            Err(_) => {
                report_polling(&notify::Error::generic("there is no thread for it"), None);
                // Without its thread the watcher panics, and panics again when it is dropped.
                std::mem::forget(debouncer.take());
            }
        }
    }

    /// Ends watching for an owner.
    pub(crate) fn forget(&self, owner: &Path) {
        self.follow(owner, Vec::new());
        lock_mutex(&self.followed).remove(owner);
    }
}

/// Watches the folders that were entered and no longer those that were left. Returns the first that cannot be watched.
fn watch<'f>(
    watching: &mut Debouncer<RecommendedWatcher, NoCache>,
    left: impl Iterator<Item = &'f PathBuf>,
    entered: &'f BTreeSet<PathBuf>,
) -> Result<(), (notify::Error, &'f Path)> {
    for folder in left {
        let _ = watching.unwatch(folder);
    }
    for folder in entered {
        // Watching a folder again does no harm, and is necessary if it was deleted and created again.
        match watching.watch(folder, RecursiveMode::NonRecursive) {
            Ok(()) => {}
            // The folder was removed meanwhile. The folder above it, which is watched first, reports that.
            Err(error) if matches!(error.kind, ErrorKind::PathNotFound) => {}
            Err(error) => return Err((error, folder)),
        }
    }
    Ok(())
}

fn report_polling(error: &notify::Error, folder: Option<&Path>) {
    let folder = folder.map(|folder| folder.display().to_string());
    crate::log::shielded(|| {
        tracing::warn!(
            target: "hookrail::bus", %error, folder,
            "configuration cannot be watched; every file is checked once a second instead. \
             Raise fs.inotify.max_user_instances or fs.inotify.max_user_watches and restart the server"
        );
    });
}

/// Returns the folders in which a change of a path shows: its parent, the path itself if it is a folder, and for every link
/// in the path the folder that holds the link.
fn folders(file: &Path) -> Vec<PathBuf> {
    let parent = file.ancestors().skip(1).find(|folder| folder.is_dir()).map(Path::to_owned);
    let links = file.ancestors().skip(1).filter(|folder| folder.is_symlink());
    let beside_links = links.filter_map(Path::parent).map(Path::to_owned);
    parent.into_iter().chain(beside_links).chain(file.is_dir().then(|| file.to_owned())).collect()
}

/// Returns the owners of the paths in these events.
fn owners(followed: &HashMap<PathBuf, Followed>, events: &[DebouncedEvent]) -> Vec<PathBuf> {
    let changed: Vec<&PathBuf> =
        events.iter().filter(|event| is_change(&event.kind)).flat_map(|event| &event.paths).collect();
    let concerns = |followed: &Followed| {
        // A path is affected by a change of itself, of a file in it, and of a folder above it.
        followed.files.iter().any(|file| changed.iter().any(|path| file.starts_with(path) || path.starts_with(file)))
    };
    followed.iter().filter(|(_, followed)| concerns(followed)).map(|(owner, _)| owner.clone()).collect()
}

/// Whether an event is a change. Reading is none: loading configuration itself reads files.
fn is_change(kind: &EventKind) -> bool {
    !matches!(kind, EventKind::Access(access) if *access != AccessKind::Close(AccessMode::Write))
}
