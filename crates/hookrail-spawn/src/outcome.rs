//! How a run ended, in types that cover every end.

use std::time::Duration;

use crate::capture::Captured;
use crate::termination::Termination;

/// The result of a run that could be started.
#[derive(Debug)]
pub struct Finished {
    /// How the run ended.
    pub end: End,
    /// How the direct child ended, if it had by the time of this result.
    ///
    /// It tells more than [`end`](Self::end) where that is
    /// [`OutputLimit`](End::OutputLimit): a child may write too much and then
    /// exit by itself with a code of interest.
    pub exit: Option<Exit>,
    /// What was read of stdout.
    pub stdout: Captured,
    /// What was read of stderr.
    pub stderr: Captured,
    /// From before the start to this result.
    pub elapsed: Duration,
    /// The process id, or none if the run ended before the program was started.
    pub pid: Option<u32>,
    /// What the child left running.
    pub survivors: Survivors,
    /// What is still to be done to end the child; dropping it kills at once.
    pub termination: Option<Termination>,
}

/// How a run ended.
///
/// Where several apply, the first of this order is given: cancelled, output
/// limit, how the child exited, timed out. A child that is found to have exited
/// is never reported as timed out, also if the host was stopped or busy at the
/// deadline and looks only afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The child exited by itself with this code.
    Exited(i32),
    /// The child died of this signal, which did not come from here.
    Signalled(i32),
    /// The deadline passed, and the child had not exited when that was noticed.
    TimedOut,
    /// The run was cancelled.
    Cancelled,
    /// The child wrote more to stdout than is kept.
    OutputLimit,
    /// The child is gone, but the host's handling of SIGCHLD has lost its status.
    StatusUnknown,
}

/// How the direct child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// It died of this signal.
    Signal(i32),
    /// It is gone, but the host's handling of SIGCHLD has lost its status.
    Unknown,
}

impl From<Exit> for End {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Code(code) => Self::Exited(code),
            Exit::Signal(signal) => Self::Signalled(signal),
            Exit::Unknown => Self::StatusUnknown,
        }
    }
}

/// The processes a child left running when it exited by itself.
///
/// They are left alone. They are looked for when somebody still held a pipe
/// after the exit, or when the child's process group was not empty; a daemon
/// that has left the group *and* closed the pipes is not noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Survivors {
    /// There was no sign of any.
    NoneSeen,
    /// So many were seen in the child's group or session, or with its marker.
    Seen(u32),
    /// There was a sign of some, but they could not be counted.
    Unknown,
    /// There is a termination, and it ends them all.
    LeftToTermination,
}

/// What a [`Termination`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminationReport {
    /// How the direct child ended, or none if even SIGKILL did not end it in time.
    pub exit: Option<Exit>,
    /// What it took to end the child's group.
    pub force: Force,
    /// How many processes had to be killed one by one because they had left the group.
    pub escaped: u32,
    /// How many of them were still there when the termination gave up: zero unless
    /// they cannot be killed (for example while they wait for a dead disk).
    pub left: u32,
}

/// What it took to end a process group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Force {
    /// The group ended within the grace after SIGTERM, or by itself.
    Asked,
    /// The grace was zero or ran out, and SIGKILL did it.
    Killed,
}
