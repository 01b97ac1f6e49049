//! Noticing that a configuration file has changed, and loading it.

use std::path::PathBuf;

use hookrail_spawn::{FileStamp, lock_mutex};

use super::ReferenceAgent;

/// What the file system tells about files without reading them. Two values that differ mean a change.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FileFacts(Vec<(PathBuf, Option<FileStamp>)>);

impl FileFacts {
    pub(super) fn of(paths: &[PathBuf]) -> Self {
        Self(paths.iter().map(|path| (path.clone(), FileStamp::read(path))).collect())
    }

    fn paths(&self) -> Vec<PathBuf> {
        self.0.iter().map(|(path, _)| path.clone()).collect()
    }
}

impl ReferenceAgent {
    /// Loads the configuration if one of its files has changed. This is called before everything that fires hooks on its
    /// own: a prompt, a turn, a tool, a command. A look takes microseconds, so no thread has to watch.
    pub(crate) fn refresh_hooks(&self) {
        {
            let known = lock_mutex(&self.configuration);
            if *known == FileFacts::of(&known.paths()) {
                return;
            }
        }
        self.hooks().refresh();
        self.configuration_loaded();
    }

    /// Loads the configuration because the user asked for it, which also accepts that a file was removed.
    pub(crate) fn reload_hooks(&self) {
        self.hooks().reload();
        self.configuration_loaded();
    }

    fn configuration_loaded(&self) {
        self.ignore_changes_so_far();
        self.report_loading();
    }

    /// Takes the files as they are for the ones that are in force. A plugin that was switched takes part from the next
    /// refresh on, as its users know it, and not before.
    pub(crate) fn ignore_changes_so_far(&self) {
        *lock_mutex(&self.configuration) = FileFacts::of(&self.hooks().watched_paths());
    }
}
