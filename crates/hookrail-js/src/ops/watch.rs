//! Watching files, by looking at them again and again: it works on every file system, and hooks watch few files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::OpError;
use crate::shared::Shared;
use crate::worker::Message;

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(150);

/// What was seen: names with size and time of the last change.
type Seen = BTreeMap<String, (u64, Option<SystemTime>)>;

pub(super) fn begin(shared: &Arc<Shared>, watcher: u32, target: PathBuf) -> Result<Value, OpError> {
    if let Err(error) = std::fs::metadata(&target) {
        return Err(OpError::io(&error, "watch", &target));
    }
    let inbox = shared.inbox.clone();
    let mut before = look(&target);
    let task = shared.runtime.spawn(async move {
        loop {
            tokio::time::sleep(PAUSE).await;
            let now = look(&target);
            for (kind, name) in differences(&before, &now) {
                let Some(inbox) = inbox.upgrade() else { return };
                if inbox.send(Message::Changed { watcher, kind, name }).is_err() {
                    return;
                }
            }
            before = now;
        }
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

fn look(target: &Path) -> Seen {
    let of = |path: &Path| std::fs::metadata(path).ok().map(|about| (about.len(), about.modified().ok()));
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if target.is_dir() {
        let entries = std::fs::read_dir(target).into_iter().flatten().filter_map(Result::ok);
        return entries.filter_map(|entry| Some((name(&entry.path()), of(&entry.path())?))).collect();
    }
    of(target).map(|about| (name(target), about)).into_iter().collect()
}

fn differences(before: &Seen, now: &Seen) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    for (name, about) in now {
        match before.get(name) {
            Some(old) if old == about => {}
            Some(_) => found.push(("change", name.clone())),
            None => found.push(("rename", name.clone())),
        }
    }
    let gone = before.keys().filter(|name| !now.contains_key(*name));
    found.extend(gone.map(|name| ("rename", name.clone())));
    found
}
