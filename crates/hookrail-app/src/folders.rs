//! The folders of the user.

use std::path::PathBuf;

/// Returns the user's home directory if the environment names one.
pub fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}
