//! The folders of the user.

use std::path::PathBuf;

use hookrail_spawn::UserFolders;

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
