//! Memory that the host holds for a module, outside the module's own heap.
//!
//! The JavaScript engine counts what the heap holds. This counts the rest: timers, rejected promises, requests to the
//! host and their answers. A module that exceeds it has exceeded its memory limit, as one whose heap is full.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The memory that the host holds for one runtime. Clones share one count.
#[derive(Clone, Debug)]
pub(crate) struct HostMemory {
    used: Arc<AtomicUsize>,
    /// The most bytes that a single value may take.
    pub(crate) most: usize,
}

/// Memory that was reserved from an account. Dropping this gives it back.
#[derive(Debug)]
pub(crate) struct MemoryHold {
    used: Arc<AtomicUsize>,
    bytes: usize,
}

impl HostMemory {
    pub(crate) fn new(most: usize) -> Self {
        Self { used: Arc::default(), most }
    }

    /// Reserves this many bytes, or returns `None` if fewer are left.
    pub(crate) fn reserve(&self, bytes: usize) -> Option<MemoryHold> {
        let taken = |used: usize| used.checked_add(bytes).filter(|used| *used <= self.most);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).ok()?;
        Some(MemoryHold { used: Arc::clone(&self.used), bytes })
    }
}

impl Drop for MemoryHold {
    fn drop(&mut self) {
        self.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_can_be_taken_again() {
        let account = HostMemory::new(10);
        let half = account.reserve(5);
        assert!(half.is_some() && account.reserve(6).is_none() && account.reserve(usize::MAX).is_none());
        drop(half);
        assert!(account.reserve(10).is_some());
    }
}
