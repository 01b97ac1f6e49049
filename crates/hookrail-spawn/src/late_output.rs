//! Output that other processes hold after the exit of the child.
//!
//! What the child itself wrote is in the pipes when it has exited. A filter that it started (`exec > >(jq -c .)`) may still
//! have all of it, and a daemon may hold the pipes for ever. Only the caller knows which bytes are a complete output, so it
//! gives a rule.

use std::time::Duration;

use crate::capture::CapturedStream;
use crate::end::ChildExit;

/// The rule for output that another process holds after the exit of the child.
pub trait LateOutput: Sync {
    /// Returns how long to wait for output after this exit, and on which streams.
    fn wait_after(&self, exit: ChildExit) -> LateWait;

    /// Whether what was read needs nothing more. It is asked when the awaited streams were silent for
    /// [`CaptureLimits::drain_grace`](crate::CaptureLimits::drain_grace), and when the longest wait is over.
    fn is_complete(&self, exit: ChildExit, output: OutputSoFar<'_>) -> bool;
}

/// How long late output is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LateWait {
    /// The longest wait, from the exit on. The deadline of the run ends it too.
    pub longest: Duration,
    /// The streams of which new bytes begin the silence anew.
    pub streams: AwaitedStreams,
}

/// The streams on which output is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwaitedStreams {
    /// Only stdout.
    Stdout,
    /// Stdout and stderr.
    Both,
}

/// What was read of both streams.
#[derive(Clone, Copy, Debug)]
pub struct OutputSoFar<'o> {
    /// The bytes of stdout.
    pub stdout: &'o CapturedStream,
    /// Whether a process can still write to stdout.
    pub stdout_state: StreamState,
    /// The bytes of stderr.
    pub stderr: &'o CapturedStream,
}

/// Whether a stream can have more bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamState {
    /// Every process has closed it, and it was read to its end.
    Ended,
    /// A process holds it.
    Held,
}
