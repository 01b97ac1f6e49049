//! Reads, replaces and removes files and folders. It does not know what they hold.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use hookrail_spawn::{Durability, Replace, ReplacedLinks, ReplacedMode};

/// Whether something has this path, even if it is a link that leads nowhere.
pub(crate) fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Reads a regular file that is not larger than a limit.
pub(crate) fn read_limited(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    let file = hookrail_spawn::open_regular(path)?;
    let mut bytes = Vec::new();
    file.take(largest + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > largest {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {largest} bytes")));
    }
    Ok(bytes)
}

/// Creates a folder that everyone can read and its owner can write, whatever the process's umask is, with those above it.
pub(crate) fn create_shared_folder(folder: &Path) -> io::Result<()> {
    // The parent of a relative name is empty, and exists.
    let above = folder.parent().filter(|above| !above.as_os_str().is_empty());
    if let Some(above) = above.filter(|above| !exists(above)) {
        create_shared_folder(above)?;
    }
    match fs::create_dir(folder) {
        Ok(()) => set_mode(folder, 0o755),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
pub(crate) fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
pub(crate) fn set_mode(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}

/// Removes a folder with all that is in it; one that is missing is fine.
pub(crate) fn remove_folder(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Replaces a file and makes that durable.
pub(crate) fn write_atomically(file: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    hookrail_spawn::replace_file(file, bytes, &durable(mode))
}

/// Does the same as [`write_atomically`], but keeps the new file in another folder of the same file system until it is complete.
pub(crate) fn write_through(staging: &Path, file: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    hookrail_spawn::replace_file_through(staging, file, bytes, &durable(mode))
}

fn durable(mode: u32) -> Replace {
    Replace { mode: ReplacedMode::Exactly(mode), links: ReplacedLinks::Replace, durable: Durability::FileAndFolder }
}
