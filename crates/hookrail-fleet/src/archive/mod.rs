//! The archive of a bundle: regular files in a compressed tar, and nothing else.
//!
//! The same files always give the same bytes: entries are sorted by path, times are 0, owners are 0, and of the permissions
//! only "can be executed" is kept.

mod pack;
mod unpack;

use std::path::PathBuf;

use crate::digest::ArchiveDigest;

pub use pack::{PackedArchive, pack};
pub use unpack::{list, unpack};

/// The limits of an archive. They are the same for making and for unpacking one.
#[derive(Clone, Copy, Debug)]
pub struct ArchiveLimits {
    /// The size of the archive in bytes.
    pub archive: u64,
    /// The size of all files together in bytes.
    pub total: u64,
    /// The size of one file in bytes.
    pub file: u64,
    /// The number of files.
    pub files: usize,
    /// The number of parts of a path.
    pub depth: usize,
    /// How many bytes one byte of the archive may become. It counts beyond the first mebibyte.
    pub ratio: u64,
}

impl ArchiveLimits {
    /// The limits in force.
    pub const DEFAULT: Self =
        Self { archive: 32 * MEBIBYTE, total: 64 * MEBIBYTE, file: 16 * MEBIBYTE, files: 4096, depth: 16, ratio: 100 };

    /// Returns how many bytes an archive of a size may become.
    fn unpacked(&self, archive: usize) -> u64 {
        let by_ratio = (archive as u64).saturating_mul(self.ratio).max(MEBIBYTE);
        self.total.min(by_ratio)
    }
}

const MEBIBYTE: u64 = 1024 * 1024;

/// The size of a block of a tar, and of its headers.
const BLOCK: u64 = 512;

/// The files that a bundle may hold at its top.
pub const TOP_FILES: [&str; 2] = ["settings.json", "rules.toml"];

/// The folders that a bundle may hold at its top. Those that are named as agents have hooks in their formats.
pub const TOP_FOLDERS: [&str; 6] = ["plugins", "modules", "scripts", "claude", "gemini", "codex"];

/// A file in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedFile {
    /// The path below the bundle's folder, with `/` between its parts.
    pub path: String,
    /// The size in bytes.
    pub size: u64,
    /// Whether it can be executed.
    pub executable: bool,
    /// The digest of its content.
    pub digest: ArchiveDigest,
}

/// Why an archive is refused, or cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The archive is cut off, or its bytes were changed.
    #[error("the archive is damaged: {0}")]
    Damaged(String),
    /// A path leads out of the bundle, or is not one that every system understands.
    #[error("`{path}` cannot be in a bundle: {why}")]
    Path {
        /// The path as it is written, with other bytes replaced.
        path: String,
        /// What is wrong with it.
        why: PathProblem,
    },
    /// An entry is a link.
    #[error("`{0}` is a link, and a bundle has none")]
    Link(String),
    /// An entry is a device or a pipe.
    #[error("`{0}` is a device or a pipe, and a bundle has none")]
    Device(String),
    /// An entry is of another kind.
    #[error("`{0}` is neither a file nor a kind of entry that is known")]
    Entry(String),
    /// A path is there twice, or is a file and a folder.
    #[error("`{0}` is in the archive twice")]
    Duplicate(String),
    /// A name at the top of the bundle is not known.
    #[error(
        "`{0}` does not belong into a bundle, which holds {files} and the folders {folders}",
        files = TOP_FILES.join(", "),
        folders = TOP_FOLDERS.join(", ")
    )]
    Unexpected(String),
    /// The archive is empty.
    #[error("there is nothing to put into a bundle")]
    Empty,
    /// The archive or a file is too large.
    #[error("{what} is larger than {limit} bytes")]
    TooLarge {
        /// What is too large.
        what: String,
        /// The limit.
        limit: u64,
    },
    /// There are too many files.
    #[error("there are more than {0} files")]
    TooMany(usize),
    /// The archive grows more than any real one when it is unpacked.
    #[error("the archive grows to more than {0} bytes, which is too much for its size")]
    Bomb(u64),
    /// A file cannot be read or written.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

/// What is wrong with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathProblem {
    /// It is absolute.
    #[error("it is absolute")]
    Absolute,
    /// It has a part `..`, `.` or an empty one.
    #[error("it has a part that leads elsewhere")]
    Traversal,
    /// It is not UTF-8, or has a control character or a backslash.
    #[error("it has characters that are not allowed")]
    Characters,
    /// It has too many parts, or is too long for the format.
    #[error("it is too long")]
    TooLong,
}

impl ArchiveError {
    /// Returns the stable name of the reason, for programs.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Damaged(_) => "archive-damaged",
            Self::Path { .. } => "archive-path",
            Self::Link(_) => "archive-link",
            Self::Device(_) => "archive-device",
            Self::Entry(_) => "archive-entry",
            Self::Duplicate(_) => "archive-duplicate",
            Self::Unexpected(_) => "archive-unexpected",
            Self::Empty => "archive-empty",
            Self::TooLarge { .. } => "archive-too-large",
            Self::TooMany(_) => "archive-too-many",
            Self::Bomb(_) => "archive-bomb",
            Self::Io { .. } => "io",
        }
    }

    fn path(path: &str, why: PathProblem) -> Self {
        Self::Path { path: path.escape_default().to_string(), why }
    }

    fn at(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        |source| Self::Io { path, source }
    }
}

/// Checks a path of an archive, and that its first part belongs there.
fn check_path(path: &str, limits: &ArchiveLimits) -> Result<(), ArchiveError> {
    let wrong = |why| Err(ArchiveError::path(path, why));
    if path.starts_with('/') {
        return wrong(PathProblem::Absolute);
    }
    if path.chars().any(|character| character.is_control() || character == '\\') {
        return wrong(PathProblem::Characters);
    }
    let parts: Vec<&str> = path.split('/').collect();
    if parts.iter().any(|part| part.is_empty() || *part == "." || *part == "..") {
        return wrong(PathProblem::Traversal);
    }
    // The longest path that the plain format can hold: a prefix, a separator and a name.
    if parts.len() > limits.depth || path.len() > 255 {
        return wrong(PathProblem::TooLong);
    }
    let is_known = match parts.as_slice() {
        [file] => TOP_FILES.contains(file),
        [folder, ..] => TOP_FOLDERS.contains(folder),
        [] => false,
    };
    if is_known { Ok(()) } else { Err(ArchiveError::Unexpected(path.to_owned())) }
}
