//! The types that say how a run ended.

use std::time::Duration;

/// How a run ended.
///
/// If several apply, the first in this order is used: cancelled, output limit,
/// how the child exited, timed out. A child that is found to have exited is
/// never reported as timed out, even if the host was stopped or busy at the
/// deadline and checks only afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChildEnd {
    /// The child exited by itself with this code.
    Exited(i32),
    /// The child was killed by this signal, which this crate did not send.
    Signalled(i32),
    /// The deadline passed, and the child had not exited when that was noticed.
    TimedOut,
    /// The deadline passed before the program ran, for example because it lies on a disk that does not answer. It was given up,
    /// and nothing of it runs.
    NotStarted,
    /// The run was cancelled.
    Cancelled,
    /// The child wrote more to stdout than [`CaptureLimits::stdout_keep`](crate::CaptureLimits::stdout_keep).
    OutputLimit,
    /// The child is gone and its status is lost, because the host ignores SIGCHLD or reaps every child.
    StatusUnknown,
}

/// Why a start was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartEnd {
    /// The deadline passed before the program ran.
    NotInTime,
    /// The start was cancelled.
    Cancelled,
}

impl From<StartEnd> for ChildEnd {
    fn from(end: StartEnd) -> Self {
        match end {
            StartEnd::NotInTime => Self::NotStarted,
            StartEnd::Cancelled => Self::Cancelled,
        }
    }
}

/// How the direct child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChildExit {
    /// It exited with this code.
    Code(i32),
    /// It was killed by this signal.
    Signal(i32),
    /// It is gone and its status is lost, because the host ignores SIGCHLD or reaps every child.
    Unknown,
}

impl From<ChildExit> for ChildEnd {
    fn from(exit: ChildExit) -> Self {
        match exit {
            ChildExit::Code(code) => Self::Exited(code),
            ChildExit::Signal(signal) => Self::Signalled(signal),
            ChildExit::Unknown => Self::StatusUnknown,
        }
    }
}

/// The processes a child left running when it exited by itself.
///
/// They are not ended. They are searched if a process still held a pipe after
/// the exit, or if the child's process group was not empty; a daemon that has
/// left the group *and* closed the pipes is not noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Survivors {
    /// There was no sign of any.
    NoneSeen,
    /// This number was found in the child's group or session, or with its marker.
    Seen(u32),
    /// There was a sign of survivors, but they could not be counted.
    Unknown,
    /// The run has a termination, which ends them all.
    LeftToTermination,
}

/// What a [`Termination`](crate::Termination) did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminationReport {
    /// How the direct child ended, or `None` if even SIGKILL did not end it in time.
    pub exit: Option<ChildExit>,
    /// What it took to end the child's group.
    pub force: TerminationForce,
    /// The number of processes that were killed one by one because they had left the group.
    pub escaped: u32,
    /// The number of processes that were still there when the termination gave up: zero unless they cannot be killed, for
    /// example while they wait for a broken disk.
    pub left: u32,
}

/// What it took to end a process group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminationForce {
    /// The group ended within the grace after SIGTERM, or by itself.
    Asked,
    /// The grace was zero or ran out, and SIGKILL did it.
    Killed,
}

/// The children of programs that are gone, which were found and ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OrphanCleanup {
    /// The number of records that such programs left.
    pub records: u32,
    /// The number of processes that were ended.
    pub ended: u32,
}

/// An output that was not complete when the wait for it was over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldOutput {
    /// How long it was awaited after the exit.
    pub waited: Duration,
    /// The processes that hold it, as far as they can be found.
    pub holders: Vec<OutputHolder>,
}

/// A process that holds the output of a child that has exited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputHolder {
    /// Its process id.
    pub pid: u32,
    /// The name of its program.
    pub name: String,
}
