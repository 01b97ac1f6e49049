//! The folders of the user.

use std::path::PathBuf;

/// Returns the user's home directory if the environment names one.
pub fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// Returns where the state of this user is kept.
pub fn state_folder() -> Option<PathBuf> {
    let named = std::env::var_os("XDG_STATE_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let absolute = |folder: &PathBuf| folder.is_absolute();
    named.filter(absolute).or_else(|| Some(home().filter(absolute)?.join(".local/state")))
}

/// Returns the path of the socket in the packaged systemd units, if the user has a folder for sockets.
pub fn usual_socket() -> Option<PathBuf> {
    let folder = std::env::var_os("XDG_RUNTIME_DIR").filter(|folder| !folder.is_empty());
    folder.map(|folder| PathBuf::from(folder).join("hookrail.sock"))
}
