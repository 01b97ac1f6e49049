//! Which shell a command line is given to.

use std::path::{Path, PathBuf};

use crate::hook::exec_options::CommandShell;

/// A shell, and the flags that come before the command line.
pub(super) struct Shell {
    pub(super) program: PathBuf,
    pub(super) flags: &'static [&'static str],
}

/// Where bash is looked for. The search path is not used: a project may have put a folder of its own into it.
#[cfg(unix)]
const BASH: [&str; 4] = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/run/current-system/sw/bin/bash"];

/// The shell of hooks. Where hooks are written for bash, that is the one that the user chose instead, else the first bash that
/// exists, else `sh`. Profile files are never read.
#[cfg(unix)]
pub(super) fn shell(written_for: CommandShell, instead_of_bash: Option<&Path>) -> Shell {
    let bash = || BASH.into_iter().map(Path::new).find(|file| is_program(file));
    let found = match written_for {
        CommandShell::Bash => instead_of_bash.or_else(bash),
        CommandShell::Posix => None,
    };
    Shell { program: found.unwrap_or(Path::new("/bin/sh")).to_owned(), flags: &["-c"] }
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

/// The shell of hooks, which is the same for all of them: PowerShell in the system's own folder.
#[cfg(windows)]
pub(super) fn shell(_written_for: CommandShell, _instead_of_bash: Option<&Path>) -> Shell {
    let system = std::env::var_os("SystemRoot").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let found = system.map(|folder| folder.join(r"System32\WindowsPowerShell\v1.0\powershell.exe"));
    let program = found.unwrap_or_else(|| PathBuf::from("powershell.exe"));
    Shell { program, flags: &["-NoProfile", "-NonInteractive", "-Command"] }
}
