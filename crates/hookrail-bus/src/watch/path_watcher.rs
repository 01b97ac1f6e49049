//! A watcher for programs that show again what they have shown when a file changes.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hookrail::lock_mutex;
use tokio::sync::Notify;

use super::{Signature, WatchMode, Watcher};

/// The time between two looks at every path where the operating system reports no changes.
const POLL_EVERY: Duration = Duration::from_secs(1);

/// Waits for changes of paths. Where the operating system reports none, the paths are looked at once a second.
pub struct PathWatcher {
    watcher: Watcher,
    reported: Arc<Notify>,
    followed: Mutex<Followed>,
}

/// The paths, and what was last seen of them.
#[derive(Default)]
struct Followed {
    paths: Vec<PathBuf>,
    last: Signature,
}

impl PathWatcher {
    /// A watcher that follows no path yet.
    #[must_use]
    pub fn new() -> Self {
        let reported = Arc::new(Notify::new());
        let report = Arc::clone(&reported);
        let watcher = Watcher::start(move |_| report.notify_one());
        Self { watcher, reported, followed: Mutex::default() }
    }

    /// Follows these paths from now on, instead of the previous ones. A folder is meant with what is directly in it. A change
    /// of a path that is followed already is still reported.
    pub fn follow(&self, paths: Vec<PathBuf>) {
        {
            let mut followed = lock_mutex(&self.followed);
            *followed = Followed { last: followed.last.extended_to(&paths), paths: paths.clone() };
        }
        self.watcher.follow(Path::new(""), paths);
    }

    /// Returns whether a path has changed since it was last looked at.
    pub fn has_changed(&self) -> bool {
        let mut followed = lock_mutex(&self.followed);
        let now = followed.last.read_again();
        let has_changed = followed.last != now;
        followed.last = now;
        has_changed
    }

    /// Waits until a path changes. Reports about other files of the same folders are no change.
    pub async fn wait_for_change(&self) {
        while !self.has_changed() {
            match self.watcher.mode() {
                WatchMode::Events => {
                    self.reported.notified().await;
                    // A folder on the way to a path may be new, and is watched from now on.
                    let paths = lock_mutex(&self.followed).paths.clone();
                    self.watcher.follow(Path::new(""), paths);
                }
                WatchMode::Polling | WatchMode::Off => tokio::time::sleep(POLL_EVERY).await,
            }
        }
    }
}

impl Default for PathWatcher {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_change_of_a_followed_file_is_noticed_and_no_other() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        let (file, other) = (folder.path().join("followed"), folder.path().join("other"));
        std::fs::write(&file, "one")?;
        let watcher = PathWatcher::new();
        watcher.follow(vec![file.clone(), folder.path().join("missing/later")]);
        std::fs::write(&other, "x")?;
        assert!(!watcher.has_changed());
        std::fs::write(&file, "three")?;
        watcher.wait_for_change().await;
        assert!(!watcher.has_changed(), "a change is reported once");
        std::fs::write(&file, "four")?;
        watcher.follow(vec![file.clone(), folder.path().join("missing/later")]);
        watcher.wait_for_change().await;
        std::fs::create_dir(folder.path().join("missing"))?;
        std::fs::write(folder.path().join("missing/later"), "x")?;
        watcher.wait_for_change().await;
        Ok(())
    }
}
