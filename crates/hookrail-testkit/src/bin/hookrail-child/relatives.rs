//! Habits with children of its own: what a process may leave behind.
//!
//! Relatives are made with `fork`, which is sound here because this program
//! never has a second thread.

#[cfg(unix)]
mod imp {
    use std::io;
    use std::time::Duration;

    use crate::streams::print;

    /// Leaves a child that inherits the streams, prints an answer and exits.
    pub(crate) fn daemon_holds_stdout(seconds: u64) -> io::Result<u8> {
        in_child(|| stay(seconds))?;
        print("{}")
    }

    /// Leaves a child in a session of its own and stays.
    pub(crate) fn escape_session(seconds: u64) -> io::Result<u8> {
        in_child(|| {
            new_session();
            announced(|| stay(seconds));
        })?;
        stay(seconds);
        Ok(0)
    }

    /// Leaves a grandchild in a session of its own, whose parent is gone, and stays.
    pub(crate) fn double_fork(seconds: u64) -> io::Result<u8> {
        in_child(|| {
            new_session();
            // A fork that fails leaves the test waiting for the ready file.
            let _ = in_child(|| announced(|| stay(seconds)));
        })?;
        stay(seconds);
        Ok(0)
    }

    /// Leaves a child that writes after this program has exited.
    pub(crate) fn late_writer(milliseconds: u64, text: &str) -> io::Result<u8> {
        in_child(|| {
            std::thread::sleep(Duration::from_millis(milliseconds));
            // The reader may be gone, and then nobody is there to be told.
            let _ = print(text);
        })?;
        print("early ")
    }

    /// Dies of SIGTERM at once but leaves a child that tidies up on it.
    pub(crate) fn leave_tidy_relative(path: &str) -> io::Result<u8> {
        in_child(|| {
            // What it could not do shows in the file it did not create.
            let _ = crate::signals::tidy_on_term(path);
        })?;
        stay(600);
        Ok(0)
    }

    /// Forks from session to session for so many seconds: a moving target.
    pub(crate) fn fork_chain(seconds: u64) -> io::Result<u8> {
        let end = std::time::Instant::now() + Duration::from_secs(seconds);
        in_child(|| {
            crate::announce_ready().ok();
            while std::time::Instant::now() < end {
                new_session();
                // SAFETY: see the module header. The parent leaves at once.
                match unsafe { libc::fork() } {
                    0 => std::thread::sleep(Duration::from_millis(2)),
                    _ => return,
                }
            }
        })?;
        stay(seconds);
        Ok(0)
    }

    fn announced(then: impl FnOnce()) {
        // Without the file the test ends with its own hang guard.
        let _ = crate::announce_ready();
        then();
    }

    fn stay(seconds: u64) {
        std::thread::sleep(Duration::from_secs(seconds));
    }

    fn new_session() {
        // SAFETY: setsid touches no memory of ours.
        unsafe { libc::setsid() };
    }

    fn in_child(body: impl FnOnce()) -> io::Result<()> {
        // SAFETY: this program has one thread, so the child's memory is whole
        // and no lock is held by a thread that does not exist there.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                body();
                std::process::exit(0);
            }
            _ => Ok(()),
        }
    }
}

#[cfg(not(unix))]
mod imp {
    use std::io;

    pub(crate) fn daemon_holds_stdout(_seconds: u64) -> io::Result<u8> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn escape_session(_seconds: u64) -> io::Result<u8> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn double_fork(_seconds: u64) -> io::Result<u8> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn late_writer(_milliseconds: u64, _text: &str) -> io::Result<u8> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn leave_tidy_relative(_path: &str) -> io::Result<u8> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn fork_chain(_seconds: u64) -> io::Result<u8> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

pub(crate) use imp::{
    daemon_holds_stdout, double_fork, escape_session, fork_chain, late_writer, leave_tidy_relative,
};
