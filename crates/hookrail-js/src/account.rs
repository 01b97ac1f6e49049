//! Memory that the host holds for a module, outside the module's own heap.
//!
//! What the heap holds is counted by the engine. This counts the rest: timers, rejections, what is on its way to the host and
//! back. A module that goes over it has gone over its memory, like one whose heap is full.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What is held for one runtime. Clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct HostMemory {
    used: Arc<AtomicUsize>,
    /// How much one thing may take at most.
    pub(crate) most: usize,
}

/// A part of an account, which is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct MemoryHold {
    used: Arc<AtomicUsize>,
    bytes: usize,
}

impl HostMemory {
    pub(crate) fn new(most: usize) -> Self {
        Self { used: Arc::default(), most }
    }

    /// Takes so many bytes; none when there are not so many left.
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
