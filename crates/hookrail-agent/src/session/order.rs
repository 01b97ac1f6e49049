//! The order in which the sessions of a project were used, and by which process.
//!
//! The order is kept in a file of its own, because neither the time in an ID nor the time of a file's last change shows it:
//! clocks are set back, and an old session can be the one used last.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hookrail_spawn::Replace;

/// The time to wait for another process that holds the lock, which it does for milliseconds only.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// The file with one line for each session, the one used last at the end: the session's ID and a process.
#[derive(Clone, Debug)]
pub(super) struct SessionOrder {
    file: PathBuf,
    /// The folder that is locked while the order is read and changed.
    folder: PathBuf,
}

/// A session that was used, and the process that used it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SessionUse {
    pub(super) id: String,
    pub(super) process: u32,
}

impl SessionOrder {
    pub(super) fn new(file: PathBuf, folder: &Path) -> Self {
        Self { file, folder: folder.to_owned() }
    }

    /// Keeps other processes from changing the order and from opening sessions, until the file is dropped.
    #[cfg(unix)]
    pub(super) fn lock(&self) -> io::Result<Option<File>> {
        hookrail_spawn::create_private_folder(&self.folder)?;
        let folder = File::open(&self.folder)?;
        hookrail_spawn::wait_for_lock(&folder, LOCK_TIMEOUT)?;
        Ok(Some(folder))
    }

    /// Does nothing: a folder cannot be locked on this system; the sessions themselves are.
    #[cfg(not(unix))]
    pub(super) fn lock(&self) -> io::Result<Option<File>> {
        hookrail_spawn::create_private_folder(&self.folder)?;
        Ok(None)
    }

    /// Returns the sessions in the order of their last use. A missing file and damaged lines are ignored.
    pub(super) fn read(&self) -> Vec<SessionUse> {
        let bytes = std::fs::read(&self.file).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let line = |line: &str| {
            let (id, process) = line.split_once(' ')?;
            Some(SessionUse { id: id.to_owned(), process: process.parse().ok()? })
        };
        text.lines().filter_map(line).collect()
    }

    /// Records that this process uses a session now. The lock must be held.
    pub(super) fn note(&self, id: &str) -> io::Result<()> {
        let used = SessionUse { id: id.to_owned(), process: std::process::id() };
        let mut all = self.read();
        if all.last() == Some(&used) {
            return Ok(());
        }
        all.retain(|other| other.id != id && self.folder.join(format!("{}.jsonl", other.id)).exists());
        all.push(used);
        let text: String = all.iter().map(|used| format!("{} {}\n", used.id, used.process)).collect();
        hookrail_spawn::replace_file(&self.file, text.as_bytes(), &Replace::PRIVATE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_use_counts_and_damage_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("p");
        let order = SessionOrder::new(dir.path().join("p.used"), &folder);
        let _lock = order.lock().unwrap();
        for id in ["a", "b", "c"] {
            std::fs::write(folder.join(format!("{id}.jsonl")), "").unwrap();
        }
        let ids = || order.read().into_iter().map(|used| used.id).collect::<Vec<_>>();
        for id in ["a", "b", "c", "a"] {
            order.note(id).unwrap();
        }
        assert_eq!(ids(), ["b", "c", "a"]);
        std::fs::remove_file(folder.join("c.jsonl")).unwrap();
        std::fs::write(dir.path().join("p.used"), "b 1\n\0\0\na 2\nc 3\nb").unwrap();
        order.note("b").unwrap();
        assert_eq!(ids(), ["a", "b"], "a session that is gone leaves the order");
    }
}
