//! The limits on what one module may use, and why it had to be stopped.

use std::time::Duration;

/// The limits on what one module may use. A module that exceeds one fails alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuntimeLimits {
    /// Bytes of memory. The limit holds for the module's heap and, separately, for what the host holds for it outside
    /// the heap. Default 64 MiB.
    pub memory: usize,
    /// Bytes of source text, all files together. Default 8 MiB.
    pub source: usize,
    /// Bytes of stack. Default 768 KiB, at least 64 KiB and at most 16 MiB.
    pub stack: usize,
    /// Characters of a result as JSON, and bytes of the messages and entries of one call. Default 8 MiB, as much as a
    /// command may print.
    pub result: usize,
    /// How many processes it may have at a time; others wait until one has ended. A network request takes two places.
    /// Default 8, at least 2.
    pub processes: usize,
    /// How long it may work without returning to the event loop. Default 1 s.
    pub cpu: Duration,
    /// How long the host's functions, and processes that it waits for synchronously, may take in one turn. Default 60
    /// s.
    pub host: Duration,
    /// How long the wall clock of a call may be paused while dialogs are open. Default 1 h.
    pub dialogs: Duration,
    /// How long an inspection of the module may take to load it. Default 10 s.
    pub load: Duration,
}

/// Why a module had to be stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// It worked too long without returning to the event loop, or its instance was retired.
    Work,
    /// The time of its call was used up. This was its length.
    Wall(Duration),
    /// Operations of the host took too long in one turn.
    Host,
    /// It exceeded its memory limit.
    Memory,
    /// It has more source text than is allowed.
    Source,
    /// A function of the host panicked.
    Panic,
}

impl Default for RuntimeLimits {
    fn default() -> Self {
        Self {
            memory: 64 << 20,
            source: 8 << 20,
            stack: 768 << 10,
            result: 8 << 20,
            processes: 8,
            cpu: Duration::from_secs(1),
            host: Duration::from_secs(60),
            dialogs: Duration::from_secs(60 * 60),
            load: Duration::from_secs(10),
        }
    }
}

/// The stack of a module's thread beyond the module's own limit, for the host's functions that are called on top of it.
const HOST_STACK: usize = 3328 << 10;

/// The smallest stack limit: with less, the prelude itself does not run.
const LEAST_STACK: usize = 64 << 10;

/// The largest stack limit: the JavaScript engine takes a larger one for no limit at all.
const MOST_STACK: usize = 16 << 20;

impl RuntimeLimits {
    /// The module's stack limit, within the bounds above, so that it is never unlimited.
    pub(crate) fn own_stack(&self) -> usize {
        self.stack.clamp(LEAST_STACK, MOST_STACK)
    }

    /// The limits that a message names.
    pub(crate) fn of_memory(&self) -> String {
        format!("memory limit of {} MiB", self.memory >> 20)
    }

    pub(crate) fn of_source(&self) -> String {
        format!("source limit of {} MiB", self.source >> 20)
    }

    pub(crate) fn of_stack(&self) -> String {
        format!("stack limit of {} KiB", self.own_stack() >> 10)
    }

    /// Why loading was stopped, as a sentence.
    pub(crate) fn why_stopped(&self, stop: StopReason) -> String {
        match stop {
            StopReason::Work => {
                format!("it worked for {} s without returning to the event loop", self.cpu.as_secs_f64())
            }
            StopReason::Host => format!("it stood still for {} s", self.host.as_secs_f64()),
            StopReason::Wall(length) => format!("it took longer than {} s", length.as_secs_f64()),
            StopReason::Memory => format!("it went over its {}", self.of_memory()),
            StopReason::Source => format!("it went over its {}", self.of_source()),
            StopReason::Panic => "a function of the host panicked".to_owned(),
        }
    }

    /// The stack of a module's thread.
    pub(crate) fn thread_stack(&self) -> usize {
        self.own_stack() + HOST_STACK
    }
}
