//! Pseudo-terminals, for tests.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// Opens a terminal: the end of the person, and the end of the program.
///
/// It never becomes the terminal that controls this process: the leader of a session would die when it is closed.
///
/// # Errors
///
/// If the system gives none.
pub fn open_terminal() -> io::Result<(File, File)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    #[cfg(target_os = "linux")]
    let flags = flags | OpenptFlags::CLOEXEC;
    let person = openpt(flags)?;
    grantpt(&person)?;
    unlockpt(&person)?;
    let name = ptsname(&person, Vec::new())?;
    let no_controlling_terminal = i32::try_from(rustix::fs::OFlags::NOCTTY.bits()).map_err(io::Error::other)?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(no_controlling_terminal);
    let program = options.open(OsStr::from_bytes(name.as_bytes()))?;
    Ok((File::from(person), program))
}
