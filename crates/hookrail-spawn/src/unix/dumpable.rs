//! Whether other processes of the same user can read this one's memory and environment.

use std::io;

/// Closes this process to others of the same user: its memory, its environment in `/proc` and its core dumps.
#[cfg(target_os = "linux")]
pub(crate) fn close_to_others() -> io::Result<()> {
    // SAFETY: the option takes an integer, touches no memory of ours, and is a flag of the whole process.
    let result = unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn close_to_others() -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}
