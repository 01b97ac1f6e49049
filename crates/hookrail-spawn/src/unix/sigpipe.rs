//! Writes to a pipe whose reader may be gone, without being killed by SIGPIPE.
//!
//! The disposition of SIGPIPE belongs to the host and may be the default,
//! which kills the process. Nothing is changed for the whole process here.

use std::io;
use std::os::fd::BorrowedFd;

#[cfg(target_os = "linux")]
use rustix::io::Errno;

/// Writes once. If the reader is gone, the result is `BrokenPipe` and no signal is delivered.
#[cfg(target_os = "linux")]
pub(super) fn write(fd: BorrowedFd<'_>, data: &[u8]) -> io::Result<usize> {
    // The kernel sends SIGPIPE to the thread that writes. So the signal is blocked in this thread, and removed from the
    // pending ones before it is unblocked. There is no `await` in between, so this code stays on one thread.
    let guard = BlockedSigpipe::new();
    let result = rustix::io::write(fd, data);
    if result == Err(Errno::PIPE) {
        guard.discard_pending();
    }
    Ok(result?)
}

/// Writes once. `disable_sigpipe` must have been called for the descriptor.
#[cfg(not(target_os = "linux"))]
pub(super) fn write(fd: BorrowedFd<'_>, data: &[u8]) -> io::Result<usize> {
    Ok(rustix::io::write(fd, data)?)
}

/// Does nothing: on Linux [`write`] blocks the signal itself.
#[cfg(target_os = "linux")]
pub(super) fn disable_sigpipe(_fd: BorrowedFd<'_>) {}

/// Prepares a descriptor for [`write`]. Apple can disable the signal for one descriptor.
#[cfg(not(target_os = "linux"))]
pub(super) fn disable_sigpipe(fd: BorrowedFd<'_>) {
    use std::os::fd::AsRawFd as _;
    // SAFETY: the descriptor is open, and the command takes an integer.
    unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETNOSIGPIPE, 1) };
}

/// A guard that blocks SIGPIPE in this thread while it exists.
#[cfg(target_os = "linux")]
struct BlockedSigpipe {
    only_sigpipe: libc::sigset_t,
    before: libc::sigset_t,
    was_pending: bool,
    /// Makes the type neither `Send` nor `Sync`: it belongs to the thread whose mask it has changed.
    _not_send: std::marker::PhantomData<*const ()>,
}

#[cfg(target_os = "linux")]
impl BlockedSigpipe {
    fn new() -> Self {
        // SAFETY: a `sigset_t` is plain data; each one is initialised by
        // `sigemptyset` or filled by the call that it is passed to, and none of
        // these calls can fail with these arguments.
        unsafe {
            let mut only_sigpipe = std::mem::zeroed();
            libc::sigemptyset(&raw mut only_sigpipe);
            libc::sigaddset(&raw mut only_sigpipe, libc::SIGPIPE);
            let mut before = std::mem::zeroed();
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const only_sigpipe, &raw mut before);
            let mut pending = std::mem::zeroed();
            libc::sigemptyset(&raw mut pending);
            libc::sigpending(&raw mut pending);
            let was_pending = libc::sigismember(&raw const pending, libc::SIGPIPE) == 1;
            Self { only_sigpipe, before, was_pending, _not_send: std::marker::PhantomData }
        }
    }

    /// Removes the pending SIGPIPE of a failed write. One that was pending before belongs to the host and stays.
    fn discard_pending(&self) {
        if self.was_pending {
            return;
        }
        let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        loop {
            // SAFETY: the set and the time are initialised; no information is asked for.
            let answer =
                unsafe { libc::sigtimedwait(&raw const self.only_sigpipe, std::ptr::null_mut(), &raw const at_once) };
            // EAGAIN: there was none, because the host ignores SIGPIPE.
            if answer >= 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                return;
            }
        }
    }
}

#[cfg(target_os = "linux")]
impl Drop for BlockedSigpipe {
    fn drop(&mut self) {
        // SAFETY: `before` is the mask this thread had, saved by `new`.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, std::ptr::null_mut());
        }
    }
}
