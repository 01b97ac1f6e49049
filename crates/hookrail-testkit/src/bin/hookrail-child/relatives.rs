//! Behaviours with child processes: what a process may leave behind.
//!
//! A relative is another instance of this program, with an inner behaviour as its first
//! argument (the second half of the functions here). It inherits the streams
//! and the environment, and no process waits for it.

#[cfg(unix)]
mod imp {
    use std::io;
    use std::os::unix::process::parent_id;
    use std::process::Command;
    use std::time::{Duration, SystemTime};

    use rustix::process::setsid;

    use crate::announce_ready;
    use crate::streams::print;

    /// Leaves a child that inherits the streams, prints an answer and exits.
    pub(crate) fn daemon_holds_stdout(seconds: u64) -> io::Result<u8> {
        leave(&["relative-stay", &seconds.to_string()])?;
        print("{}")
    }

    /// Leaves a child in a session of its own and stays.
    pub(crate) fn escape_session(seconds: u64) -> io::Result<u8> {
        leave(&["relative-escaped", &seconds.to_string()])?;
        stay(seconds)
    }

    /// Leaves a grandchild in a session of its own, whose parent is gone, and stays.
    pub(crate) fn double_fork(seconds: u64) -> io::Result<u8> {
        leave(&["relative-between", &seconds.to_string()])?;
        stay(seconds)
    }

    /// Leaves a child that writes after this program has exited.
    pub(crate) fn late_writer(milliseconds: u64, text: &str) -> io::Result<u8> {
        leave(&["relative-late-writer", &milliseconds.to_string(), text])?;
        print("early ")
    }

    /// Dies of SIGTERM at once but leaves a child that cleans up after it.
    pub(crate) fn leave_tidy_relative(path: &str) -> io::Result<u8> {
        leave(&["tidy-on-term", path])?;
        stay(600)
    }

    /// Leaves a chain of processes for this many seconds, each the parent of the
    /// next in a session of its own and soon gone: a moving target.
    pub(crate) fn fork_chain(seconds: u64) -> io::Result<u8> {
        let end = milliseconds_now()?.saturating_add(seconds.saturating_mul(1000));
        leave(&["relative-first-link", &end.to_string()])?;
        stay(seconds)
    }

    /// Has two children, each of which has two, down to a depth; all of them stay.
    pub(crate) fn fork_tree(depth: u64, seconds: u64) -> io::Result<u8> {
        if let Some(below) = depth.checked_sub(1) {
            for _ in 0..2 {
                leave(&["fork-tree", &below.to_string(), &seconds.to_string()])?;
            }
        }
        stay(seconds)
    }

    /// Leaves a child in a session of its own whose environment other processes cannot read, and stays. The child
    /// writes its number to the file.
    pub(crate) fn escape_unreadable(seconds: u64, file: &str) -> io::Result<u8> {
        leave(&["relative-unreadable", &seconds.to_string(), file])?;
        stay(seconds)
    }

    /// The same with a grandchild whose parent is gone.
    pub(crate) fn orphan_unreadable(seconds: u64, file: &str) -> io::Result<u8> {
        leave(&["relative-between-unreadable", &seconds.to_string(), file])?;
        stay(seconds)
    }

    /// Leaves a child in a session of its own that has forgotten its environment, and stays.
    pub(crate) fn escape_unmarked(seconds: u64) -> io::Result<u8> {
        let mut child = Command::new(std::env::current_exe()?);
        let ready = std::env::var_os(crate::READY).map(|path| (crate::READY, path));
        child.env_clear().envs(ready).args(["relative-escaped", &seconds.to_string()]).spawn()?;
        stay(seconds)
    }

    /// Does nothing for this many seconds and prints nothing.
    pub(crate) fn stay(seconds: u64) -> io::Result<u8> {
        std::thread::sleep(Duration::from_secs(seconds));
        Ok(0)
    }

    /// Stays in a session of its own.
    pub(crate) fn escaped(seconds: u64) -> io::Result<u8> {
        setsid()?;
        announce_ready()?;
        stay(seconds)
    }

    /// Stays in a session of its own, closed to other processes, after it has written its number to the file.
    pub(crate) fn unreadable(seconds: u64, file: &str) -> io::Result<u8> {
        setsid()?;
        close_to_others()?;
        std::fs::write(file, std::process::id().to_string())?;
        announce_ready()?;
        stay(seconds)
    }

