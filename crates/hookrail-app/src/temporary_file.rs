//! Temporary files beside the files whose place they take. A program that is killed cannot remove its own, so the next one
//! that writes to the same folder does.

use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::path::Path;

use tempfile::NamedTempFile;

/// How the names of temporary files begin and end.
const NAME: [&str; 2] = [".hookrail-", ".tmp"];

/// Creates a temporary file in a folder, with these permissions or such that only the user can read it. What killed programs
/// left in the folder is removed.
pub fn create(folder: &Path, permissions: Option<Permissions>) -> io::Result<NamedTempFile> {
    remove_abandoned(folder);
    let [prefix, suffix] = NAME;
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(suffix);
    if let Some(permissions) = permissions {
        builder.permissions(permissions);
    }
    let file = builder.tempfile_in(folder)?;
    // The lock ends with the process and tells others that the file is in use. Without locks in the file system no file is
    // ever taken for abandoned.
    let _ = file.as_file().try_lock();
    Ok(file)
}

/// Replaces a file in one step. The new file has the given mode, or else the mode of the old file.
pub fn write_atomically(path: &Path, text: &str, mode: Option<Permissions>) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::other("the path has no folder"))?;
    let mut file = create(folder, None)?;
    file.write_all(text.as_bytes())?;
    let mode = mode.or_else(|| std::fs::metadata(path).ok().map(|data| data.permissions()));
    if let Some(mode) = mode.or_else(default_mode) {
        file.as_file().set_permissions(mode)?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(unix)]
fn default_mode() -> Option<Permissions> {
    Some(std::os::unix::fs::PermissionsExt::from_mode(0o644))
}

#[cfg(not(unix))]
fn default_mode() -> Option<Permissions> {
    None
}

fn remove_abandoned(folder: &Path) {
    let [prefix, suffix] = NAME;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_ours = name.starts_with(prefix) && name.ends_with(suffix);
        if !is_ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        if File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
            // A file that cannot be removed does no harm.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_program_left_is_removed_and_what_is_in_use_stays() {
        let folder = tempfile::tempdir().unwrap();
        let left = folder.path().join(".hookrail-abcdef.tmp");
        let other = folder.path().join(".hookrail-notes");
        fs::write(&left, "half of a fi").unwrap();
        fs::write(&other, "").unwrap();
        let first = create(folder.path(), None).unwrap();
        assert!(!left.exists() && other.exists());
        let second = create(folder.path(), None).unwrap();
        assert!(first.path().exists() && second.path().exists());
    }
}
