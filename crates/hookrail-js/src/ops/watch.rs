//! Watching files: by notifications of the system, or by polling where there are none.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use notify::event::ModifyKind;
use notify::{Config, Event, EventKind, PollWatcher, RecommendedWatcher, RecursiveMode, Watcher};

use super::{OpAnswer, OpError};
use crate::message::WorkerMessage;
use crate::shared::Shared;

/// The time between two polls.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The most watchers of a module. Each takes a thread.
const MAX_WATCHERS: usize = 32;

/// The most files and directories that are watched at a time, because memory is kept for each.
const MAX_WATCHED_FILES: usize = 20_000;

/// The most changes that wait for a module. Later ones are dropped.
const MAX_PENDING_CHANGES: usize = 1024;

pub(super) fn begin(shared: &Shared, watcher: u32, target: PathBuf, recursive: bool) -> Result<OpAnswer, OpError> {
    let refused = |why: String| OpError::new(format!("`{}` cannot be watched: {why}", target.display())).code("EMFILE");
    if shared.state().watchers.len() >= MAX_WATCHERS {
        return Err(refused(format!("a module has at most {MAX_WATCHERS} watchers")));
    }
    if count(&target, recursive) > MAX_WATCHED_FILES {
        return Err(refused(format!("there are more than {MAX_WATCHED_FILES} files in it")));
    }
    // `notify` starts a thread and does not report it if that fails, so it is tried first.
    if let Err(error) = std::thread::Builder::new().spawn(|| {}).map(std::thread::JoinHandle::join) {
        return Err(refused(format!("there is no thread for it: {error}")));
    }
    let about = std::fs::metadata(&target).map_err(|error| OpError::io(&error, "watch", &target))?;
    // Editors replace a file with a new one of the same name. Only the directory reports that.
    let (folder, only) = match (about.is_dir(), target.parent()) {
        (false, Some(parent)) => (parent.to_owned(), Some(target.clone())),
        _ => (target, None),
    };
    let watched = watch(shared, watcher, &folder, only, recursive)
        .map_err(|error| OpError::new(format!("`{}` cannot be watched: {error}", folder.display())))?;
    shared.state().watchers.insert(watcher, watched);
    Ok(OpAnswer::nothing())
}

/// The number of files and directories below a path, counted up to the limit.
fn count(target: &Path, recursive: bool) -> usize {
    let mut found = 0;
    let mut waiting = vec![target.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            found += 1;
            if found > MAX_WATCHED_FILES {
                return found;
            }
            if recursive && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                waiting.push(entry.path());
            }
        }
    }
    found
}

fn watch(
    shared: &Shared,
    watcher: u32,
    folder: &Path,
    only: Option<PathBuf>,
    recursive: bool,
) -> notify::Result<Box<dyn Watcher + Send>> {
    let mode = if recursive { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive };
    let heard = || {
        let (inbox, folder, only) = (shared.config.inbox.clone(), folder.to_owned(), only.clone());
        let changes = Arc::clone(&shared.changes);
        move |event: notify::Result<Event>| {
            let Ok(event) = event else { return };
            let (Some(kind), Some(inbox)) = (kind(event.kind), inbox.upgrade()) else { return };
            for path in event.paths.iter().filter(|path| only.as_ref().is_none_or(|only| only == *path)) {
                if changes.fetch_add(1, Ordering::Relaxed) >= MAX_PENDING_CHANGES {
                    changes.fetch_sub(1, Ordering::Relaxed);
                    continue;
                }
                let name = path.strip_prefix(&folder).unwrap_or(path).to_string_lossy().into_owned();
                // A module that has ended is not told of changes.
                let _ = inbox.send(WorkerMessage::Changed { watcher, kind, name });
            }
        }
    };
    let told = RecommendedWatcher::new(heard(), Config::default()).and_then(|mut told| {
        if let Ok(watched) = catch_unwind(AssertUnwindSafe(|| told.watch(folder, mode))) {
            return watched.map(|()| told);
        }
        // Without its thread the watcher panics, and panics again when it is dropped.
        std::mem::forget(told);
        Err(notify::Error::generic("there is no thread for it"))
    });
    match told.map(|told| Box::new(told) as Box<dyn Watcher + Send>) {
        Ok(told) => Ok(told),
        // The system limits the number of watches, and some file systems report no changes.
        Err(_) => {
            let mut looking = PollWatcher::new(heard(), Config::default().with_poll_interval(POLL_INTERVAL))?;
            looking.watch(folder, mode)?;
            Ok(Box::new(looking))
        }
    }
}

/// Node's name for a change, or `None` for one that Node does not report.
fn kind(kind: EventKind) -> Option<&'static str> {
    match kind {
        EventKind::Modify(ModifyKind::Name(_)) | EventKind::Create(_) | EventKind::Remove(_) => Some("rename"),
        EventKind::Modify(_) => Some("change"),
        _ => None,
    }
}
