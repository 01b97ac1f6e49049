//! What a process inherited from its parent: ignored signals and open descriptors.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd, RawFd};

use rustix::io::{FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};

/// Whether this process ignores a signal. `nohup` and background jobs of a script start programs with ignored signals.
///
/// A program that installs a handler without this check ends on a signal that its parent wanted ignored.
///
/// # Errors
/// If the number is not that of a signal.
pub fn is_ignored(signal: i32) -> io::Result<bool> {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: with a null new action the call changes nothing, and it writes the current action to memory that is ours
    // and large enough.
    let answer = unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) };
    if answer != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the memory was zeroed, which is a valid value of this plain structure, and the call has filled it.
    let action = unsafe { action.assume_init() };
    Ok(action.sa_sigaction == libc::SIG_IGN)
}

/// Returns a copy of a descriptor that this process was started with. The original stays open, and children no longer
/// inherit it.
///
/// # Errors
/// If the descriptor is not open, or the process has no descriptor left for the copy.
pub fn inherited_descriptor(number: RawFd) -> io::Result<OwnedFd> {
    if number < 0 {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    // SAFETY: the descriptor is used by its number for these two calls only, and they refuse one that is not open.
    let original = unsafe { BorrowedFd::borrow_raw(number) };
    fcntl_setfd(original, FdFlags::CLOEXEC)?;
    Ok(fcntl_dupfd_cloexec(original, 0)?)
}

/// Moves a descriptor to a number above those of the three standard streams.
pub(crate) fn above_streams(fd: OwnedFd) -> io::Result<OwnedFd> {
    if fd.as_raw_fd() > 2 { Ok(fd) } else { Ok(fcntl_dupfd_cloexec(fd, 3)?) }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::fd::AsRawFd as _;

    use super::{inherited_descriptor, is_ignored};

    #[test]
    fn a_copy_leads_to_the_same_thing_and_stays_when_the_original_is_closed() -> std::io::Result<()> {
        let (mut reader, writer) = std::io::pipe()?;
        let mut copy = std::fs::File::from(inherited_descriptor(writer.as_raw_fd())?);
        drop(writer);
        copy.write_all(b"x")?;
        drop(copy);
        let mut text = String::new();
        reader.read_to_string(&mut text)?;
        assert_eq!(text, "x");
        Ok(())
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        assert!(inherited_descriptor(-1).is_err());
        assert!(is_ignored(-1).is_err());
        // The runtime of this language ignores SIGPIPE before `main`.
        assert!(is_ignored(libc::SIGPIPE).is_ok_and(|ignored| ignored));
        assert!(is_ignored(libc::SIGUSR2).is_ok_and(|ignored| !ignored));
    }
}
