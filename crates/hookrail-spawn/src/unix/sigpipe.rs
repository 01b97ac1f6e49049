//! Writes to a pipe whose reader may be gone, without dying of SIGPIPE.
//!
//! The disposition of SIGPIPE belongs to the host and may be the default,
//! which kills. Nothing for the whole process is changed here.

use std::io;
use std::os::fd::BorrowedFd;

#[cfg(target_os = "linux")]
use rustix::io::Errno;

/// Writes once; a reader that is gone gives `BrokenPipe` and no signal.
#[cfg(target_os = "linux")]
pub(super) fn write(fd: BorrowedFd<'_>, data: &[u8]) -> io::Result<usize> {
    // A write that raises SIGPIPE raises it in the writing thread. So it is
    // blocked in this thread, and taken back before it is unblocked. Nothing
    // between here and the drop of the guard can move to another thread.
    let guard = Blocked::new();
    let result = rustix::io::write(fd, data);
    if result == Err(Errno::PIPE) {
        guard.take_back();
    }
    Ok(result?)
}

/// Writes once; `quiet` has been called for the descriptor.
#[cfg(not(target_os = "linux"))]
pub(super) fn write(fd: BorrowedFd<'_>, data: &[u8]) -> io::Result<usize> {
    Ok(rustix::io::write(fd, data)?)
}

/// Prepares a descriptor for [`write`], where the system needs that.
#[cfg(target_os = "linux")]
pub(super) fn quiet(_fd: BorrowedFd<'_>) {}

/// Prepares a descriptor for [`write`]: Apple can switch the signal off for one.
#[cfg(not(target_os = "linux"))]
pub(super) fn quiet(fd: BorrowedFd<'_>) {
    use std::os::fd::AsRawFd as _;
    // SAFETY: the descriptor is open, and the command takes an integer.
    unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETNOSIGPIPE, 1) };
}

/// SIGPIPE is blocked in this thread while this exists.
#[cfg(target_os = "linux")]
struct Blocked {
    only_sigpipe: libc::sigset_t,
    before: libc::sigset_t,
    was_pending: bool,
    /// Bound to the thread whose mask it has changed.
    _here: std::marker::PhantomData<*const ()>,
}

#[cfg(target_os = "linux")]
impl Blocked {
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
            Self { only_sigpipe, before, was_pending, _here: std::marker::PhantomData }
        }
    }

    /// Takes back the SIGPIPE of a failed write, but not one that waited before it.
    fn take_back(&self) {
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
impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: `before` is the mask this thread had, saved by `new`.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, std::ptr::null_mut());
        }
    }
}
