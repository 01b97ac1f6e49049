//! Reads, replaces and backs up the settings files of agents. An interruption leaves the old file or the new one, never a
//! part of one.

use std::io;
use std::path::{Path, PathBuf};

use crate::temporary_file::write_atomically;

/// The reason why a settings file is not changed.
#[derive(Debug)]
pub(super) enum SettingsRefusal {
    /// It is a symbolic link, whose target may belong to another program.
    Link,
    /// A folder of the project is a symbolic link, which could lead to the user's own settings.
    LinkedFolder(PathBuf),
    /// It is not a regular file.
    NotAFile,
    /// It is not writable, which its owner may have intended.
    ReadOnly,
    /// It cannot be read.
    Unreadable(io::Error),
}

/// Reads a file that will be changed, or returns `None` if it does not exist.
pub(super) fn read_settings(path: &Path) -> Result<Option<String>, SettingsRefusal> {
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(SettingsRefusal::Unreadable(error)),
        Ok(data) if data.file_type().is_symlink() => return Err(SettingsRefusal::Link),
        Ok(data) if !data.is_file() => return Err(SettingsRefusal::NotAFile),
        // A file is changed by replacing it, for which the system checks the permissions of the folder alone.
        Ok(data) if data.permissions().readonly() => return Err(SettingsRefusal::ReadOnly),
        Ok(_) => {}
    }
    std::fs::read_to_string(path).map(Some).map_err(SettingsRefusal::Unreadable)
}

/// Reads a settings file of a project that will be changed. A repository can bring a folder that is a link: what is written
/// through it would take effect elsewhere. `inside` is the path of the file in the project.
pub(super) fn read_in_project(path: &Path, inside: &Path) -> Result<Option<String>, SettingsRefusal> {
    let folders = path.ancestors().skip(1).take(inside.components().count().saturating_sub(1));
    let is_link = |folder: &&Path| folder.symlink_metadata().is_ok_and(|about| about.is_symlink());
    match folders.into_iter().find(is_link) {
        Some(link) => Err(SettingsRefusal::LinkedFolder(link.to_owned())),
        None => read_settings(path),
    }
}

/// Creates the folders above a file.
pub(super) fn create_parents(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)
}

/// Returns the path of the copy that is made of a file before the first installation.
pub(super) fn backup_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".before-hookrail");
    path.with_file_name(name)
}

/// Writes a backup of a file's text. An existing backup is kept, because it is the text before the first installation.
pub(super) fn back_up(path: &Path, text: &str) -> io::Result<()> {
    let backup = backup_path(path);
    if backup.exists() {
        return Ok(());
    }
    let mode = std::fs::metadata(path).ok().map(|data| data.permissions());
    write_atomically(&backup, text, mode)
}

/// Returns the folders above a file that do not exist, from the outermost to the innermost.
pub(super) fn missing_parents(path: &Path) -> Vec<PathBuf> {
    let missing = path.ancestors().skip(1).take_while(|folder| std::fs::symlink_metadata(folder).is_err());
    let mut folders: Vec<PathBuf> = missing.map(Path::to_owned).collect();
    folders.reverse();
    folders
}

/// Removes folders that are empty, from the innermost to the outermost. A folder that holds anything stays.
pub(super) fn remove_empty_folders<'f>(folders: impl Iterator<Item = &'f PathBuf>) {
    let mut folders: Vec<&PathBuf> = folders.collect();
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
    for folder in folders {
        // A folder that cannot be removed is not empty, or is gone.
        let _ = std::fs::remove_dir(folder);
    }
}
