//! Programs that run beside a test, and signals for them.

#![expect(clippy::expect_used, clippy::panic, reason = "a failure here is a failed test")]

use std::ops::{Deref, DerefMut};
use std::process::{Child, Command};
use std::time::Duration;

#[cfg(unix)]
pub use rustix::process::Signal;

use crate::processes::wait_until;

/// Longer than anything in a test takes. It only ends a test that would hang.
pub const HANG: Duration = Duration::from_secs(120);

/// A program that runs beside a test, and is ended with this value.
#[derive(Debug)]
pub struct RunningProgram(Child);

impl RunningProgram {
    /// Starts a program.
    ///
    /// # Panics
    /// If it cannot be started.
    #[must_use]
    pub fn start(command: &mut Command) -> Self {
        Self(command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}")))
    }

    /// Ends it as a loss of power would, and waits for that.
    pub fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }

    /// Sends a signal.
    ///
    /// # Panics
    /// If there is no such process any more.
    #[cfg(unix)]
    pub fn signal(&self, signal: Signal) {
        send_signal(self.0.id(), signal);
    }

    /// Waits until it has ended by itself, and returns its exit status; none if a signal ended it.
    ///
    /// # Panics
    /// If it does not end.
    #[track_caller]
    pub fn exit_status(&mut self) -> Option<i32> {
        let mut ended = None;
        let has_ended = wait_until(
            || {
                ended = self.0.try_wait().expect("the program can be waited for");
                ended.is_some()
            },
            HANG,
        );
        assert!(has_ended, "the program does not end");
        ended.and_then(|status| status.code())
    }

    /// Waits until it has ended by itself, with this exit status.
    ///
    /// # Panics
    /// If it ends otherwise or not at all.
    #[track_caller]
    pub fn ends_with(mut self, code: i32) {
        assert_eq!(self.exit_status(), Some(code));
    }
}

impl From<Child> for RunningProgram {
    fn from(child: Child) -> Self {
        Self(child)
    }
}

impl Deref for RunningProgram {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for RunningProgram {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Sends a signal to a process.
///
/// # Panics
/// If there is no such process.
#[cfg(unix)]
#[track_caller]
pub fn send_signal(process: u32, signal: Signal) {
    let pid = rustix::process::Pid::from_raw(process.cast_signed()).expect("the number of a process");
    rustix::process::kill_process(pid, signal).expect("a process that can be sent a signal");
}
