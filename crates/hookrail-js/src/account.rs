//! Memory that the host holds for a module, outside the module's own heap.
//!
//! What the heap holds is counted by the engine. This counts the rest: timers, rejections, what is on its way to the host and
//! back. A module that goes over it has gone over its memory, like one whose heap is full.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What is held for one runtime. Clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    used: Arc<AtomicUsize>,
    /// How much one thing may take at most.
    pub(crate) most: usize,
}

/// A part of an account, which is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    used: Arc<AtomicUsize>,
    bytes: usize,
}

impl Account {
    pub(crate) fn new(most: usize) -> Self {
        Self { used: Arc::default(), most }
    }

    /// Takes so many bytes; none when there are not so many left.
    pub(crate) fn take(&self, bytes: usize) -> Option<Held> {
        let taken = |used: usize| used.checked_add(bytes).filter(|used| *used <= self.most);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).ok()?;
        Some(Held { used: Arc::clone(&self.used), bytes })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_can_be_taken_again() {
        let account = Account::new(10);
        let half = account.take(5);
        assert!(half.is_some() && account.take(6).is_none() && account.take(usize::MAX).is_none());
        drop(half);
        assert!(account.take(10).is_some());
    }
}