    /// Leaves an orphan that other processes cannot read.
    pub(crate) fn between_unreadable(seconds: u64, file: &str) -> io::Result<u8> {
        leave(&["relative-orphan-unreadable", &std::process::id().to_string(), &seconds.to_string(), file])?;
        Ok(0)
    }

    /// Closes itself to others once its parent is gone, and stays.
    pub(crate) fn unreadable_orphan(parent: u32, seconds: u64, file: &str) -> io::Result<u8> {
        while parent_id() == parent {
            std::thread::sleep(Duration::from_millis(1));
        }
        unreadable(seconds, file)
    }

    #[cfg(target_os = "linux")]
    fn close_to_others() -> io::Result<()> {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
    }

    #[cfg(not(target_os = "linux"))]
    fn close_to_others() -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Leaves an orphan in a new session.
    pub(crate) fn between(seconds: u64) -> io::Result<u8> {
        setsid()?;
        leave(&["relative-orphan", &std::process::id().to_string(), &seconds.to_string()])?;
        Ok(0)
    }

    /// Is ready once its parent is gone, and stays.
    pub(crate) fn orphan(parent: u32, seconds: u64) -> io::Result<u8> {
        while parent_id() == parent {
            std::thread::sleep(Duration::from_millis(1));
        }
        announce_ready()?;
        stay(seconds)
    }

    /// Prints after a while.
    pub(crate) fn write_late(milliseconds: u64, text: &str) -> io::Result<u8> {
        std::thread::sleep(Duration::from_millis(milliseconds));
        // The reader may have exited; there is then no place to report it.
        let _ = print(text);
        Ok(0)
    }

    /// Begins the chain that ends at this many milliseconds after the epoch.
    pub(crate) fn first_link(end: u64) -> io::Result<u8> {
        announce_ready()?;
        link(end)
    }

    /// Goes on with the chain after a moment.
    pub(crate) fn next_link(end: u64) -> io::Result<u8> {
        std::thread::sleep(Duration::from_millis(20));
        link(end)
    }

    fn link(end: u64) -> io::Result<u8> {
        if milliseconds_now()? < end {
            setsid()?;
            leave(&["relative-next-link", &end.to_string()])?;
        }
        Ok(0)
    }

    fn milliseconds_now() -> io::Result<u64> {
        let now = SystemTime::UNIX_EPOCH.elapsed().map_err(io::Error::other)?;
        u64::try_from(now.as_millis()).map_err(io::Error::other)
    }

    /// Starts this program with other arguments and forgets it.
    fn leave(arguments: &[&str]) -> io::Result<()> {
        Command::new(std::env::current_exe()?).args(arguments).spawn()?;
        Ok(())
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

    pub(crate) fn fork_tree(_depth: u64, _seconds: u64) -> io::Result<u8> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn escape_unmarked(_seconds: u64) -> io::Result<u8> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn escape_unreadable(_seconds: u64, _file: &str) -> io::Result<u8> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn orphan_unreadable(_seconds: u64, _file: &str) -> io::Result<u8> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn unreadable(_seconds: u64, _file: &str) -> io::Result<u8> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn between_unreadable(_seconds: u64, _file: &str) -> io::Result<u8> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn unreadable_orphan(_parent: u32, _seconds: u64, _file: &str) -> io::Result<u8> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn stay(_seconds: u64) -> io::Result<u8> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn escaped(_seconds: u64) -> io::Result<u8> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn between(_seconds: u64) -> io::Result<u8> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn orphan(_parent: u32, _seconds: u64) -> io::Result<u8> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn write_late(_milliseconds: u64, _text: &str) -> io::Result<u8> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn first_link(_end: u64) -> io::Result<u8> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn next_link(_end: u64) -> io::Result<u8> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

pub(crate) use imp::{
    between, between_unreadable, daemon_holds_stdout, double_fork, escape_session, escape_unmarked, escape_unreadable,
    escaped, first_link, fork_chain, fork_tree, late_writer, leave_tidy_relative, next_link, orphan, orphan_unreadable,
    stay, unreadable, unreadable_orphan, write_late,
};
