//! Writes settings files so that an interruption leaves the old file or the new one.

use std::fs::Permissions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// What keeps a file from being changed.
#[derive(Debug)]
pub(super) enum Obstacle {
    /// It is a symbolic link: what it points to may belong to another program.
    Link,
    /// It is not a regular file.
    NotAFile,
    /// Its owner took the permission to write away.
    ReadOnly,
    /// It cannot be read.
    Unreadable(io::Error),
}

/// Reads a file that will be changed. A file that does not exist is empty.
pub(super) fn read_settings(path: &Path) -> Result<Option<String>, Obstacle> {
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Obstacle::Unreadable(error)),
        Ok(data) if data.file_type().is_symlink() => return Err(Obstacle::Link),
        Ok(data) if !data.is_file() => return Err(Obstacle::NotAFile),
        // Replacing a file needs the permission of its folder alone, so this has to be looked at.
        Ok(data) if data.permissions().readonly() => return Err(Obstacle::ReadOnly),
        Ok(_) => {}
    }
    std::fs::read_to_string(path).map(Some).map_err(Obstacle::Unreadable)
}

pub(super) fn create_parents(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)
}

/// Replaces a file at once. The mode of the old file is kept.
pub(super) fn write_atomically(path: &Path, text: &str, mode: Option<Permissions>) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::other("the path has no folder"))?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
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

/// Where the text that a file had before the first installation is kept.
pub(super) fn backup_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".before-hookrail");
    path.with_file_name(name)
}

/// Keeps the text of a file, once.
pub(super) fn back_up(path: &Path, text: &str) -> io::Result<()> {
    let backup = backup_path(path);
    if backup.exists() {
        return Ok(());
    }
    let mode = std::fs::metadata(path).ok().map(|data| data.permissions());
    write_atomically(&backup, text, mode)
}

/// Removes folders that are empty now, upwards, but none that was there before hookrail.
pub(super) fn remove_empty_parents(path: &Path, levels: usize) {
    for folder in path.ancestors().skip(1).take(levels) {
        if std::fs::remove_dir(folder).is_err() {
            return;
        }
    }
}
