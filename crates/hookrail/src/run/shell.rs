//! Which shell a command line is given to.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::Environment;

/// The program and the flags that come before the command line.
///
/// Hooks are written for bash, so it is taken where the hook's own `PATH` has it; `sh` is everywhere else. Profile
/// files are never read.
#[cfg(unix)]
pub(super) fn shell(environment: &Environment) -> (PathBuf, &'static [&'static str]) {
    match find_program("bash", environment.get("PATH")) {
        Some(bash) => (bash, &["-c"]),
        None => (PathBuf::from("/bin/sh"), &["-c"]),
    }
}

/// The program and the flags that come before the command line.
#[cfg(windows)]
pub(super) fn shell(environment: &Environment) -> (PathBuf, &'static [&'static str]) {
    let found = find_program("powershell.exe", environment.get("PATH"));
    (found.unwrap_or_else(|| PathBuf::from("powershell.exe")), &["-NoProfile", "-NonInteractive", "-Command"])
}

/// The first regular file of that name on a search path. Relative parts of the path are left out: they would mean
/// another program in every directory.
fn find_program(name: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    std::env::split_paths(path?).filter(|dir| dir.is_absolute()).map(|dir| dir.join(name)).find(|file| is_program(file))
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(windows)]
fn is_program(file: &Path) -> bool {
    file.is_file()
}
