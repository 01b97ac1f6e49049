//! The folders of the user, and what is refused in those of a project.

use std::path::{Path, PathBuf};

use hookrail_spawn::UserFolders;

use crate::failure::{Failure, Result};

/// Returns the user's home directory if the environment names one.
pub fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// Returns where the state of this user is kept.
pub fn state_folder() -> Option<PathBuf> {
    UserFolders::of_process().state
}

/// Returns the path of the socket in the packaged systemd units, if the user has a folder for sockets.
pub fn usual_socket() -> Option<PathBuf> {
    UserFolders::of_process().runtime.map(|folder| folder.join("hookrail.sock"))
}

/// Fails if a file that will be written below a project's folder is a link, or stands behind one. A repository can bring them: what is
/// written there would count elsewhere, perhaps as the user's own.
///
/// # Errors
/// The part that is a link.
pub fn refuse_links(root: &Path, file: &Path) -> Result<()> {
    let below = file.ancestors().take_while(|part| part.starts_with(root) && *part != root);
    let is_link = |part: &&Path| part.symlink_metadata().is_ok_and(|about| about.is_symlink());
    match below.filter(is_link).last() {
        Some(link) => Err(Failure::new(format!("`{}` is a symbolic link; nothing was written", link.display()))
            .hint("replace the link by what it leads to, or write the file there by hand")),
        None => Ok(()),
    }
}
