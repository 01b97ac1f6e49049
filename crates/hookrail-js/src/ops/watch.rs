//! Watching files, as the system tells of changes; where it does not, by looking at them again and again.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::event::ModifyKind;
use notify::{Config, Event, EventKind, PollWatcher, RecommendedWatcher, RecursiveMode, Watcher};
use serde_json::Value;

use super::OpError;
use crate::shared::Shared;
use crate::worker::Message;

/// The pause between two looks, where looking is the only way.
const PAUSE: Duration = Duration::from_millis(200);

pub(super) fn begin(shared: &Arc<Shared>, watcher: u32, target: PathBuf, recursive: bool) -> Result<Value, OpError> {
    let about = std::fs::metadata(&target).map_err(|error| OpError::io(&error, "watch", &target))?;
    // A file is often replaced by another one of its name, which only its folder can tell.
    let (folder, only) = match (about.is_dir(), target.parent()) {
        (false, Some(parent)) => (parent.to_owned(), Some(target.clone())),
        _ => (target, None),
    };
    let watched = watch(shared, watcher, &folder, only, recursive)
        .map_err(|error| OpError::new(format!("`{}` cannot be watched: {error}", folder.display())))?;
    // Whoever ends the task lets go of what watches.
    let task = shared.runtime.spawn(async move {
        let _watched = watched;
        std::future::pending::<()>().await;
    });
    if let Some(old) = shared.watchers.lock().insert(watcher, task.abort_handle()) {
        old.abort();
    }
    Ok(Value::Null)
}

pub(super) fn end(shared: &Shared, watcher: u32) {
    if let Some(task) = shared.watchers.lock().remove(&watcher) {
        task.abort();
    }
}

fn watch(
    shared: &Arc<Shared>,
    watcher: u32,
    folder: &Path,
    only: Option<PathBuf>,
    recursive: bool,
) -> notify::Result<Box<dyn Watcher + Send>> {
    let mode = if recursive { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive };
    let heard = || {
        let (inbox, folder, only) = (shared.inbox.clone(), folder.to_owned(), only.clone());
        move |event: notify::Result<Event>| {
            let Ok(event) = event else { return };
            let (Some(kind), Some(inbox)) = (kind(event.kind), inbox.upgrade()) else { return };
            for path in event.paths.iter().filter(|path| only.as_ref().is_none_or(|only| only == *path)) {
                // A module that is gone does not hear of anything.
                let _ = inbox.send(Message::Changed { watcher, kind, name: name(&folder, path) });
            }
        }
    };
    let told = RecommendedWatcher::new(heard(), Config::default())
        .and_then(|mut told| told.watch(folder, mode).map(|()| Box::new(told) as Box<dyn Watcher + Send>));
    match told {
        Ok(told) => Ok(told),
        // The system has a limit on what it tells about, and some file systems tell nothing.
        Err(_) => {
            let mut looking = PollWatcher::new(heard(), Config::default().with_poll_interval(PAUSE))?;
            looking.watch(folder, mode)?;
            Ok(Box::new(looking))
        }
    }
}

/// What modules call a change; none for what they do not want to know.
fn kind(kind: EventKind) -> Option<&'static str> {
    match kind {
        EventKind::Modify(ModifyKind::Name(_)) | EventKind::Create(_) | EventKind::Remove(_) => Some("rename"),
        EventKind::Modify(_) => Some("change"),
        _ => None,
    }
}

/// The name of a file below the folder that is watched.
fn name(folder: &Path, path: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned()
}
