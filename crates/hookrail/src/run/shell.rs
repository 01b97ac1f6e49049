//! Which shell a command line is given to.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::Environment;
use crate::exec_options::CommandShell;

/// A shell, and the flags that come before the command line.
pub(super) struct Shell {
    pub(super) program: PathBuf,
    pub(super) flags: &'static [&'static str],
}

/// The shell of hooks.
///
/// Where hooks are written for bash, it is used if the hook's own `PATH` has it, otherwise `sh`. Profile files are never
/// read.
#[cfg(unix)]
pub(super) fn shell(written_for: CommandShell, environment: &Environment) -> Shell {
    let bash = match written_for {
        CommandShell::Bash => find_program("bash", environment.get("PATH")),
        CommandShell::Posix => None,
    };
    Shell { program: bash.unwrap_or_else(|| PathBuf::from("/bin/sh")), flags: &["-c"] }
}

/// The shell of hooks, which is the same for all of them.
#[cfg(windows)]
pub(super) fn shell(_written_for: CommandShell, environment: &Environment) -> Shell {
    let found = find_program("powershell.exe", environment.get("PATH"));
    let program = found.unwrap_or_else(|| PathBuf::from("powershell.exe"));
    Shell { program, flags: &["-NoProfile", "-NonInteractive", "-Command"] }
}

/// The first regular file of that name on a search path. Relative parts of the path are skipped: they would mean
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
