//! Habits with time and signals.

use std::io;
use std::time::Duration;

/// Stays for so many seconds.
pub(crate) fn sleep(seconds: u64) -> io::Result<u8> {
    crate::announce_ready()?;
    std::thread::sleep(Duration::from_secs(seconds));
    Ok(0)
}

#[cfg(unix)]
mod imp {
    use std::io;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    static TERMINATED: AtomicBool = AtomicBool::new(false);

    extern "C" fn remember(_signal: libc::c_int) {
        TERMINATED.store(true, Ordering::SeqCst);
    }

    /// Ignores SIGTERM and stays.
    pub(crate) fn ignore_term() -> io::Result<u8> {
        // SAFETY: SIG_IGN is a valid disposition for SIGTERM.
        unsafe { libc::signal(libc::SIGTERM, libc::SIG_IGN) };
        super::sleep(600)
    }

    /// Waits for SIGTERM, takes its time, writes to stdout, and then creates the file.
    ///
    /// The write comes first: a parent that has closed its end of stdout kills
    /// this program with SIGPIPE before it can tidy up.
    pub(crate) fn tidy_on_term(path: &str) -> io::Result<u8> {
        let handler = remember as extern "C" fn(libc::c_int) as libc::sighandler_t;
        // SAFETY: the handler only stores to an atomic, which is safe in a
        // signal handler; SIGPIPE is put back to what a C program has.
        unsafe {
            libc::signal(libc::SIGTERM, handler);
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        }
        crate::announce_ready()?;
        while !TERMINATED.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(200));
        crate::streams::print("tidying")?;
        std::fs::write(path, b"")?;
        Ok(0)
    }

    /// Stops itself, as Ctrl-Z would.
    pub(crate) fn stop_self() -> io::Result<u8> {
        crate::announce_ready()?;
        // SAFETY: raising a signal touches no memory of ours.
        unsafe { libc::raise(libc::SIGSTOP) };
        super::sleep(600)
    }

    /// Dies of a signal.
    pub(crate) fn kill_self(signal: i32) -> io::Result<u8> {
        // SAFETY: the disposition is put back to the default and the signal is
        // raised; no memory of ours is touched.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
        super::sleep(600)
    }
}

#[cfg(not(unix))]
mod imp {
    use std::io;

    pub(crate) fn ignore_term() -> io::Result<u8> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn tidy_on_term(_path: &str) -> io::Result<u8> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn stop_self() -> io::Result<u8> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn kill_self(_signal: i32) -> io::Result<u8> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

pub(crate) use imp::{ignore_term, kill_self, stop_self, tidy_on_term};
