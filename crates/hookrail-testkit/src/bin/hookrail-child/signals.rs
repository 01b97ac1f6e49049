//! Behaviours with time and signals.

use std::io;
use std::time::Duration;

/// Stays for this many seconds.
pub(crate) fn sleep(seconds: u64) -> io::Result<u8> {
    crate::announce_ready()?;
    std::thread::sleep(Duration::from_secs(seconds));
    Ok(0)
}

#[cfg(unix)]
mod imp {
    use std::io;
    use std::os::unix::process::CommandExt;
    use std::process::Command;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use signal_hook::consts::{SIGPIPE, SIGTERM};
    use signal_hook::{flag, low_level};

    /// Ignores SIGTERM and stays.
    ///
    /// A handler would not do: what is ignored stays so in the program's own
    /// children. Only a shell can set that up without unsafe code; it then
    /// replaces itself with `sleep` (`exec`).
    pub(crate) fn ignore_term() -> io::Result<u8> {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", r#"trap "" TERM; exec "$0" "$@""#]);
        Err(shell.arg(std::env::current_exe()?).args(["sleep", "600"]).exec())
    }

    /// Waits for SIGTERM, takes its time, writes to stdout, and then creates the file.
    ///
    /// The write comes first: a parent that has closed its end of stdout kills
    /// this program with SIGPIPE before it can clean up.
    pub(crate) fn tidy_on_term(path: &str) -> io::Result<u8> {
        let terminated = Arc::new(AtomicBool::new(false));
        flag::register(SIGTERM, Arc::clone(&terminated))?;
        // Dies of SIGPIPE, as a C program does; the runtime has it ignored.
        flag::register_conditional_default(SIGPIPE, Arc::new(AtomicBool::new(true)))?;
        crate::announce_ready()?;
        while !terminated.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(200));
        crate::streams::print("tidying")?;
        std::fs::write(path, b"")?;
        Ok(0)
    }

    /// Stops itself, as Ctrl-Z would.
    pub(crate) fn stop_self() -> io::Result<u8> {
        use rustix::process::{Signal, getpid, kill_process};
        crate::announce_ready()?;
        kill_process(getpid(), Signal::STOP)?;
        super::sleep(600)
    }

    /// Executes itself again and again.
    pub(crate) fn exec_self() -> io::Result<u8> {
        Err(Command::new(std::env::current_exe()?).arg("exec-self").exec())
    }

    /// Dies of a signal.
    pub(crate) fn kill_self(signal: i32) -> io::Result<u8> {
        // Puts the default back and raises. It returns only for a signal that
        // it does not know (a real-time one), or not as a deadly one.
        let _ = low_level::emulate_default_handler(signal);
        low_level::raise(signal)?;
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

    pub(crate) fn exec_self() -> io::Result<u8> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

pub(crate) use imp::{exec_self, ignore_term, kill_self, stop_self, tidy_on_term};
