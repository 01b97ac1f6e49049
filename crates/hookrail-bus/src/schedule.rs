//! The order of requests: a limited number runs at once, and sessions take turns.
//!
//! A released slot goes to the session that has waited longest for a turn, so a session with many requests does not delay
//! the others. The schedule does not know what is run.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use hookrail::lock_mutex;
use tokio::sync::oneshot;

/// Assigns slots to requests, session by session.
#[derive(Debug)]
pub(crate) struct Schedule {
    limit: usize,
    state: Mutex<ScheduleState>,
}

#[derive(Debug, Default)]
struct ScheduleState {
    running: usize,
    /// The waiting requests by session. No queue is empty.
    waiting: HashMap<Arc<str>, VecDeque<oneshot::Sender<RunSlot>>>,
    /// The sessions that wait, in the order of their turns.
    turns: VecDeque<Arc<str>>,
}

/// The right to run one request. Dropping it gives it to the next request; an empty one (`None`) gives nothing on.
#[derive(Debug)]
pub(crate) struct RunSlot(Option<Arc<Schedule>>);

impl Schedule {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit: limit.max(1), state: Mutex::default() })
    }

    /// Waits for a slot. Dropping the future removes the request from the queue.
    pub(crate) async fn acquire_slot(self: &Arc<Self>, session: &Arc<str>) -> RunSlot {
        let turn = {
            let mut state = self.lock();
            if state.running < self.limit && state.turns.is_empty() {
                state.running += 1;
                return RunSlot(Some(Arc::clone(self)));
            }
            let (sender, turn) = oneshot::channel();
            let queue = state.waiting.entry(Arc::clone(session)).or_default();
            queue.push_back(sender);
            // A session is listed once, however many of its requests wait.
            if queue.len() == 1 {
                state.turns.push_back(Arc::clone(session));
            }
            turn
        };
        let mut waiting = WaitingRequest { schedule: self, session, turn, has_slot: false };
        let slot = (&mut waiting.turn).await;
        waiting.has_slot = true;
        match slot {
            Ok(slot) => slot,
            // Not reached: the schedule drops a sender only after it was used or its receiver was closed. If it were
            // reached, running the request without a slot is better than waiting forever.
            Err(_) => RunSlot(None),
        }
    }

    fn lock(&self) -> MutexGuard<'_, ScheduleState> {
        lock_mutex(&self.state)
    }

    /// Gives a released slot to the next request.
    fn pass_slot_on(self: &Arc<Self>) {
        let mut state = self.lock();
        while let Some(session) = state.turns.pop_front() {
            let Some(queue) = state.waiting.get_mut(&session) else { continue };
            let next = queue.pop_front();
            if queue.is_empty() {
                state.waiting.remove(&session);
            } else {
                state.turns.push_back(session);
            }
            let Some(next) = next else { continue };
            match next.send(RunSlot(Some(Arc::clone(self)))) {
                Ok(()) => return,
                // The waiting request is gone. Dropping the slot would take the lock again, so it is emptied first.
                Err(mut slot) => slot.0 = None,
            }
        }
        state.running = state.running.saturating_sub(1);
    }

    /// Returns how many requests run and how many wait.
    #[cfg(test)]
    fn counts(&self) -> (usize, usize) {
        let state = self.lock();
        (state.running, state.waiting.values().map(VecDeque::len).sum())
    }
}

impl Drop for RunSlot {
    fn drop(&mut self) {
        if let Some(schedule) = self.0.take() {
            schedule.pass_slot_on();
        }
    }
}

/// A waiting request. If it is dropped, it is removed from the queue at once.
struct WaitingRequest<'a> {
    schedule: &'a Schedule,
    session: &'a Arc<str>,
    turn: oneshot::Receiver<RunSlot>,
    /// Whether the wait is over, so that there is nothing to remove.
    has_slot: bool,
}

impl Drop for WaitingRequest<'_> {
    fn drop(&mut self) {
        if self.has_slot {
            return;
        }
        self.turn.close();
        // A slot may have arrived that was never polled for. Dropping it takes the lock to pass it on, so it is dropped
        // last, after `state`.
        let _unused_slot = self.turn.try_recv();
        let mut state = self.schedule.lock();
        if let Some(queue) = state.waiting.get_mut(self.session) {
            queue.retain(|sender| !sender.is_closed());
            if queue.is_empty() {
                state.waiting.remove(self.session);
                state.turns.retain(|session| session != self.session);
            }
        }
        drop(state);
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn sessions_take_turns() {
        let schedule = Schedule::new(1);
        let (loud, quiet): (Arc<str>, Arc<str>) = ("loud".into(), "quiet".into());
        let mut first = pin!(schedule.acquire_slot(&loud));
        let Poll::Ready(first) = poll(first.as_mut()) else { panic!("there is a slot") };
        let mut second = pin!(schedule.acquire_slot(&loud));
        let mut third = pin!(schedule.acquire_slot(&loud));
        let mut other = pin!(schedule.acquire_slot(&quiet));
        assert!(poll(second.as_mut()).is_pending() && poll(third.as_mut()).is_pending());
        assert!(poll(other.as_mut()).is_pending());
        assert_eq!(schedule.counts(), (1, 3));
        drop(first);
        let Poll::Ready(second) = poll(second.as_mut()) else { panic!("its turn") };
        assert!(poll(third.as_mut()).is_pending() && poll(other.as_mut()).is_pending());
        drop(second);
        assert!(poll(third.as_mut()).is_pending(), "the quiet session comes first");
        let Poll::Ready(other) = poll(other.as_mut()) else { panic!("its turn") };
        drop(other);
        assert!(poll(third.as_mut()).is_ready());
    }

    #[test]
    fn requests_that_give_up_are_removed() {
        let schedule = Schedule::new(1);
        let session: Arc<str> = "s".into();
        let mut first = Box::pin(schedule.acquire_slot(&session));
        let Poll::Ready(slot) = poll(first.as_mut()) else { panic!("there is a slot") };
        for _ in 0..100 {
            let mut waiting = Box::pin(schedule.acquire_slot(&session));
            assert!(poll(waiting.as_mut()).is_pending());
        }
        assert_eq!(schedule.counts(), (1, 0));
        let mut last = Box::pin(schedule.acquire_slot(&session));
        assert!(poll(last.as_mut()).is_pending());
        drop(slot);
        // The slot was assigned to a request that is never polled again; it is not lost.
        drop(last);
        assert_eq!(schedule.counts(), (0, 0));
    }
}
