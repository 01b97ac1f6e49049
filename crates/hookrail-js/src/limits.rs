//! What one module may use.

use std::time::Duration;

/// What one module may use. Whoever goes over a limit fails alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of memory. Default 64 MiB.
    pub memory: usize,
    /// Bytes of stack. Default 768 KiB.
    pub stack: usize,
    /// How long it may work without giving way. Default 1 s.
    pub cpu: Duration,
    /// How long loading may take while a module is only looked into. Default 10 s.
    pub load: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory: 64 << 20, stack: 768 << 10, cpu: Duration::from_secs(1), load: Duration::from_secs(10) }
    }
}

/// The stack of a module's thread: room for the module's own and for the host's functions on top of it.
pub(crate) const THREAD_STACK: usize = 4 << 20;
