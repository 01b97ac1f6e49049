//! Reads configuration files that an untrusted project may have prepared: only regular files, up to a size limit, only
//! UTF-8.

use std::io::{self, Read};
use std::path::Path;
use std::time::SystemTime;

use super::sources::is_absence;

/// The largest file that is read as configuration.
const LARGEST: u64 = 16 * 1024 * 1024;

/// Why a file that exists could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadProblem {
    /// An error of the operating system.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A directory, a device, a pipe: reading could block for ever.
    #[error("it is not a regular file")]
    NotAFile,
    /// Too many bytes.
    #[error("it is larger than {} MiB", LARGEST / 1024 / 1024)]
    TooLarge,
    /// Not text.
    #[error("it is not UTF-8 text")]
    NotText,
}

/// Returns the text of a configuration file that an untrusted project may have prepared, or nothing if there is no such
/// file. A byte order mark is removed.
///
/// # Errors
/// If the file exists and cannot be read, or must not be read.
pub fn read_file(path: &Path) -> Result<Option<String>, ReadProblem> {
    // Most of the possible places have no file, so a missing file must cost one system call only.
    let mut about = match std::fs::symlink_metadata(path) {
        Ok(about) => about,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    if about.is_symlink() {
        // A dangling link exists, so its owner is told instead of treating the file as missing.
        about = std::fs::metadata(path)?;
    }
    if !about.is_file() {
        return Err(ReadProblem::NotAFile);
    }
    let bytes = read_within(path, &mut { LARGEST })?.ok_or(ReadProblem::TooLarge)?;
    let text = String::from_utf8(bytes).map_err(|_| ReadProblem::NotText)?;
    Ok(Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)))
}

/// Returns the bytes of a regular file and subtracts them from the budget; nothing if the budget is smaller than the
/// file.
pub(crate) fn read_within(path: &Path, budget: &mut u64) -> io::Result<Option<Vec<u8>>> {
    let file = hookrail_spawn::open_regular(path)?;
    // The size is checked first, so that a file that is too large is not read at all.
    let expected = file.metadata()?.len();
    if expected > *budget {
        return Ok(None);
    }
    // One byte more shows the end of the file without a second buffer.
    let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or(0) + 1);
    let length = file.take(*budget + 1).read_to_end(&mut bytes)?;
    let Some(left) = u64::try_from(length).ok().and_then(|length| budget.checked_sub(length)) else { return Ok(None) };
    *budget = left;
    Ok(Some(bytes))
}

/// Whether two paths are equal as text or lead to the same file.
pub(crate) fn same_place(one: &Path, other: &Path) -> bool {
    // Comparing metadata costs less than resolving a path, and often one of the files does not exist.
    let both_exist = || one.exists() && other.exists();
    one == other
        || (both_exist() && matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other))
}

/// The first of a path and the folders above it that belongs to another user than root, or that others can write.
#[cfg(unix)]
pub(crate) fn not_roots_alone(path: &Path) -> Option<&Path> {
    use std::os::unix::fs::MetadataExt as _;
    path.ancestors().find(|path| match std::fs::metadata(path) {
        Ok(about) => about.uid() != 0 || about.mode() & 0o022 != 0,
        Err(_) => false,
    })
}

#[cfg(not(unix))]
pub(crate) fn not_roots_alone(_path: &Path) -> Option<&Path> {
    None
}

/// Whether a file, which need not exist, is inside a folder by its path or behind a link.
pub(crate) fn lies_in(file: &Path, folder: &Path) -> bool {
    if file.symlink_metadata().is_err_and(|error| is_absence(&error)) {
        return false;
    }
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let parent = file.parent().map(real).unwrap_or_default();
    let folder = real(folder);
    file.starts_with(&folder) || parent.starts_with(&folder) || real(file).starts_with(&folder)
}

/// Whether a path, of which the last parts need not exist, leads into a folder.
pub(crate) fn is_inside(path: &Path, folder: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    let folder = real(folder).unwrap_or_else(|| folder.to_owned());
    // The nearest part that exists decides: whoever makes the rest makes it there.
    path.starts_with(&folder) || path.ancestors().find_map(real).is_some_and(|real| real.starts_with(&folder))
}

/// Metadata that changes with every change of a file, so that a change is noticed without reading the file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FileStamp {
    length: u64,
    modified: Option<SystemTime>,
    /// Device, inode and time of the last status change, if the system has them.
    node: (u64, u64, i64, i64),
}

impl FileStamp {
    /// Reads the metadata of a file; nothing if there is none.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        let about = path.metadata().ok()?;
        Some(Self { length: about.len(), modified: about.modified().ok(), node: node(&about) })
    }
}

#[cfg(unix)]
fn node(about: &std::fs::Metadata) -> (u64, u64, i64, i64) {
    use std::os::unix::fs::MetadataExt as _;
    (about.dev(), about.ino(), about.ctime(), about.ctime_nsec())
}

#[cfg(not(unix))]
fn node(_about: &std::fs::Metadata) -> (u64, u64, i64, i64) {
    (0, 0, 0, 0)
}
