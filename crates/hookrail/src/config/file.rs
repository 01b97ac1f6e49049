//! Reads configuration files that an untrusted project may have prepared: only regular files, up to a size limit, only
//! UTF-8.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use hookrail_spawn::real_path;

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
    // Often the first does not exist, and then the second is not looked at.
    one == other || real_path(one).is_ok_and(|one| real_path(other).is_ok_and(|other| one == other))
}

/// The highest number of links that are followed, as in the kernel.
#[cfg(unix)]
const MOST_LINKS: usize = 40;

/// The first of a path, the folders above it, and the same of everything that a link among them leads to, that belongs to another
/// user than root, or that others can write.
#[cfg(unix)]
pub(crate) fn not_roots_alone(path: &Path) -> Option<PathBuf> {
    use std::os::unix::fs::MetadataExt as _;
    let is_suspect = |path: &Path| match std::fs::metadata(path) {
        Ok(about) => about.uid() != 0 || about.mode() & 0o022 != 0,
        Err(_) => false,
    };
    let mut targets = vec![path.to_owned()];
    let mut looked_at = 0;
    while let Some(target) = targets.get(looked_at).cloned() {
        looked_at += 1;
        for part in target.ancestors().filter(|part| !part.as_os_str().is_empty()) {
            if is_suspect(part) || looked_at > MOST_LINKS {
                return Some(part.to_owned());
            }
            if let Ok(link) = std::fs::read_link(part) {
                targets.push(part.parent().unwrap_or(part).join(link));
            }
        }
    }
    None
}

#[cfg(not(unix))]
pub(crate) fn not_roots_alone(_path: &Path) -> Option<PathBuf> {
    None
}

/// Whether a file, which need not exist, is inside a folder by its path or behind a link.
pub(crate) fn lies_in(file: &Path, folder: &Path) -> bool {
    if file.symlink_metadata().is_err_and(|error| is_absence(&error)) {
        return false;
    }
    let real = |path: &Path| real_path(path).unwrap_or_else(|_| path.to_owned());
    let parent = file.parent().map(real).unwrap_or_default();
    let folder = real(folder);
    file.starts_with(&folder) || parent.starts_with(&folder) || real(file).starts_with(&folder)
}

/// Whether a path, of which the last parts need not exist, leads into a folder, whose links are resolved.
pub(crate) fn is_inside(path: &Path, real_folder: &Path) -> bool {
    // The nearest part that exists decides, because the rest would be made there.
    let mut leading = path.ancestors().filter_map(|part| real_path(part).ok());
    path.starts_with(real_folder) || leading.next().is_some_and(|real| real.starts_with(real_folder))
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

    use super::*;

    /// Needs root, whose files are meant.
    #[test]
    fn what_a_link_leads_to_must_be_roots_alone_too() {
        let home = Path::new("/root");
        let is_root = fs::metadata("/proc/self").is_ok_and(|about| about.uid() == 0);
        if !is_root || not_roots_alone(home).is_some() {
            return;
        }
        let base = tempfile::tempdir_in(home).unwrap();
        let at = |name: &str| base.path().join(name);
        for folder in ["open", "closed"] {
            fs::create_dir(at(folder)).unwrap();
            fs::write(at(folder).join("settings.json"), "{}").unwrap();
        }
        fs::set_permissions(at("open"), fs::Permissions::from_mode(0o777)).unwrap();
        symlink(at("open/settings.json"), at("to-open")).unwrap();
        symlink("closed/settings.json", at("to-closed")).unwrap();
        symlink("open", at("folder-to-open")).unwrap();
        symlink(at("to-closed"), at("open/link")).unwrap();
        symlink("open/link", at("through-open")).unwrap();
        symlink("loop", at("loop")).unwrap();
        for name in ["closed/settings.json", "to-closed", "missing"] {
            assert_eq!(not_roots_alone(&at(name)), None, "{name}");
        }
        for name in ["to-open", "folder-to-open/settings.json", "through-open"] {
            let suspect = not_roots_alone(&at(name));
            assert!(
                suspect.is_some_and(|suspect| suspect.ends_with("open") || suspect.ends_with("folder-to-open")),
                "{name}"
            );
        }
        assert!(not_roots_alone(&at("loop")).is_some());
    }
}

/// Whether an error says that nothing exists at a path.
pub(crate) fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Whether an error says that the process or the system is short of descriptors, memory or threads. Such an error says
/// nothing about the file.
#[must_use]
pub fn is_want_of_resources(error: &io::Error) -> bool {
    // ENFILE and EMFILE have no `ErrorKind`.
    const DESCRIPTORS: [i32; 2] = [23, 24];
    matches!(error.kind(), io::ErrorKind::OutOfMemory | io::ErrorKind::WouldBlock)
        || (cfg!(unix) && error.raw_os_error().is_some_and(|number| DESCRIPTORS.contains(&number)))
}
