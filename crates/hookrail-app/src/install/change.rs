//! Changes of settings files: they are made and taken back.

use std::path::PathBuf;

use hookrail_bridge::install::Insertion;

use super::write;
use crate::failure::{Failure, Result};

/// A change of one file.
pub struct SettingsChange {
    pub path: PathBuf,
    /// The text before the change; none if the file does not exist.
    pub before: Option<String>,
    /// The text after the change; none if the file is removed.
    pub after: Option<String>,
    pub(super) insertions: Vec<Insertion>,
    /// Whether the whole file belongs to hookrail.
    pub(super) own: bool,
    /// What the user had in the place of a file of hookrail's own.
    pub(super) original: Option<String>,
    /// The folders that are created for the file.
    pub(super) folders: Vec<PathBuf>,
    pub(super) backup: Backup,
}

/// Whether a copy of the file is made before it is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Backup {
    /// The file is changed for the first time.
    Made,
    /// The file belongs to hookrail, or holds entries of an earlier installation.
    NotNeeded,
}

impl SettingsChange {
    pub(super) fn is_needed(&self) -> bool {
        self.before != self.after
    }
}

/// Writes all files, or leaves all as they were.
pub(super) fn apply_all(changes: &[SettingsChange]) -> Result<()> {
    for (index, change) in changes.iter().enumerate() {
        let Err(failure) = apply(change) else { continue };
        for done in changes.iter().take(index).rev() {
            let undone = SettingsChange {
                path: done.path.clone(),
                before: done.after.clone(),
                after: done.before.clone(),
                insertions: Vec::new(),
                own: done.own,
                original: None,
                folders: Vec::new(),
                backup: Backup::NotNeeded,
            };
            if let Err(second) = apply_removal(&undone) {
                return Err(failure.hint(format!("and `{}` was written: {}", done.path.display(), second.message())));
            }
        }
        write::remove_empty_folders(changes.iter().flat_map(|change| &change.folders));
        return Err(failure);
    }
    Ok(())
}

fn apply(change: &SettingsChange) -> Result<()> {
    let failed = |error: std::io::Error| {
        Failure::new(format!("`{}` cannot be written: {error}", change.path.display()))
            .hint("nothing was changed; check the permissions of the file and its folder")
    };
    match &change.after {
        Some(text) => {
            write::create_parents(&change.path).map_err(failed)?;
            if let Some(before) = change.before.as_ref().filter(|_| change.backup == Backup::Made) {
                write::back_up(&change.path, before).map_err(failed)?;
            }
            crate::temporary_file::write_atomically(&change.path, text, None).map_err(failed)
        }
        None => std::fs::remove_file(&change.path).map_err(failed),
    }
}

pub(super) fn apply_removal(change: &SettingsChange) -> Result<()> {
    let failed = |error: std::io::Error| {
        Failure::new(format!("`{}` cannot be written: {error}", change.path.display()))
            .hint("nothing is forgotten: run `hookrail uninstall` again when it can be written")
    };
    match &change.after {
        Some(text) => crate::temporary_file::write_atomically(&change.path, text, None).map_err(failed)?,
        None => std::fs::remove_file(&change.path).map_err(failed)?,
    }
    // A copy of what the user had written into a file of hookrail's own may be the only one.
    let backup = write::backup_path(&change.path);
    let is_given_back = |text: String| change.after.as_deref() == Some(&text);
    if !change.own || std::fs::read_to_string(&backup).is_ok_and(is_given_back) {
        // The backup has served its purpose; if it cannot be removed it does no harm.
        let _ = std::fs::remove_file(backup);
    }
    Ok(())
}
