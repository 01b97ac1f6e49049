//! Reading a configuration file that a stranger may have prepared: only regular files, only so many bytes, only
//! UTF-8.

use std::io::{self, Read};
use std::path::Path;

/// More than this is no configuration file.
const LARGEST: u64 = 16 * 1024 * 1024;

/// Why a file that exists could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadProblem {
    /// The operating system says no.
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

/// The text of a configuration file that a stranger may have prepared, or nothing when there is no such file. A byte
/// order mark is removed.
///
/// # Errors
/// When there is a file and it cannot be read, or should not be.
pub fn read_file(path: &Path) -> Result<Option<String>, ReadProblem> {
    let about = match std::fs::metadata(path) {
        Ok(about) => about,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            // A dangling link is there all the same, and its owner should hear of it.
            return if path.is_symlink() { Err(error.into()) } else { Ok(None) };
        }
        Err(error) => return Err(error.into()),
    };
    if !about.is_file() {
        return Err(ReadProblem::NotAFile);
    }
    let mut bytes = Vec::new();
    hookrail_spawn::open_regular(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > LARGEST) {
        return Err(ReadProblem::TooLarge);
    }
    let text = String::from_utf8(bytes).map_err(|_| ReadProblem::NotText)?;
    Ok(Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)))
}
