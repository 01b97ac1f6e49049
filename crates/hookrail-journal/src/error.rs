//! Why a journal could not be read or written.

use std::io;
use std::path::{Path, PathBuf};

use hookrail::recorder::{RecordError, RecordErrorKind};

/// Why a journal could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The operating system refused something.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// A file or folder of the journal is not safe to use.
    #[error("`{}` {problem}", path.display())]
    Unsafe {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        problem: UnsafePlace,
    },
    /// Another process has held the lock for too long.
    #[error("`{}` is locked by another process", path.display())]
    Locked {
        /// The lock.
        path: PathBuf,
    },
    /// The journal lies on a network file system, and another machine writes it too.
    #[error("`{}` is on a network file system and machine `{other}` writes it too; set `directory` in `[journal]`", path.display())]
    SharedByMachines {
        /// The folder.
        path: PathBuf,
        /// The other machine.
        other: String,
    },
    /// Too many records wait for being shipped, with the one that is to be appended.
    #[error("{waiting} records wait for being shipped, and the limit is {limit}; run `hookrail fleet status`")]
    Backlog {
        /// How many wait.
        waiting: u64,
        /// How many may.
        limit: u64,
    },
    /// A segment has no record that holds, so the chain cannot be continued.
    #[error("`{}` is damaged; run `hookrail journal verify`", path.display())]
    Damaged {
        /// The segment.
        path: PathBuf,
    },
}

/// Something about a journal that no record failed for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JournalWarning {
    /// Segments could not be compressed or removed.
    #[error("old segments of the journal cannot be compressed or removed: {0}")]
    NotMaintained(String),
    /// Records are written and may not be on the disk.
    #[error("the last records of the journal cannot be written to the disk: {0}")]
    NotSynced(String),
    /// Other users could read the journal.
    #[error("`{}` could be read by other users, with its records and its key; now only its owner can", _0.display())]
    WasReadable(PathBuf),
}

/// Why a file or folder is not safe to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnsafePlace {
    /// It is a symbolic link.
    #[error("is a link, which is not followed")]
    Link,
    /// It belongs to another user.
    #[error("belongs to another user")]
    ForeignOwner,
    /// Others than its owner can write it.
    #[error("can be written by other users")]
    OpenToOthers,
    /// Others than its owner can read it, and this user cannot change that.
    #[error("can be read by other users")]
    ReadableByOthers,
    /// It is a link to what does not exist.
    #[error("is a link that leads nowhere")]
    DanglingLink,
    /// It is a device, a pipe or a folder in the place of a file.
    #[error("is no regular file")]
    NoFile,
    /// It is a file in the place of a folder.
    #[error("is no folder")]
    NoFolder,
    /// The file has another name in another place.
    #[error("has more than one name")]
    ManyNames,
}

impl JournalError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        // With `O_NOFOLLOW` a link is reported in this way.
        #[cfg(unix)]
        if source.raw_os_error() == Some(libc::ELOOP) {
            return Self::Unsafe { path: path.to_owned(), problem: UnsafePlace::Link };
        }
        Self::Io { path: path.to_owned(), source }
    }

    /// The kind of failure.
    #[must_use]
    pub fn kind(&self) -> RecordErrorKind {
        match self {
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                    RecordErrorKind::NoSpace
                }
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => RecordErrorKind::NotWritable,
                _ => RecordErrorKind::Io,
            },
            Self::Unsafe { .. } => RecordErrorKind::Unsafe,
            Self::Locked { .. } | Self::SharedByMachines { .. } => RecordErrorKind::NotWritable,
            Self::Damaged { .. } => RecordErrorKind::Damaged,
            Self::Backlog { .. } => RecordErrorKind::Backlog,
        }
    }
}

impl From<JournalError> for RecordError {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Backlog { .. } => Self::new(error.kind(), error.to_string()),
            _ => Self::new(error.kind(), format!("the journal cannot be written: {error}")),
        }
    }
}
