//! Whether the folder that is read is still the one that was read before: a program that follows a journal has to notice if
//! it was deleted and made anew, because the new one begins with the names and numbers of the old one.

use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};

use crate::error::JournalError;
use crate::segment;

/// The folder of a journal that is read.
#[derive(Debug)]
pub(crate) struct ReadFolder {
    pub(crate) path: PathBuf,
    /// The folder, kept open, so that no other one can get its number; none before it is there.
    opened: Option<File>,
}

/// What a look at the folder found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FolderChange {
    /// It is the one that was read before, is read for the first time, or is not there.
    None,
    /// Another one is in its place.
    MadeAnew,
}

impl ReadFolder {
    pub(crate) fn new(path: &Path) -> Result<Self, JournalError> {
        let mut folder = Self { path: path.to_owned(), opened: None };
        folder.look()?;
        Ok(folder)
    }

    /// Looks whether another folder is in its place, and goes on with that one.
    pub(crate) fn look(&mut self) -> Result<FolderChange, JournalError> {
        let Ok(present) = self.path.symlink_metadata() else { return Ok(FolderChange::None) };
        let known = self.opened.as_ref().and_then(|folder| folder.metadata().ok());
        if known.as_ref().is_some_and(|known| is_same(known, &present)) {
            return Ok(FolderChange::None);
        }
        segment::check_directory(&self.path)?;
        // A system that cannot open folders has no numbers for them either.
        self.opened = File::open(&self.path).ok();
        Ok(if known.is_some() { FolderChange::MadeAnew } else { FolderChange::None })
    }
}

#[cfg(unix)]
pub(crate) fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
pub(crate) fn is_same(_one: &Metadata, _other: &Metadata) -> bool {
    true
}
