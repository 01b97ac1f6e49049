//! The bounded queue between the threads that fire events and the thread that exports.
//!
//! Adding takes a short lock and wakes no thread unless half of the room is used, so that an event never waits for an export.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use hookrail::lock_mutex;

use crate::item::Item;
use crate::report::TelemetryEnd;

pub(crate) struct Queue {
    state: Mutex<QueueState>,
    changed: Condvar,
    capacity: usize,
}

pub(crate) struct QueueState {
    items: VecDeque<Item>,
    phase: QueuePhase,
}

#[derive(Clone, Debug)]
enum QueuePhase {
    Open,
    /// Everything has to be exported by then.
    Ending(Instant),
    Ended(TelemetryEnd),
}

/// Why an item was not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PushRefusal {
    Full,
    Ended,
}

/// Why the exporting thread goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// The time has come, or the queue is half full.
    Export,
    /// Everything has to be exported by then.
    End(Instant),
}

/// What ends the exporting thread's wait before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitFor {
    /// The end, or a queue that is half full.
    RoomOrEnd,
    /// The end alone: the collector cannot be reached at the moment.
    End,
}

impl Queue {
    pub(crate) fn new(capacity: usize) -> Self {
        let state = QueueState { items: VecDeque::new(), phase: QueuePhase::Open };
        Self { state: Mutex::new(state), changed: Condvar::new(), capacity }
    }

    /// Returns the number of items at which the exporting thread is woken.
    fn wake_at(&self) -> usize {
        self.capacity.div_ceil(2)
    }

    /// Adds an item unless there is no room. The new length is compared for equality, so that a thread is woken once and
    /// not by every further event.
    pub(crate) fn push(&self, item: Item) -> Result<(), PushRefusal> {
        let mut state = lock_mutex(&self.state);
        match state.phase {
            QueuePhase::Open => {}
            QueuePhase::Ending(_) | QueuePhase::Ended(_) => return Err(PushRefusal::Ended),
        }
        if state.items.len() >= self.capacity {
            return Err(PushRefusal::Full);
        }
        state.items.push_back(item);
        if state.items.len() == self.wake_at() {
            self.changed.notify_all();
        }
        Ok(())
    }

    /// Takes the oldest items, at most that many.
    pub(crate) fn take(&self, most: usize) -> Vec<Item> {
        let mut state = lock_mutex(&self.state);
        let count = state.items.len().min(most);
        state.items.drain(..count).collect()
    }

    /// Waits until it is time to export.
    pub(crate) fn wait(&self, until: Instant, wait_for: WaitFor) -> Wake {
        let mut state = lock_mutex(&self.state);
        loop {
            match state.phase {
                QueuePhase::Open => {}
                QueuePhase::Ending(deadline) => return Wake::End(deadline),
                QueuePhase::Ended(_) => return Wake::End(Instant::now()),
            }
            let is_crowded = wait_for == WaitFor::RoomOrEnd && state.items.len() >= self.wake_at();
            let left = until.saturating_duration_since(Instant::now());
            if is_crowded || left.is_zero() {
                return Wake::Export;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Asks the exporting thread to end, and waits until then for it. Returns how it ended; nothing if it has not.
    pub(crate) fn end_by(&self, deadline: Instant) -> Option<TelemetryEnd> {
        let mut state = self.ask_to_end(deadline);
        loop {
            if let QueuePhase::Ended(end) = &state.phase {
                return Some(end.clone());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Asks the exporting thread to end, and does not wait.
    pub(crate) fn ask_to_end(&self, deadline: Instant) -> MutexGuard<'_, QueueState> {
        let mut state = lock_mutex(&self.state);
        if matches!(state.phase, QueuePhase::Open) {
            state.phase = QueuePhase::Ending(deadline);
            self.changed.notify_all();
        }
        state
    }

    /// Returns whether the end was asked for.
    pub(crate) fn is_ending(&self) -> bool {
        !matches!(lock_mutex(&self.state).phase, QueuePhase::Open)
    }

    /// Says how the exporting thread ended.
    pub(crate) fn ended(&self, end: TelemetryEnd) {
        lock_mutex(&self.state).phase = QueuePhase::Ended(end);
        self.changed.notify_all();
    }

    /// Returns how many spans and log records the waiting items become.
    pub(crate) fn waiting(&self) -> u64 {
        lock_mutex(&self.state).items.iter().map(Item::records).sum()
    }
}
